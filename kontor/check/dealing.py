"""Whether `resample` deals as chance does, among all games that look the same to a seat.

The right distribution is that of the deals alone: each complete game that fits the view counts as chance weighs it,
and what players choose says nothing, for nobody knows how they choose. Where a game is small and draws in phases of
chance only, its tree is walked and tells this exactly. Otherwise games are dealt anew, what the seat saw is played
again, and those that fit are kept: rejection.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.check.report import SKIPPED, Finding, Trial, counted
from kontor.check.statistics import ONCE_IN_A_MILLION, differ, unlikely
from kontor.compile import attributes
from kontor.engine.batch import Batch
from kontor.engine.games import redact, resample
from kontor.engine.records import copy_games
from kontor.fields import CHANCE, PUBLIC

MOST_NODES = 12_000
TESTED = 16  # views, for each of which games are resampled
VIEWS = 6  # the same, by rejection
DEALS, ENOUGH = 20_000, 200  # for rejection: what is dealt, and how many have to fit
DEEPEST = 6  # decisions that are played again
MOST_KINDS = 60  # of whole games that are counted one by one; of more, entry by entry

DEALING = "resampling deals as chance does"


class CannotWalk(ValueError):
    """A game whose tree is too large, or whose rules draw outside of phases of chance."""


def check_dealing(trial: Trial) -> Finding:
    general = ("rng", "number")
    hidden = [field for field in trial.game.all_fields if field.seen != PUBLIC and field.name not in general]
    if not hidden and "fill_secrets" not in trial.game.rules:
        return trial.found(DEALING, SKIPPED, "nothing is hidden: every field is PUBLIC")
    try:
        views = walk(trial)
    except CannotWalk as reason:
        return check_by_rejection(trial, str(reason))
    return check_by_tree(trial, views)


# ------------------------------------------------------------ exactly


Views = dict[tuple[int, bytes], dict[bytes, float]]


def walk(trial: Trial) -> Views:
    """By seat and view how likely chance makes each complete game that looks so."""
    game, box = trial.game, attributes(trial.game.box(trial.ruleset))[0]
    first = game.blank_record(trial.ruleset).copy()
    first["rng"] = rng_state = np.uint64(0x9E3779B97F4A7C15)  # of 0, `below` draws 0 and stays
    game.deal(box, attributes(first)[0])
    found: Views = defaultdict(lambda: defaultdict(float))
    waiting, nodes = [(first, 1.0)], 0
    while waiting:
        record, chance = waiting.pop()
        nodes += 1
        if (record["rng"] != rng_state).any():
            raise CannotWalk("its rules draw outside of phases of chance")
        if nodes > MOST_NODES:
            raise CannotWalk(f"it has more than {MOST_NODES:,} positions")
        options = np.zeros(game.most_options_of_all, np.int16)
        options = options[: game.legal(box, attributes(record)[0], options)]
        player = int(record["player"][0])
        if player >= 0:
            view = record.copy()
            game.blank_secrets(box, attributes(view)[0], player)
            found[player, view.tobytes()][_positions(record).tobytes()] += chance
        weights = [1.0] * len(options)
        if player == CHANCE:
            each = [int(game.weight(box, attributes(record)[0], int(option))) for option in options]
            weights = [weight / sum(each) for weight in each]
        for option, weight in zip(options, weights, strict=True):
            after = record.copy()
            game.apply(box, attributes(after)[0], int(option))
            waiting.append((after, chance * weight))
    return found


def check_by_tree(trial: Trial, views: Views) -> Finding:
    """Compare with the exact chances in some views."""
    open_views = [key for key, games in views.items() if len(games) > 1]
    if not open_views:
        return trial.found(DEALING, SKIPPED, "each view fits one game only: nothing is hidden from who decides")
    rng = trial.rng()
    chosen = [open_views[k] for k in rng.permutation(len(open_views))[:TESTED]]
    for seat, view in chosen:
        chances = views[seat, view]
        truth = np.frombuffer(next(iter(chances)), trial.game.record)
        drawn = Counter(_keys(resample(trial.ruleset, copy_games(truth, np.zeros(trial.drawn, np.intp)), seat, rng)))
        if strange := drawn.keys() - chances.keys():
            record = np.frombuffer(strange.pop(), trial.game.record)[0]
            return trial.failed(DEALING, f"resampling for seat {seat} makes a game that no deal leads to", record)
        counts = [drawn[key] for key in chances]
        total = sum(chances.values())
        if unlikely(counts, [chance / total for chance in chances.values()], ONCE_IN_A_MILLION / len(chosen)):
            told = _uneven(counts, list(chances.values()))
            return trial.failed(DEALING, f"resampling for seat {seat} is uneven: {told}", truth[0])
    return trial.passed(DEALING, f"exactly, in {len(chosen)} of {counted(len(open_views), 'view')}")


def _uneven(counts: list[int], chances: list[float]) -> str:
    expected = [sum(counts) * chance / sum(chances) for chance in chances]
    worst = max(range(len(counts)), key=lambda k: abs(counts[k] - expected[k]))
    return f"of {sum(counts):,} games one came {counts[worst]} times where {expected[worst]:.0f} are right"


def _keys(games: NDArray[np.void]) -> list[bytes]:
    return [game.tobytes() for game in _positions(games)]


def _positions(games: NDArray[np.void]) -> NDArray[np.void]:
    """Records without the streams and the number, which are no part of a position."""
    copies = copy_games(games)
    copies["rng"], copies["number"] = 0, 0
    return copies


# ------------------------------------------------------------ by rejection


def check_by_rejection(trial: Trial, reason: str) -> Finding:
    """Compare with games that are dealt anew until they fit."""
    rng, tested = trial.rng(), 0
    for number in range(VIEWS):
        seat = int(rng.integers(trial.ruleset.players))
        truth, fitting = fitting_games(trial, number, seat, int(rng.integers(0, DEEPEST + 1)), rng)
        if len(fitting) < ENOUGH:
            continue
        tested += 1
        made = resample(trial.ruleset, copy_games(truth, np.zeros(trial.drawn, np.intp)), seat, rng)
        if told := different(made, fitting, ONCE_IN_A_MILLION / VIEWS):
            sentence = f"resampling for seat {seat} is not as if dealt anew: {told}"
            return trial.failed(DEALING, sentence, truth[0])
    if not tested:
        sentence = f"{reason}, and too few of {DEALS:,} deals look like a given one to compare with"
        return trial.found(DEALING, SKIPPED, sentence)
    return trial.passed(DEALING, f"by rejection, in {counted(tested, 'view')}")


def fitting_games(
    trial: Trial, number: int, seat: int, decisions: int, rng: np.random.Generator
) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """A game after some decisions, and games dealt anew in which the seat saw the same."""
    truth = Batch(1, trial.ruleset, seed=trial.seed, first=number, finished="hold", skip_forced=False)
    deals = min(DEALS, 15 * trial.games)
    batch = Batch(deals, trial.ruleset, seed=trial.seed + 1, finished="hold", skip_forced=False)
    rows = _that_look_alike(trial, batch, np.arange(deals), truth, seat)
    for _ in range(decisions):
        if truth.player[0] < 0 or len(rows) < ENOUGH:
            break
        action = int(truth.sample()[0])
        actions = np.full(len(rows), action)
        if truth.player[0] != seat and not _is_seen(trial, truth, action, seat):
            possible = np.flatnonzero(batch.mask[rows].any(0))
            actions = rng.choice(possible, len(rows))
        legal = batch.mask[rows, actions] & (batch.player[rows] == truth.player[0])
        rows, actions = rows[legal], actions[legal]
        truth.step([action])
        batch.step(actions, rows)
        rows = _that_look_alike(trial, batch, rows, truth, seat)
    return copy_games(truth.games), copy_games(batch.games, rows)


def _that_look_alike(trial: Trial, batch: Batch, rows: NDArray[np.intp], truth: Batch, seat: int) -> NDArray[np.intp]:
    """The rows of a batch that look to a seat as a game does."""
    if not len(rows):
        return rows
    view = _positions(redact(trial.ruleset, truth.games, seat)).view(np.uint8)
    views = _positions(redact(trial.ruleset, copy_games(batch.games, rows), seat)).view(np.uint8)
    alike: NDArray[np.bool_] = (views.reshape(len(rows), -1) == view).all(1)
    return rows[alike]


def _is_seen(trial: Trial, truth: Batch, action: int, seat: int) -> bool:
    """Whether a seat sees which action another takes: no other one looks the same to it."""
    options = np.flatnonzero(truth.mask[0])
    after = [_view_after(trial, truth, int(option), seat) for option in options]
    return after.count(after[options.tolist().index(action)]) == 1


def _view_after(trial: Trial, truth: Batch, action: int, seat: int) -> bytes:
    other = truth.copy()
    other.step([action])
    return _positions(redact(trial.ruleset, other.games, seat)).tobytes()


def different(made: NDArray[np.void], fitting: NDArray[np.void], level: float) -> str:
    """In what two samples of games differ, in words; "" if they may be of one distribution."""
    rows = _tables(made, fitting)
    for name, one, two in (tables := list(rows)):
        if differ(one, two, level / len(tables)):
            return f"{name} is {one.tolist()} times each of its values, and {two.tolist()} times among deals that fit"
    return ""


def _tables(made: NDArray[np.void], fitting: NDArray[np.void]) -> Iterator[tuple[str, Any, Any]]:
    """Of each entry of the records, and of whole games where they are few, how often each value comes."""
    both = _positions(np.concatenate([made, fitting]))
    for name in both.dtype.names or ():
        columns = both[name].reshape(len(both), -1).T
        for k, column in enumerate(columns):
            values, which = np.unique(column, return_inverse=True)
            if len(values) > 1:
                label = f"{name}[{k}]" if len(columns) > 1 else name
                yield label, *_counts(which, len(made), len(values))
    kinds, which = np.unique(both.view(f"V{both.dtype.itemsize}"), return_inverse=True)
    if len(kinds) <= MOST_KINDS:
        yield "whole games", *_counts(which, len(made), len(kinds))


def _counts(which: NDArray[np.intp], made: int, kinds: int) -> tuple[Any, Any]:
    return np.bincount(which[:made], minlength=kinds), np.bincount(which[made:], minlength=kinds)
