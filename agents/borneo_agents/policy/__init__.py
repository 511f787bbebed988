"""Trained networks as agents: model files, inference without torch, and what is computed about options."""
