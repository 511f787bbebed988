"""Eyes: a recorded game as one seat sees it, or as all hands lie on the table: its pictures and win probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from borneo_agents.scripted.valuation.win_probability import win_probability
from numpy.typing import NDArray

from borneo_env.engine.hiding import redact, resample
from borneo_env.engine.state import NOBODY, SPECTATOR
from borneo_env.render import Picture
from borneo_env.render.scene import Scene
from borneo_web.replay.recorded import RecordedGame

DEALS = 64  # of the hidden cards, over which the win probability of a seat's view is the mean
MOST_MOMENTS, SMALLEST_SWING = 8, 0.05  # of the moments that decided a game

Change = list[int]  # pairs: which part of the picture, and the number of its new content


class Eyes:
    """Somebody who watches a game. Nothing here depends on what they may not know.

    Arguments:
        seat: a player, -1 for a spectator, who sees no hand, or None for all hands face up.
    """

    def __init__(self, game: RecordedGame, seat: int | None) -> None:
        self.seat = seat
        self._game = game
        self._seen: NDArray[np.void] = game.games if seat is None else redact(game.games, seat)

    @property
    def name(self) -> str:
        """Whose hands are seen."""
        if self.seat is None:
            return "all"
        return "none" if self.seat == SPECTATOR else f"only {self._game.names[self.seat]}"

    @property
    def title(self) -> str:
        """Edition, players and variants."""
        return Scene(self._game.ruleset, self._seen[0], self.seat, "", self._game.names).title

    def pictures(self) -> Iterator[Picture]:
        """The board of each position."""
        ruleset, names = self._game.ruleset, self._game.names
        for seen, position in zip(self._seen, self._game.positions, strict=True):
            yield Picture(ruleset, seen, self.seat, position.last_move, names)

    def win_probabilities(self, seed: int) -> NDArray[np.float64]:
        """(positions, players): by what is seen; hidden cards are dealt at random, by the seed, many times.

        In positions that are not settled the probabilities are those of the last that was: an estimate there would see
        what has been given, and not what is got for it.
        """
        settled = self._game.settled()
        found = self._estimates(self._seen[settled], seed)
        latest = np.searchsorted(settled, np.arange(len(self._game)), side="right") - 1
        return found[latest]

    def _estimates(self, seen: NDArray[np.void], seed: int) -> NDArray[np.float64]:
        ruleset = self._game.ruleset
        if self.seat is None:
            return win_probability(ruleset, seen)
        out = np.empty((len(seen), ruleset.players))
        over = seen["player"] == NOBODY
        out[over] = win_probability(ruleset, seen[over])
        deals = resample(np.repeat(seen[~over], DEALS), self.seat, np.random.default_rng(seed))
        out[~over] = win_probability(ruleset, deals).reshape(-1, DEALS, ruleset.players).mean(1)
        return out


def swings(probabilities: NDArray[np.float64], settled: NDArray[np.intp], finished: bool) -> list[list[int]]:
    """The steps that changed somebody's win probability most, largest first: from and to which position, and whose.

    The last step of a finished game is left out: there a probability becomes a fact.
    """
    stops = settled[:-1] if finished else settled
    change = np.abs(np.diff(probabilities[stops], axis=0))
    largest = change.max(1, initial=0.0)
    order = np.argsort(-largest, kind="stable")[:MOST_MOMENTS]
    return [[int(stops[i]), int(stops[i + 1]), int(change[i].argmax())] for i in order if largest[i] >= SMALLEST_SWING]


class Parts:
    """The parts of many pictures: each content is kept once, and a picture is what has changed since the last one."""

    def __init__(self) -> None:
        self._number: list[dict[str, int]] = []  # of each content, by the part of the picture

    def add(self, pictures: Iterable[Picture]) -> list[Change]:
        """Take pictures that follow each other; returns the changes from each to the next."""
        before: list[int] = []
        changes = []
        for picture in pictures:
            now = [self._numbered(part, pane.content) for part, pane in enumerate(picture.panes())]
            before = before or [-1] * len(now)
            changes.append([number for part, one in enumerate(now) if one != before[part] for number in (part, one)])
            before = now
        return changes

    def _numbered(self, part: int, content: str) -> int:
        while len(self._number) <= part:
            self._number.append({})
        return self._number[part].setdefault(content, len(self._number[part]))

    @property
    def contents(self) -> list[list[str]]:
        """The contents of each part, by their numbers."""
        return [list(contents) for contents in self._number]
