"""Processes that play chunks, how they are watched, and what follows from the faults of agents."""
