"""Games for testing the arena: small agents that play them, and made-up results of agents with known strengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from borneo_agents.arena import play_arena
from borneo_agents.statistics.results import FinishedGames, finished_games

from borneo_env.ruleset import Ruleset

TINY = Ruleset(players=3, tables="tiny")

# Bots for the worker processes, which find them in the current folder.
BOTS = '''
import os
import time

from borneo_env.engine.state import PLACE


class First:
    """Plays the first legal action."""

    def act(self, views):
        return views.mask.argmax(1)


class Last:
    """Plays the last legal action."""

    def act(self, views):
        return views.mask.shape[1] - 1 - views.mask[:, ::-1].argmax(1)


class Rarely:
    """Does something it should not at about one decision in `one_in`, and never at the first, which warms it up."""

    def __init__(self, deed, one_in=40):
        self.deed = deed
        self.one_in = one_in

    def now(self, views):
        return (views.dice % self.one_in == 0) & (views.games["phase"] != PLACE)

    def act(self, views):
        actions = views.mask.argmax(1)
        now = self.now(views)
        if now.any() and self.deed == "crash":
            raise RuntimeError("lost the thread")
        if now.any() and self.deed == "leave":
            raise SystemExit(3)
        if now.any() and self.deed == "end":
            os._exit(3)
        while now.any() and self.deed == "hang":
            time.sleep(60)
        if self.deed == "cheat":
            actions[now] = 9999
        return actions
'''


class First:
    def act(self, views):
        return views.mask.argmax(1)


class Last:
    def act(self, views):
        return views.mask.shape[1] - 1 - views.mask[:, ::-1].argmax(1)


class Faulty:
    """Answers as it is told to, for views whose dice say so."""

    def __init__(self, answer, one_in=30):
        self.answer, self.one_in, self.calls = answer, one_in, []

    def act(self, views):
        self.calls.append(len(views))
        return self.answer(views, views.mask.argmax(1), views.dice % np.uint64(self.one_in) == 0)


def crash(views, actions, now):
    if now.any():
        raise ValueError("cannot\ndecide")
    return actions


class Raising:
    def __init__(self, error):
        self.error = error

    def act(self, views):
        raise self.error


def here(agents, games=24, seed=3, **more):
    """An arena of short games in this process, all of them at once."""
    return play_arena(agents, TINY, **{"games": games, "seed": seed, "chunk": games, "jobs": 0} | more)


def same_games(a, b):
    return a.outcomes.tobytes() == b.outcomes.tobytes() and a.faults == b.faults


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def made_up(rng, log_strengths, players, deals, luck=0.0):
    """Rankings by the Plackett-Luce model: each deal is played once in each rotation of a random line-up.

    `luck` makes the games of a deal dependent: the agent in the deal's first seat gets so much strength more, or less.
    """
    log_strengths = np.asarray(log_strengths, float)
    lineups = np.array([rng.permutation(len(log_strengths))[:players] for _ in range(deals)])
    seats = np.concatenate([np.roll(lineups, shift, 1) for shift in range(players)])
    gift = np.tile(rng.choice([-luck, luck], deals), players)
    worth = log_strengths[seats] + gift[:, None] * (seats == np.tile(lineups[:, 0], players)[:, None])
    drawn = worth + rng.gumbel(size=seats.shape)
    places = (-drawn).argsort(1).argsort(1) + 1
    names = [f"agent-{i}" for i in range(len(log_strengths))]
    mixed = rng.permutation(len(seats))  # games of a deal need not follow each other
    return finished_games(names, seats[mixed], places[mixed], drawn[mixed], np.tile(np.arange(deals), players)[mixed])


def by_hand(agents: str, *games: tuple[str, str, int]) -> FinishedGames:
    """Games as rows such as ("abc", "112", 7): the agents in their seats, their places, the deal."""
    return finished_games(
        list(agents),
        [[agents.index(letter) for letter in seats] for seats, _, _ in games],
        [[int(digit) for digit in places] for _, places, _ in games],
        [[10 * len(places) - int(digit) for digit in places] for _, places, _ in games],
        [deal for *_, deal in games],
    )
