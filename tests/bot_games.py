"""Whole games of bots, decisions taken from them, and determinizations."""

from functools import cache

import numpy as np
import pytest
from borneo_agents.scripted.agents import Climber, Merchant

from borneo_env import Batch, Ruleset, every_ruleset
from borneo_env.agent import Random, ask
from borneo_env.engine.hiding import resample_game
from borneo_env.engine.state import THINGS, copy_games, make_box
from kontor.compile import attributes, entry
from kontor.templates.dice import scramble

QUICK = ("board-4", "board-3-four-traders-blackbeard", "card-3")
EVERY_RULESET = [
    *(pytest.param(r, id=r.name, marks=() if r.name in QUICK else pytest.mark.soak) for r in every_ruleset()),
    pytest.param(Ruleset(tables="tiny"), id="tiny"),
]


def play(agents, ruleset=None, games=8, seed=5, first=0, **settings):
    """A finished batch in which the agents sit in turn; an illegal move would raise."""
    batch = Batch(games, ruleset or Ruleset(), seed=seed, first=first, finished="hold", **settings)
    players = batch.ruleset.players
    seated = (np.arange(first, first + games)[:, None] + np.arange(players)) % len(agents)
    while len(rows := np.flatnonzero(batch.player >= 0)):
        batch.step(ask(batch, rows, agents, seated), rows)
    return batch


@cache
def decisions(ruleset):
    """Complete games at all sorts of decisions of the merchant, the climber and random players; views, masks, dice."""
    agents = [Merchant(), Random(), Climber()]
    batch = Batch(6, ruleset, seed=9, finished="hold")
    seated = np.arange(6)[:, None] + np.arange(ruleset.players)
    games, views, masks, dice = [], [], [], []
    while len(rows := np.flatnonzero(batch.player >= 0)):
        games.append(copy_games(batch.games, rows))
        for found, kept in zip(batch.view(rows), (views, masks, dice), strict=True):
            kept.append(found)
        batch.step(ask(batch, rows, agents, seated % 3), rows)
    return tuple(map(np.concatenate, (games, views, masks, dice)))


@entry
def determinize_games(boxes, games, seats, dice, number, unseen):
    for i in range(len(games)):
        resample_game(boxes[0], games[i], seats[i], scramble(dice[i], np.uint64(number)) | np.uint64(1), unseen)


def determinized(games, dice, number):
    """Complete games of which the deciding players cannot tell the given ones, with these dice."""
    twins = copy_games(games)
    boxes = attributes(make_box(Ruleset()))  # secrets are the same in all rulesets
    determinize_games(
        boxes, attributes(twins), twins["player"].astype(np.int64), dice, number, np.empty(THINGS, np.int8)
    )
    return twins
