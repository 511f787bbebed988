"""Trained networks as agents: model files, inference without torch, and a search."""
