"""Learning to play Borneo: `borneo train`, on stable-baselines3."""
