"""Whether chance comes from the game's own streams alone, and each outcome as likely as its weight says."""

from __future__ import annotations

import dis
import random
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kontor.check import draw
from kontor.check.report import SKIPPED, Finding, Trial, counted, listed, reached_or_not, rule_name
from kontor.check.statistics import ONCE_IN_A_MILLION, unlikely
from kontor.compile import attributes
from kontor.compile.digest import UnknownConstant, reached_from
from kontor.engine.batch import Batch
from kontor.engine.records import copy_games
from kontor.fields import CHANCE
from kontor.templates.dice import CHOICES, LUCK

WALKED = 200  # games that are played draw by draw
MOST_DRAWS = 2_000  # positions of one game, which may not end
TESTED = 20  # positions whose draws are counted
ELSEWHERE = {"random", "secrets", "time", "os", "uuid", "datetime", "numpy.random"}  # modules that are never the same

SOURCES = "draws only through below"
DICE = "the dice of players are no chance"
WEIGHTS = "outcomes as likely as they say"
OUTCOMES = "every outcome is reached"


class Draw(NamedTuple):
    """A position in which chance decides."""

    record: NDArray[np.void]  # an array of one
    outcomes: NDArray[np.int16]
    weights: NDArray[np.int64]


def check_chance(trial: Trial) -> Iterator[Finding]:
    yield check_sources(trial)
    yield check_dice(trial)
    if not len(trial.game.outcome_table):
        reason = f"{trial.game.title} has no phase of chance"
        yield trial.found(WEIGHTS, SKIPPED, f"{reason}: how likely is what, only its rules know")
        return
    draws = draws_of(trial)
    yield _check_lists(trial, draws) or check_weights(trial, draws)
    table = trial.game.outcome_table
    reached = {int(outcome) for one in draws for outcome in one.outcomes}
    missing = [repr(table.texts(number)[0]) for number in range(len(table)) if number not in reached]
    yield reached_or_not(trial, OUTCOMES, missing, len(table))


@lru_cache(maxsize=32)
def draws_of(trial: Trial) -> list[Draw]:
    """Positions of random games in which chance decides, each once."""
    found: dict[bytes, Draw] = {}
    game, rng = trial.game, trial.rng()
    box = attributes(game.box(trial.ruleset))[0]
    if not len(game.outcome_table):
        return []
    for _ in range(min(WALKED, trial.games)):
        record = game.blank_record(trial.ruleset).copy()
        record["rng"] = rng.integers(1, 2**63, record["rng"].shape)
        g = attributes(record)[0]
        game.deal(box, g)
        for _ in range(MOST_DRAWS):
            options = np.zeros(game.most_options_of_all, np.int16)
            options = options[: game.legal(box, g, options)]
            if not len(options):
                break
            chosen = int(rng.choice(options))
            if record["player"][0] == CHANCE:
                weights = np.array([int(game.weight(box, g, int(option))) for option in options])
                position = record.copy()
                position["rng"] = 0
                found.setdefault(position.tobytes(), Draw(record.copy(), options, weights))
            game.apply(box, g, chosen)
    return list(found.values())


def _check_lists(trial: Trial, draws: list[Draw]) -> Finding | None:
    """Whether outcomes are listed as options are, each with a weight from 1."""
    for one in draws:
        outcomes, weights = one.outcomes.tolist(), one.weights.tolist()
        phase = trial.game.phases[int(one.record["phase"][0])]
        if any(after <= before for before, after in pairwise(outcomes)) or outcomes[-1] >= len(
            trial.game.outcome_table
        ):
            return trial.failed(
                WEIGHTS, f"{rule_name(phase, 'legal')} lists {outcomes}: ascending, distinct", one.record[0]
            )
        if min(weights) < 1:
            name = rule_name(phase, "weight")
            return trial.failed(WEIGHTS, f"{name} says {weights} of {outcomes}: a weight is at least 1", one.record[0])
    return None


def check_weights(trial: Trial, draws: list[Draw]) -> Finding:
    """Draw many times from some positions, and compare with the weights."""
    rng, box = trial.rng(), attributes(trial.game.box(trial.ruleset))
    chosen = rng.permutation(len(draws))[:TESTED]
    for k in chosen:
        one = draws[k]
        copies = copy_games(one.record, np.zeros(trial.drawn, np.intp))
        copies["rng"][:, LUCK] = rng.integers(1, 2**63, trial.drawn, np.uint64) | np.uint64(1)
        drawn = np.zeros(trial.drawn, np.int64)
        trial.game.of(draw).draw_many(box, attributes(copies), one.outcomes, len(one.outcomes), drawn)
        counts = (drawn[:, None] == one.outcomes).sum(0)
        if unlikely(counts, one.weights / one.weights.sum(), ONCE_IN_A_MILLION / len(chosen)):
            texts = [trial.game.outcome_table.texts(int(outcome))[0] for outcome in one.outcomes]
            told = listed(
                f"{text} {count} times with weight {weight}"
                for text, count, weight in zip(texts, counts, one.weights, strict=True)
            )
            return trial.failed(WEIGHTS, f"of {trial.drawn:,} draws {told}", one.record[0])
    return trial.passed(WEIGHTS, f"{counted(len(chosen), 'position')}, {trial.drawn:,} draws each")


def check_dice(trial: Trial) -> Finding:
    """Whether rules leave the stream of players who play at random alone: who draws from it is not in their hands."""
    sentence = "draws from CHOICES, the stream of players who play at random: rules draw from LUCK"
    first = trial.game.blank_record(trial.ruleset).copy()
    first["rng"] = trial.rng().integers(1, 2**63, first["rng"].shape)
    before = first["rng"][:, CHOICES].copy()
    trial.game.deal(attributes(trial.game.box(trial.ruleset))[0], attributes(first)[0])
    if (before != first["rng"][:, CHOICES]).any():
        return trial.failed(DICE, f"setup {sentence}", first[0])
    games = min(trial.games, 200)
    batch = Batch(games, trial.ruleset, seed=trial.seed, finished="hold", skip_forced=False)
    for decisions in range(MOST_DRAWS):
        if not (batch.player >= 0).any():
            break
        phases, actions = batch.phase.copy(), batch.sample()
        before = batch.games["rng"][:, CHOICES].copy()
        batch.step(actions)
        if (drawn := before != batch.games["rng"][:, CHOICES]).any():
            row = int(np.argmax(drawn))
            rule = rule_name(trial.game.phases[phases[row]], "apply")
            return trial.failed(DICE, f"{rule} {sentence}", batch.games[row], decisions + 1)
    return trial.passed(DICE, counted(games, "game"))


def check_sources(trial: Trial) -> Finding:
    """Whether a function of the rules names a generator, a clock or a variable of its module that it changes."""
    functions = rules_of(trial)
    for function in functions:
        for name in foreign_sources(function):
            place = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
            return trial.failed(SOURCES, f"{function.__name__} uses {name}, at {place}")
    return trial.passed(SOURCES, f"{counted(len(functions), 'function')} of the rules")


def rules_of(trial: Trial) -> list[FunctionType]:
    """The functions that an author wrote and that games reach, as plain Python."""
    found: dict[Any, FunctionType] = {}
    for value in trial.game.bind.names.values():
        if not hasattr(getattr(value, "py_func", value), "compiled_as"):
            continue
        try:
            for one in reached_from(value):
                plain = getattr(one, "py_func", one)
                if isinstance(plain, FunctionType) and not plain.__module__.startswith(("kontor.", "numba.")):
                    found.setdefault(plain.__code__, plain)
        except UnknownConstant:
            continue
    return list(found.values())


def foreign_sources(function: FunctionType) -> Iterator[str]:
    """What a function names that is not the same every time."""
    names = set(function.__code__.co_names)
    for name in sorted(names & function.__globals__.keys()):
        value = function.__globals__[name]
        if isinstance(value, ModuleType):
            inside = [value.__name__, *(f"{value.__name__}.{part}" for part in sorted(names))]
            yield from (one for one in inside if one in ELSEWHERE)
        elif isinstance(value, np.random.Generator | random.Random):
            yield f"the generator {name}"
        elif getattr(value, "__module__", None) in ELSEWHERE or isinstance(
            getattr(value, "__self__", None), random.Random | np.random.RandomState
        ):
            yield f"{name} of the module {getattr(value, '__module__', None) or 'random'}"
    for instruction in dis.get_instructions(function):
        if instruction.opname == "STORE_GLOBAL":
            yield f"the variable {instruction.argval}, which it changes"
