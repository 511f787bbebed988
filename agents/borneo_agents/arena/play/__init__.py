"""Chunks of games, played side by side by agents that are asked whatever they do."""
