"""The games a learner plays, and who else plays there."""
