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

from borneo_env.engine.batch import Batch, available_cores
from borneo_env.ruleset import Ruleset

SIZES = (1, 16, 256, 1024, 4096, 16384, 65536)
MIXING = 250  # random decisions in each game before the clock starts: more than a game has
REPEATS = 3  # the median of so many measurements counts
PEER_STRETCH = 200  # decisions of a peer between two looks at the clock
COMPILED, STEPPED, OBSERVED = "compiled loop", "sample and step", "step and observe"

Play = Callable[[float], int]  # plays for about so many seconds, returns the decisions made


@dataclass(frozen=True)
class Measurement:
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
    """The engine at every batch size on one thread and on all, then the peers that are installed."""
    found = []
    for threads in sorted({1, available_cores()}):
        for size in SIZES:
            found.append(Entrant("borneo", COMPILED, size, threads, _compiled_loop(ruleset, size, threads, seed)))
            found.append(Entrant("borneo", STEPPED, size, threads, _stepping(ruleset, size, threads, seed)))
            observing = _stepping(ruleset, size, threads, seed, observe=True)
            found.append(Entrant("borneo", OBSERVED, size, threads, observing))
    return found + list(_peers(seed))


def measure(entrant: Entrant, seconds: float) -> Measurement:
    """The median speed of an entrant over several stretches."""
    play = entrant.prepare()
    play(seconds / 10)
    rates = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        decisions = play(seconds / REPEATS)
        rates.append(decisions / (time.perf_counter() - began))
    return Measurement(entrant.who, entrant.how, entrant.games, entrant.threads, statistics.median(rates))


def _mixed_batch(ruleset: Ruleset, size: int, threads: int, seed: int) -> Batch:
    """A batch whose games have come to all sorts of positions."""
    batch = Batch(size, ruleset, seed=seed)
    batch.play_random(MIXING)
    batch.threads = threads
    return batch


def _compiled_loop(ruleset: Ruleset, size: int, threads: int, seed: int) -> Callable[[], Play]:
    def prepare() -> Play:
        batch = _mixed_batch(ruleset, size, threads, seed)
        steps = max(8, 65536 // size)
        return lambda seconds: _until(seconds, lambda: batch.play_random(steps))

    return prepare


def _stepping(ruleset: Ruleset, size: int, threads: int, seed: int, *, observe: bool = False) -> Callable[[], Play]:
    def prepare() -> Play:
        batch = _mixed_batch(ruleset, size, threads, seed)
        observation = batch.observe()

        def step() -> int:
            batch.step(batch.sample())
            if observe:
                batch.observe(out=observation)
            return size

        return lambda seconds: _until(seconds, step)

    return prepare


def _until(seconds: float, step: Callable[[], int]) -> int:
    end = time.perf_counter() + seconds
    decisions = step()
    while time.perf_counter() < end:
        decisions += step()
    return decisions


def _peers(seed: int) -> Iterator[Entrant]:
    if importlib.util.find_spec("pyspiel"):
        for game in ("hearts", "gin_rummy"):
            yield Entrant(f"OpenSpiel {game}", "C++ driven from Python", 1, 1, _open_spiel(game, seed))
    if importlib.util.find_spec("pygame"):
        yield Entrant("PettingZoo tictactoe_v3", "env()", 1, 1, _pettingzoo("tictactoe_v3", seed))
        if importlib.util.find_spec("rlcard"):
            game = "texas_holdem_no_limit_v6"
            yield Entrant(f"PettingZoo {game}", "env()", 1, 1, _pettingzoo(game, seed))


def _open_spiel(name: str, seed: int) -> Callable[[], Play]:
    def prepare() -> Play:
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

    return prepare


def _pettingzoo(name: str, seed: int) -> Callable[[], Play]:
    def prepare() -> Play:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of the peer's own modules
            env = importlib.import_module(f"pettingzoo.classic.{name}").env()
        env.reset(seed=seed)
        choices = random.Random(seed)

        def stretch() -> int:
            decisions = 0
            while decisions < PEER_STRETCH:
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.reset()
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(int(legal[int(choices.random() * len(legal))]))
                decisions += 1
            return decisions

        return lambda seconds: _until(seconds, stretch)

    return prepare
