"""Learning to play Borneo. Empty so far."""
