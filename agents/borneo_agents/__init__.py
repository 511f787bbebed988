"""Bots that play Borneo, and the arena in which they are compared. Empty so far."""
