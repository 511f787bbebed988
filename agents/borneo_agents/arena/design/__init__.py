"""The settings of an arena, and the tournament they make: who plays whom, in which seats, on which deals."""
