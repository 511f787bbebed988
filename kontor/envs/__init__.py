"""Environments of any game: PettingZoo's, and Gymnasium's of one seat, singly and by the thousand."""

from __future__ import annotations

from typing import Any

from kontor.engine.batch import game_of
from kontor.envs.aec import env
from kontor.game import Game


def make(game: Game | str, **settings: Any) -> env:
    """PettingZoo's environment of a game, itself or by its name; the ruleset's fields are among the settings."""
    played = game_of(game)
    kind = played.own_kind("env", env)
    made: env = kind(**settings) if kind.plays else kind(played, **settings)
    return made
