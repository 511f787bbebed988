"""Batch: many games stepped together by compiled loops, on all cores. The only file that loops over games."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_env.cards import read_tables
from borneo_env.engine.actions import ActionTable, action_table
from borneo_env.engine.check import BrokenGame, check_games
from borneo_env.engine.dice import below
from borneo_env.engine.game import MAX_OPTIONS, apply, legal
from borneo_env.engine.jit import attributes, entry, rule
from borneo_env.engine.rules.ending import contracts_of, place_of, score
from borneo_env.engine.rules.setup import deal, new_game
from borneo_env.engine.state import CARDS, CHOICES, GAME, OVER, PHASES, SEATS, make_blank, make_box, slots_of
from borneo_env.ruleset import Ruleset

NO_ACTION = -1  # what a finished game that is held takes instead of an action
TO_THE_END = -1
LAST_NUMBER = 2**62  # games of a seed are numbered below it
GAMES_PER_THREAD = 256  # fewer games than this are not worth waking another thread for

# What the batch knows about each game beside its record: the decision being asked for, and the last result.
DESK = np.dtype(
    [
        ("options", "i2", (MAX_OPTIONS,)),  # the legal actions, ascending
        ("count", "i2"),  # how many there are; 0 for a finished game that is held
        ("done", "?"),  # the last step finished a game
        ("scores", "i4", (SEATS,)),  # of the game finished last
        ("places", "i1", (SEATS,)),
        ("contracts", "i1", (SEATS,)),
    ],
    align=True,
)

# How a batch is run.
RUN = np.dtype([("seed", "u8"), ("stride", "u8"), ("skip_forced", "?"), ("hold", "?")], align=True)


FORMAT = "borneo-batch/1"
RESULT = ("done", "scores", "places", "contracts")


class BatchFileError(ValueError):
    """A file that does not hold a saved batch of this version."""


class IllegalMove(ValueError):
    """An action that is not legal where it was played; nothing has changed in any game."""


@rule
def settle(box, blank, run, games, i, desk):
    """Bring game i to its next decision: play forced moves, note a result, deal the next game."""
    desk.count = legal(box, games[i], desk.options)
    while games[i].phase == OVER or (run.skip_forced and desk.count == 1):
        if games[i].phase != OVER:
            apply(box, games[i], desk.options[0])
        else:
            note_result(box, games[i], desk)
            if run.hold:
                return
            deal_game(box, blank, games, i, run.seed, np.uint64(games[i].number) + run.stride)
        desk.count = legal(box, games[i], desk.options)


@rule
def note_result(box, g, desk):
    desk.done = True
    for player in range(box.players):
        desk.scores[player] = score(box, g, player)
        desk.places[player] = place_of(box, g, player)
        desk.contracts[player] = contracts_of(g, player)


@rule
def deal_game(box, blank, games, i, seed, number):
    games[i] = blank[0]
    new_game(box, games[i], seed, number)


@rule
def mark(mask, desk, value):
    for k in range(desk.count):
        mask[desk.options[k]] = value


@rule
def play(box, blank, run, games, i, desk, mask, action):
    """Play a legal action in game i and bring it, its options and its mask to the next decision."""
    mark(mask, desk, False)
    apply(box, games[i], action)
    settle(box, blank, run, games, i, desk)
    mark(mask, desk, True)


@entry
def deal_games(boxes, blank, runs, games, chosen, numbers):
    """Deal a new game into every chosen place."""
    for i in range(len(games)):
        if chosen[i]:
            deal_game(boxes[0], blank, games, i, runs[0].seed, numbers[i])


@entry
def deal_stacked_games(boxes, games):
    """Deal from the piles as they lie."""
    for i in range(len(games)):
        deal(boxes[0], games[i])


@entry
def refresh_games(boxes, blank, runs, games, desks, masks):
    """Work out the options of every game anew from its record."""
    for i in range(len(games)):
        settle(boxes[0], blank, runs[0], games, i, desks[i])
        desks[i].done = False  # that a held game is over is no news
        masks[i, :] = False
        mark(masks[i], desks[i], True)


@entry
def first_illegal(desks, masks, actions):
    """The first game whose action is not legal, or -1."""
    for i in range(len(actions)):
        action = actions[i]
        if desks[i].count == 0:
            if action != NO_ACTION:
                return i
        elif action < 0 or action >= masks.shape[1] or not masks[i, action]:
            return i
    return -1


@entry
def step_games(boxes, blank, runs, games, desks, masks, actions):
    """Play one legal action in every game that is not over."""
    for i in range(len(games)):
        desks[i].done = False
        if desks[i].count > 0:
            play(boxes[0], blank, runs[0], games, i, desks[i], masks[i], actions[i])


@entry
def sample_games(games, desks, actions):
    """Draw a random legal action for every game from the game's own stream of choices."""
    for i in range(len(games)):
        actions[i] = NO_ACTION
        if desks[i].count > 0:
            actions[i] = desks[i].options[below(games[i], CHOICES, desks[i].count)]


@entry
def play_games(boxes, blank, runs, games, desks, masks, steps):
    """Play random decisions in every game, `steps` of them or to its end; returns how many were played."""
    decisions = 0
    for i in range(len(games)):
        desks[i].done = False
        left = steps
        while left != 0 and desks[i].count > 0:
            action = desks[i].options[below(games[i], CHOICES, desks[i].count)]
            play(boxes[0], blank, runs[0], games, i, desks[i], masks[i], action)
            decisions += 1
            left -= 1
    return decisions


@entry
def score_games(boxes, games, scores, places, contracts):
    """Points, places and numbers of contracts as they are now."""
    for i in range(len(games)):
        for player in range(boxes[0].players):
            scores[i, player] = score(boxes[0], games[i], player)
            places[i, player] = place_of(boxes[0], games[i], player)
            contracts[i, player] = contracts_of(games[i], player)


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="borneo")


os.register_at_fork(after_in_child=_workers.cache_clear)  # threads do not survive a fork


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Batch:
    """Many games of one ruleset, stepped together.

    Game k of a seed is the same game in every batch: place i of a batch of N plays the games first + i,
    first + i + N, first + i + 2N, ... of the seed.

    Arguments:
        size: how many games are played side by side.
        ruleset: the ruleset; or give its fields (`players=3, edition="card"`) as keywords.
        seed: 0 to 2**64 - 1.
        first: number of the first game.
        finished: "reset" deals the next game as soon as one ends; "hold" leaves it on the table.
        skip_forced: play decisions with a single legal option without asking.
        threads: how many threads at most; all cores by default. The games do not depend on it.
    """

    def __init__(
        self,
        size: int,
        ruleset: Ruleset | None = None,
        *,
        seed: int = 0,
        first: int = 0,
        finished: str = "reset",
        skip_forced: bool = True,
        threads: int | None = None,
        **fields: Any,
    ) -> None:
        if ruleset is not None and fields:
            raise TypeError(f"give either a ruleset or its fields, not both (got {', '.join(fields)})")
        if type(size) is not int or size < 1:
            raise ValueError(f"a batch has at least 1 game, not {size!r}")
        if type(first) is not int or not 0 <= first < LAST_NUMBER:
            raise ValueError(f"first is the number of a game, 0 to {LAST_NUMBER - 1}, not {first!r}")
        if type(skip_forced) is not bool:
            raise ValueError(f"skip_forced is True or False, not {skip_forced!r}")
        if finished not in ("reset", "hold"):
            raise ValueError(f"finished games are 'reset' or 'hold', not {finished!r}")
        self.ruleset = ruleset or Ruleset(**fields)
        self.threads = threads
        self.first = first
        self._box = make_box(self.ruleset)
        self._blank = make_blank(self.ruleset)
        self._run = np.zeros(1, RUN)
        self._run["stride"] = size
        self._run["skip_forced"] = skip_forced
        self._run["hold"] = finished == "hold"
        self.games: NDArray[np.void] = np.zeros(size, GAME)
        self._desk = np.zeros(size, DESK)
        self._mask = np.zeros((size, len(self.actions)), np.bool_)
        self.reset(seed)

    def __len__(self) -> int:
        return len(self.games)

    @property
    def actions(self) -> ActionTable:
        """The action table of the ruleset: ids, blocks and texts."""
        return action_table(slots_of(self.ruleset))

    @property
    def threads(self) -> int:
        """How many threads are used at most."""
        return self._threads

    @threads.setter
    def threads(self, threads: int | None) -> None:
        if threads is not None and (type(threads) is not int or threads < 1):
            raise ValueError(f"threads is a number from 1, or None for all cores, not {threads!r}")
        self._threads = threads or available_cores()

    @property
    def seed(self) -> int:
        return int(self._run["seed"][0])

    @property
    def mask(self) -> NDArray[np.bool_]:
        """(games, actions): which actions are legal. The same array at every step; copy it to keep it."""
        return _read_only(self._mask)

    @property
    def player(self) -> NDArray[np.int8]:
        """(games,): who decides in each game, -1 where it is over."""
        return _read_only(self.games["player"])

    @property
    def phase(self) -> NDArray[np.int8]:
        """(games,): what is being decided, an index into PHASES."""
        return _read_only(self.games["phase"])

    @property
    def done(self) -> NDArray[np.bool_]:
        """(games,): whether the last step finished a game there; its result is in `result`."""
        return _read_only(self._desk["done"])

    @property
    def result(self) -> dict[str, NDArray[Any]]:
        """Scores, places and numbers of contracts, (games, 5) each, of the game finished last in each place."""
        return {name: _read_only(self._desk[name]) for name in RESULT[1:]}

    def scores(self) -> NDArray[np.int32]:
        """(games, players): the points as they are now."""
        return self._standing()[0]

    def places(self) -> NDArray[np.int8]:
        """(games, players): the places as they are now."""
        return self._standing()[1]

    def contracts(self) -> NDArray[np.int8]:
        """(games, players): how many contracts each player has fulfilled."""
        return self._standing()[2]

    def _standing(self) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int8]]:
        shape = (len(self), self.ruleset.players)
        scores, places, contracts = np.zeros(shape, np.int32), np.zeros(shape, np.int8), np.zeros(shape, np.int8)
        self._parallel(score_games, (self._box,), (self.games, scores, places, contracts))
        return scores, places, contracts

    def reset(self, seed: int | None = None, where: ArrayLike | None = None) -> None:
        """Deal new games: all from `first` on (with a new seed, if given), or the next ones where `where` is true."""
        if seed is not None:
            self._run["seed"] = _checked_seed(seed)
        numbers = self.first + np.arange(len(self), dtype=np.uint64)
        chosen = np.ones(len(self), np.bool_)
        if where is not None:
            chosen = np.broadcast_to(np.asarray(where, np.bool_), len(self)).copy()
            numbers = self.games["number"].astype(np.uint64) + self._run["stride"]
        self._parallel(deal_games, (self._box, self._blank, self._run), (self.games, chosen, numbers))
        self.refresh()

    def deal_stacked(self, game: int, start: int, draw: ArrayLike, ports: ArrayLike) -> None:
        """Deal one game from piles stacked by hand, top first: three cards to player 0, three to player 1, ..."""
        self.games[game] = self._blank[0]
        self.games["start"][game] = start
        self.games["draw"][game] = np.asarray(draw)[::-1]
        self.games["port_pile"][game, : self._box["ports"][0]] = CARDS + np.asarray(ports)[::-1]
        deal_stacked_games(attributes(self._box), attributes(self.games[game : game + 1]))
        self.refresh()

    def refresh(self) -> None:
        """Work out options and masks anew; call it after writing into `games`."""
        self._on_games(refresh_games)

    def step(self, actions: ArrayLike) -> None:
        """Play one action in every game (NO_ACTION in finished games that are held).

        If any action is illegal nothing changes in any game, and IllegalMove names the game and the legal moves.
        """
        chosen = self._checked_actions(actions)
        illegal = first_illegal(attributes(self._desk), self._mask, chosen)
        if illegal >= 0:
            raise IllegalMove(self._complaint(illegal, int(chosen[illegal])))
        self._on_games(step_games, chosen)

    def sample(self) -> NDArray[np.int16]:
        """(games,): a random legal action for every game, NO_ACTION where it is over."""
        actions = np.empty(len(self), np.int16)
        self._parallel(sample_games, (), (self.games, self._desk, actions))
        return actions

    def play_random(self, steps: int | None = None) -> int:
        """Play `steps` random decisions in every game (None: to the end, for held games); returns the decisions."""
        if steps is not None and (not isinstance(steps, int | np.integer) or steps < 0):
            raise ValueError(f"steps is a number from 0, or None to play to the end, not {steps!r}")
        if steps is None and not self._run["hold"][0]:
            raise ValueError("games that are reset never end; give a number of steps, or finished='hold'")
        return sum(self._on_games(play_games, TO_THE_END if steps is None else steps))

    def legal_moves(self, game: int = 0) -> list[str]:
        """The legal moves of one game in words."""
        desk = self._desk[game]
        phase = self.phase_name(game)
        return [self.actions.text(int(action), phase) for action in desk["options"][: desk["count"]]]

    def phase_name(self, game: int = 0) -> str:
        return PHASES[self.games["phase"][game]]

    def copy(self) -> Batch:
        """A batch in the same state that shares nothing with this one."""
        twin = object.__new__(Batch)
        twin.__dict__.update(self.__dict__)
        for name in ("_run", "games", "_desk", "_mask"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def save(self, path: str | Path) -> None:
        """Write the running batch to a plain `.npz` file (no pickle); `Batch.load` plays on identically."""
        about = {
            "format": FORMAT,
            "ruleset": {name: getattr(self.ruleset, name) for name in ("edition", "players", "traders", "blackbeard")},
            "tables": asdict(self.ruleset.tables),
            "seed": self.seed,
            "first": self.first,
            "skip_forced": bool(self._run["skip_forced"][0]),
            "finished": "hold" if self._run["hold"][0] else "reset",
        }
        with open(path, "wb") as file:  # np.savez given a name would add an ending of its own
            arrays: dict[str, Any] = {name: self._desk[name] for name in RESULT}
            np.savez(file, about=np.array(json.dumps(about)), games=self.games, **arrays)

    @classmethod
    def load(cls, path: str | Path, threads: int | None = None) -> Batch:
        """The batch saved in a file; a file that is not one, or holds impossible games, is a BatchFileError."""
        try:
            batch = cls._from_file(path, threads)
        except Exception as error:  # a damaged archive can raise nearly anything
            raise BatchFileError(f"{path}: is not a saved batch: {error}") from None
        return batch

    @classmethod
    def _from_file(cls, path: str | Path, threads: int | None) -> Batch:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            games, result = file["games"], {name: file[name] for name in RESULT}
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {FORMAT!r}")
        ruleset = Ruleset(**about["ruleset"], tables=read_tables(about["tables"], "tables"))
        check_games(ruleset, games)
        keys = ("seed", "first", "skip_forced", "finished")
        batch = cls(len(games), ruleset, threads=threads, **{key: about[key] for key in keys})
        batch.games[:] = games
        batch.refresh()
        if np.any((batch._desk["count"] == 0) & (batch.games["phase"] != OVER)):
            raise BrokenGame("a game without a legal move is not over")
        for name, values in result.items():
            if (values.dtype, values.shape) != (batch._desk[name].dtype, batch._desk[name].shape):
                raise ValueError(f"{name} has another type or shape than it should")
            batch._desk[name] = values
        return batch

    def _checked_actions(self, actions: ArrayLike) -> NDArray[np.int64]:
        chosen = np.asarray(actions)
        if chosen.dtype.kind not in "iu":
            raise TypeError(f"actions are whole numbers, not {chosen.dtype}")
        if chosen.shape != (len(self),):
            raise ValueError(f"one action for each of the {len(self)} games is needed, not an array of {chosen.shape}")
        return chosen.astype(np.int64)

    def _complaint(self, game: int, action: int) -> str:
        phase = self.phase_name(game)
        if phase == "over":
            return f"game {game} is over; give it NO_ACTION ({NO_ACTION}), or reset it"
        move = self.actions.text(action, phase)
        legal_moves = ", ".join(self.legal_moves(game))
        player = self.games["player"][game]
        return f"game {game}, player {player}, phase {phase}: {move!r} is not legal; legal are: {legal_moves}"

    def _on_games(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        shared = (self._box, self._blank, self._run)
        own = (self.games, self._desk, self._mask)
        return self._parallel(function, shared, (*own, *arguments))

    def _parallel(self, function: Callable[..., Any], shared: tuple[Any, ...], own: tuple[Any, ...]) -> list[Any]:
        """Call a compiled loop on slices of the games, one per thread; arrays in `own` are sliced, numbers are not."""
        shared, own = tuple(map(attributes, shared)), tuple(map(attributes, own))
        size = len(self)
        parts = max(1, min(self._threads, size // GAMES_PER_THREAD))
        if parts == 1:
            return [function(*shared, *own)]
        bounds = [size * part // parts for part in range(parts + 1)]
        slices = [[a[low:high] if isinstance(a, np.ndarray) else a for a in own] for low, high in pairwise(bounds)]
        others = [_workers().submit(function, *shared, *part) for part in slices[1:]]
        return [function(*shared, *slices[0]), *(other.result() for other in others)]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _checked_seed(seed: int) -> int:
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise ValueError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)
