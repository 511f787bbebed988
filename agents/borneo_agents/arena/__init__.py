"""The arena: agents measured against each other, on the same deals and from all seats."""

from borneo_agents.arena.result import ArenaResult
from borneo_agents.arena.run import Progress, Stopped, play_arena

__all__ = ["ArenaResult", "Progress", "Stopped", "play_arena"]
