"""Kontor's loops, bound to Borneo."""

from borneo_env.engine.game import BORNEO
from kontor.templates import loops
from kontor.templates.loops import NO_ACTION, NUMBERS, RUN

__all__ = ["DESK", "NO_ACTION", "NUMBERS", "RESULT", "RUN", "observe_game", "play", "step_games"]

DESK = BORNEO.desk
RESULT = ("done", *BORNEO.result_names)
observe_game, step_games, play = (BORNEO.bind(getattr(loops, name)) for name in ("observe_game", "step_games", "play"))
