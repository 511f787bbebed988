"""Speed: decisions per second of the engine beside other game environments, in one run on one machine.

One decision is a full mask, a uniformly random legal choice and its application; dealing new games is included.
"""

from __future__ import annotations

import importlib.util
import random
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from borneo_env.aec import env, raw_env
from borneo_env.engine.batch import Batch
from borneo_env.ruleset import Ruleset
from borneo_env.vector import BorneoVectorEnv
from kontor.engine.threads import available_cores

SIZES = (1, 16, 256, 1024, 4096, 16384, 65536)
MIXING = 250  # random decisions in each game before the clock starts: more than a game has
REPEATS = 3  # the median of so many measurements counts
PEER_STRETCH = 200  # decisions of a peer between two looks at the clock
COMPILED, STEPPED, OBSERVED = "compiled loop", "sample and step", "step and observe"
VECTOR = "vector env"  # against random opponents; a decision is one of the learner's
VECTOR_SIZES = (256, 4096)
ENV, RAW_ENV = "env()", "raw_env()"

Play = Callable[[float], int]  # plays for about so many seconds, returns the decisions made


@dataclass(frozen=True)
class Speed:
    who: str
    how: str
    games: int
    threads: int
    per_second: float


@dataclass(frozen=True)
class Entrant:
    """Something to measure, made ready only when its turn comes."""

    who: str
    how: str
    games: int
    threads: int
    prepare: Callable[[], Play]


def entrants(ruleset: Ruleset, seed: int) -> list[Entrant]:
    """The engine and the environments on one thread and on all, then the peers that are installed."""
    found = []
    for threads in sorted({1, available_cores()}):
        for size in SIZES:
            given = ruleset, size, threads, seed
            found.append(Entrant("borneo", COMPILED, size, threads, partial(_compiled_loop, *given)))
            found.append(Entrant("borneo", STEPPED, size, threads, partial(_stepping, *given)))
            found.append(Entrant("borneo", OBSERVED, size, threads, partial(_stepping, *given, observe=True)))
        for size in VECTOR_SIZES:
            found.append(Entrant("borneo", VECTOR, size, threads, partial(_vector, ruleset, size, threads, seed)))
    found.append(Entrant("borneo", ENV, 1, 1, partial(_aec, partial(env, ruleset), seed)))
    found.append(Entrant("borneo", RAW_ENV, 1, 1, partial(_aec, partial(raw_env, ruleset), seed)))
    return found + list(_peers(seed))


def measure(entrant: Entrant, seconds: float) -> Speed:
    """The median speed of an entrant over several stretches."""
    play = entrant.prepare()
    play(seconds / 10)
    rates = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        decisions = play(seconds / REPEATS)
        rates.append(decisions / (time.perf_counter() - began))
    return Speed(entrant.who, entrant.how, entrant.games, entrant.threads, statistics.median(rates))


def _mixed_batch(ruleset: Ruleset, size: int, threads: int, seed: int) -> Batch:
    """A batch whose games have come to all sorts of positions."""
    batch = Batch(size, ruleset, seed=seed)
    batch.play_random(MIXING)
    batch.threads = threads
    return batch


def _compiled_loop(ruleset: Ruleset, size: int, threads: int, seed: int) -> Play:
    batch = _mixed_batch(ruleset, size, threads, seed)
    steps = max(8, 65536 // size)
    return lambda seconds: _until(seconds, lambda: batch.play_random(steps))


def _stepping(ruleset: Ruleset, size: int, threads: int, seed: int, *, observe: bool = False) -> Play:
    batch = _mixed_batch(ruleset, size, threads, seed)
    observation = batch.observe()

    def step() -> int:
        batch.step(batch.sample())
        if observe:
            batch.observe(out=observation)
        return size

    return lambda seconds: _until(seconds, step)


def _vector(ruleset: Ruleset, size: int, threads: int, seed: int) -> Play:
    games = BorneoVectorEnv(size, ruleset, threads=threads)
    games.reset(seed=seed)

    def step() -> int:
        games.step(games.seats.batch.sample())
        return size

    for _ in range(MIXING // ruleset.players):
        step()
    return lambda seconds: _until(seconds, step)


def _until(seconds: float, step: Callable[[], int]) -> int:
    end = time.perf_counter() + seconds
    decisions = step()
    while time.perf_counter() < end:
        decisions += step()
    return decisions


def _peers(seed: int) -> Iterator[Entrant]:
    if importlib.util.find_spec("pyspiel"):
        for game in ("hearts", "gin_rummy"):
            yield Entrant(f"OpenSpiel {game}", "C++ driven from Python", 1, 1, partial(_open_spiel, game, seed))
    if importlib.util.find_spec("pygame"):
        yield _pettingzoo("tictactoe_v3", ENV, seed)
        yield _pettingzoo("tictactoe_v3", RAW_ENV, seed)
        if importlib.util.find_spec("rlcard"):
            yield _pettingzoo("texas_holdem_no_limit_v6", ENV, seed)


def _open_spiel(name: str, seed: int) -> Play:
    import pyspiel

    game = pyspiel.load_game(name)
    choices = random.Random(seed)
    state = game.new_initial_state()

    def stretch() -> int:
        nonlocal state
        decisions = 0
        while decisions < PEER_STRETCH:
            if state.is_terminal():
                state = game.new_initial_state()
            decisions += not state.is_chance_node()
            actions = state.legal_actions()
            state.apply_action(actions[int(choices.random() * len(actions))])
        return decisions

    return lambda seconds: _until(seconds, stretch)


def _pettingzoo(name: str, how: str, seed: int) -> Entrant:
    def make() -> Any:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of the peer's own modules
            module = importlib.import_module(f"pettingzoo.classic.{name}")
        return module.env() if how == ENV else module.raw_env()

    return Entrant(f"PettingZoo {name}", how, 1, 1, partial(_aec, make, seed))


def _aec(make: Callable[[], Any], seed: int) -> Play:
    """The same loop for every PettingZoo environment, ours too."""
    game = make()
    game.reset(seed=seed)
    choices = random.Random(seed)

    def stretch() -> int:
        decisions = 0
        while decisions < PEER_STRETCH:
            observation, _, terminated, truncated, _ = game.last()
            if terminated or truncated:
                game.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            game.step(int(legal[int(choices.random() * len(legal))]))
            decisions += 1
        return decisions

    return lambda seconds: _until(seconds, stretch)
