"""Chunks as tasks on the machines of a cluster of Ray, with the files of their agents."""
