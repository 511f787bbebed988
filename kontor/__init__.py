"""Kontor: board and card games as plain Python, by the thousand."""

from kontor.actions import Action, Move, action
from kontor.fields import CHANCE, HIDDEN, NOBODY, NONE, OVER, OWN, PUBLIC, SEAT, Axis, Field
from kontor.game import Bounds, Dealing, Game, Phase, Result, find_game
from kontor.ruleset import Option, Ruleset, RulesetError
from kontor.templates.dice import LUCK, below

__all__ = [
    "CHANCE",
    "HIDDEN",
    "LUCK",
    "NOBODY",
    "NONE",
    "OVER",
    "OWN",
    "PUBLIC",
    "SEAT",
    "Action",
    "Axis",
    "Bounds",
    "Dealing",
    "Field",
    "Game",
    "Move",
    "Option",
    "Phase",
    "Result",
    "Ruleset",
    "RulesetError",
    "action",
    "below",
    "find_game",
]
