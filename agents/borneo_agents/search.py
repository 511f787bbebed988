"""What the search bots share: imagined games, playouts by a scripted bot, and a judgement where they are cut off.

An imagined game is a complete one that the deciding player cannot tell from the real one. All players in it play like a
scripted bot until some turns have begun; then every player's chance to win is estimated.
"""

from __future__ import annotations

import time
from collections import namedtuple
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import CLIMBER, CONTRACTOR, MERCHANT, RANDOM, as_arrays
from borneo_agents.chances import FACTS, chances
from borneo_agents.room import make_room
from borneo_agents.scripted import choose
from borneo_env.agent import UnknownAgent, Views
from borneo_env.engine.dice import roll, scramble
from borneo_env.engine.game import MAX_OPTIONS, apply, legal
from borneo_env.engine.hidden import resample_game
from borneo_env.engine.jit import attributes, rule
from borneo_env.engine.state import GAME, OVER, SEATS, THINGS
from borneo_env.files import in_short

POLICIES = {"random": RANDOM, "contractor": CONTRACTOR, "climber": CLIMBER, "merchant": MERCHANT}
SLICE = 32  # playouts between two looks at the clock
MOST_PLAYOUTS, MOST_MILLISECONDS, MOST_TURNS = 1_000_000, 3_600_000, 1000  # no game has so many turns
IMAGINED, SEEN = range(2)  # the imagined game, and a second one to work with

# The room a search works in: imagined games (and the same as words), scratch paper of the scripted bots, options at
# hand and those compared, their total chances, one judgement, and the random stream that imagines games.
Study = namedtuple("Study", "games words rooms options tried totals facts chances unseen stream")

# How a search is made: the scripted bot that plays for all, and the turns that begin before a playout is cut off.
Playouts = namedtuple("Playouts", "policy turns")


def make_study() -> Study:
    games = np.zeros(2, GAME)
    return Study(
        games=attributes(games),
        words=games.view(np.uint64).reshape(2, -1),
        rooms=attributes(make_room()),
        options=np.zeros(MAX_OPTIONS, np.int64),
        tried=np.zeros(MAX_OPTIONS, np.int64),
        totals=np.zeros(MAX_OPTIONS),
        facts=np.zeros((SEATS, FACTS)),
        chances=np.zeros(SEATS),
        unseen=np.zeros(THINGS, np.int8),
        stream=np.zeros(1, np.uint64),
    )


@rule
def begin(study, dice):
    """Start the random stream of a search, and forget what the last one was about."""
    study.rooms[0].subject[:] = 0
    study.stream[0] = scramble(dice, np.uint64(0)) | np.uint64(1)


@rule
def imagine(study, view):
    """Imagine a complete game behind a view."""
    study.games[IMAGINED] = view
    study.stream[0] = resample_game(study.games[IMAGINED], int(view.player), study.stream[0], study.unseen)


@rule
def play(box, g, action):
    """Play an action; returns whether it ended a turn."""
    turn = g.turn
    apply(box, g, action)
    return g.turn != turn


@rule
def play_out(box, g, policy, turns, options, room):
    """Let the scripted bot play on for all until so many turns have begun or the game is over."""
    while turns > 0 and g.phase != OVER:
        count = legal(box, g, options)
        turns -= play(box, g, choose(policy, box, g, options, count, roll(g), room))


@rule
def expect(box, g, me, action, policy, turns, options, room, facts, odds):
    """Play an action, let the scripted bot play on, and return a player's mean chance at the starts of so many turns.

    One moment alone misleads: what looks good just then may be gone a turn later.
    """
    begun = 1 if play(box, g, action) else 0
    total = 0.0
    for turn in range(1, turns + 1):
        play_out(box, g, policy, turn - begun, options, room)
        begun = turn
        chances(box, g, facts, odds)
        total += odds[me]
    return total / turns


@rule
def judge_playout(box, study, policy, turns):
    """Play the imagined game on, and judge every player's chance."""
    g = study.games[IMAGINED]
    play_out(box, g, policy, turns, study.options, study.rooms[0])
    chances(box, g, study.facts, study.chances)


def is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


class Search:
    """A bot that tries its options in imagined games.

    It keeps nothing from one call to the next, so that several threads may ask the same one.

    Arguments:
        budget: playouts for each decision.
        milliseconds: time for each decision instead; such a bot is not repeatable.
        turns: how many turns begin before a playout is judged.
        policy: the scripted bot that plays for all in the playouts.
    """

    memoryless = True

    def __init__(self, budget: int, milliseconds: float | None, turns: int, policy: str) -> None:
        if type(budget) is not int or not 1 <= budget <= MOST_PLAYOUTS:
            raise UnknownAgent(f"a budget is a number of playouts from 1 to {MOST_PLAYOUTS}, not {in_short(budget)}")
        if milliseconds is not None and not (is_number(milliseconds) and 0 < milliseconds <= MOST_MILLISECONDS):
            raise UnknownAgent(
                f"milliseconds are a number above 0, up to {MOST_MILLISECONDS}, not {in_short(milliseconds)}"
            )
        if type(turns) is not int or not 0 <= turns <= MOST_TURNS:
            raise UnknownAgent(f"turns are a number from 0 to {MOST_TURNS}, not {in_short(turns)}")
        if policy not in tuple(POLICIES):
            raise UnknownAgent(f"there is no policy {in_short(policy)} for playouts; use one of {', '.join(POLICIES)}")
        self._budget = budget
        self._milliseconds = milliseconds
        self._playouts = Playouts(POLICIES[policy], turns)

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        box, games, dice = as_arrays(views)
        desk = self._make_desk()
        return np.array([self._decide(desk, box, games, i, dice[i]) for i in range(len(views))], np.int64)

    def _decide(self, desk: Any, box: Any, games: Any, i: int, dice: np.uint64) -> int:
        self._begin(desk, games, i, dice)
        if self._milliseconds is None:
            return self._search(desk, box, games, i, self._budget)
        end = time.perf_counter() + self._milliseconds / 1000
        action = self._search(desk, box, games, i, SLICE)
        while time.perf_counter() < end:
            action = self._search(desk, box, games, i, SLICE)
        return action

    def _make_desk(self) -> Any:
        """What the search works with."""
        raise NotImplementedError

    def _begin(self, desk: Any, games: Any, i: int, dice: np.uint64) -> None:
        """Forget the last decision."""
        raise NotImplementedError

    def _search(self, desk: Any, box: Any, games: Any, i: int, playouts: int) -> int:
        """Play more playouts of game i; returns the best action so far."""
        raise NotImplementedError
