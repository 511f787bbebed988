"""Kontor: board and card games as plain Python, by the thousand."""

import gymnasium

from kontor.actions import Action, Move, action
from kontor.agent import Agent, Random, Views
from kontor.bot import Bot
from kontor.engine.batch import Batch, IllegalMove
from kontor.engine.games import redact, resample
from kontor.envs import make
from kontor.envs.aec import env, raw_env
from kontor.envs.seat import SeatEnv
from kontor.envs.seats import Seats
from kontor.envs.vector import SeatVectorEnv
from kontor.fields import CHANCE, HIDDEN, NOBODY, NONE, OVER, OWN, PUBLIC, SEAT, SPECTATOR, Axis, Field
from kontor.game import Bounds, Dealing, Game, Phase, Result, find_game
from kontor.ruleset import Option, Ruleset, RulesetError
from kontor.templates.dice import LUCK, below
from kontor.templates.loops import NO_ACTION
from kontor.view import MoveOption, View

__all__ = [
    "CHANCE",
    "HIDDEN",
    "LUCK",
    "NOBODY",
    "NONE",
    "NO_ACTION",
    "OVER",
    "OWN",
    "PUBLIC",
    "SEAT",
    "SPECTATOR",
    "Action",
    "Agent",
    "Axis",
    "Batch",
    "Bot",
    "Bounds",
    "Dealing",
    "Field",
    "Game",
    "IllegalMove",
    "Move",
    "MoveOption",
    "Option",
    "Phase",
    "Random",
    "Result",
    "Ruleset",
    "RulesetError",
    "SeatEnv",
    "SeatVectorEnv",
    "Seats",
    "View",
    "Views",
    "action",
    "below",
    "env",
    "find_game",
    "make",
    "raw_env",
    "redact",
    "resample",
]

# gymnasium.make("kontor:Kontor-v0", game="kuhn")
gymnasium.register(
    id="Kontor-v0",
    entry_point="kontor.envs.seat:SeatEnv",
    vector_entry_point="kontor.envs.vector:SeatVectorEnv",
)
