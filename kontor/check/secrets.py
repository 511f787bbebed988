"""Whether what a seat may not know is hidden from it: by twins, games that differ only in what it does not see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.check.dealing import check_dealing
from kontor.check.report import SKIPPED, WARNED, Finding, Trial, counted, listed, rule_name
from kontor.check.same import different_field
from kontor.engine.batch import Batch
from kontor.engine.check import BrokenGame
from kontor.engine.games import observe, redact, resample
from kontor.engine.records import copy_games
from kontor.fields import NOBODY, OWN, SPECTATOR

GAMES = 1_000
STAGES = (0, 1, 1, 2, 4, 8, 16, 32, 64, 128)  # after so many more decisions secrets are looked at

REDACTS = "redacted records hide what their fields say"
OBSERVES = "observations tell what a view tells"
CAN_DEAL = "what is hidden can be dealt anew"
KEEPS = "resampling keeps the view"
LOOKS = "twins look the same in observation and mask"
BLIND = "resampling does not read the truth"
CHECKS = (REDACTS, OBSERVES, KEEPS, LOOKS, BLIND)


def check_secrets(trial: Trial, dealing: bool = True) -> Iterator[Finding]:
    """Look at games of every stage with the eyes of every seat, and at how they are dealt anew."""
    unknown = trial.game.cannot_resample()
    if unknown:
        sentence = f"nobody says how {listed(unknown)} is dealt anew: give the game fill_secrets and can_be_filled"
        yield trial.found(CAN_DEAL, WARNED, sentence)
    found = _first_faults(trial, not unknown)
    for check in CHECKS:
        if check in found:
            yield found[check]
        elif unknown and check in (KEEPS, LOOKS, BLIND):
            yield trial.found(check, SKIPPED, "what is hidden cannot be dealt anew")
        else:
            yield trial.passed(check, f"{counted(min(GAMES, trial.games), 'game')}, every seat and a spectator")
    if dealing and not unknown and KEEPS not in found:
        yield check_dealing(trial)


def _first_faults(trial: Trial, can_deal: bool) -> dict[str, Finding]:
    """The first fault of each kind."""
    batch = Batch(min(GAMES, trial.games), trial.ruleset, seed=trial.seed, finished="hold", skip_forced=False)
    found: dict[str, Finding] = {}
    decisions = 0
    for more in STAGES:
        if decisions and not (batch.player >= 0).any():
            break
        batch.play_random(more)
        decisions += more
        for seat in range(SPECTATOR, trial.ruleset.players):
            look = Look(trial, batch, seat, decisions)
            faults = [*look.redacted(), *(look.resampled() if can_deal else ())]
            for fault in faults:
                found.setdefault(fault.check, fault)
    return found


class Look:
    """What one seat sees of the games of a batch."""

    def __init__(self, trial: Trial, batch: Batch, seat: int, decisions: int) -> None:
        self.trial, self.batch, self.seat, self.decisions = trial, batch, seat, decisions
        self.ruleset, self.games = trial.ruleset, copy_games(batch.games)
        self.who = f"seat {seat}" if seat >= 0 else "a spectator"
        self.views = redact(self.ruleset, self.games, seat)

    def _fault(self, check: str, sentence: str, row: int) -> Finding:
        return self.trial.failed(check, sentence, self.games[row], self.decisions)

    def redacted(self) -> Iterator[Finding]:
        """What is wrong with the records that a seat is shown."""
        for field in self.trial.game.fields:
            if field.seen in (OWN, NOBODY) and field.is_things:
                values = self.views[field.name].copy()
                if field.seen == OWN and self.seat >= 0:
                    values[:, self.seat] = -1
                shown = (values >= 0).reshape(len(values), -1).any(1)
                if shown.any():
                    k = int(np.argmax(shown))
                    sentence = f"{self.who} is shown {field.name} = {self.views[k][field.name].tolist()}"
                    yield self._fault(REDACTS, f"{sentence}, which it does not see: look at blank_secrets", k)
        full = self.batch.observe(self.seat)
        seen = observe(self.ruleset, self.views, self.seat)
        if (row := _first(full, seen)) is not None:
            sentence = f"the observation of {self.who} is made of more than its view: {self._block(full, seen, row)}"
            yield self._fault(OBSERVES, sentence, row)

    def _block(self, one: NDArray[Any], two: NDArray[Any], row: int) -> str:
        """The block of the observation in which two differ."""
        place = int(np.argmax(one[row] != two[row]))
        blocks = self.trial.game.layout(self.ruleset)
        return next((f"block {b.name}" for b in blocks if b.slice.start <= place < b.slice.stop), f"number {place}")

    def resampled(self) -> Iterator[Finding]:
        """What is wrong with games that are dealt anew."""
        rng = np.random.default_rng([self.trial.seed, self.decisions, self.seat + 1])
        try:
            twins = resample(self.ruleset, self.games, self.seat, rng)
        except ValueError as error:
            yield self._fault(KEEPS, f"can_be_filled: {error}", 0)
            return
        views = redact(self.ruleset, twins, self.seat)
        if (row := _first(self.views, views)) is not None:
            field = different_field(self.views[row], views[row])
            yield self._fault(KEEPS, f"{field} of the view of {self.who} differs after resampling", row)
            return
        yield from self._look_at(twins)
        again = [
            resample(self.ruleset, games, self.seat, np.random.default_rng(self.trial.seed))
            for games in (self.games, twins, self.views)
        ]
        for other in again[1:]:
            if (row := _first(again[0], other)) is not None:
                field = different_field(again[0][row], other[row])
                sentence = f"two games that look the same to {self.who} are resampled to different {field}"
                yield self._fault(BLIND, sentence, row)

    def _look_at(self, twins: NDArray[np.void]) -> Iterator[Finding]:
        """Compare what a seat sees of games and of their twins."""
        other = self.batch.copy()
        other.games[:] = twins
        try:
            other.refresh()
        except BrokenGame as error:
            yield self._fault(KEEPS, f"resampled for {self.who}, a {error}", 0)
            return
        one, two = self.batch.observe(self.seat), other.observe(self.seat)
        if (row := _first(one, two)) is not None:
            sentence = f"{self.who} sees a difference between twins: {self._block(one, two, row)} of the observation"
            yield self._fault(LOOKS, sentence, row)
        decides = (self.games["player"] == self.seat)[:, None] & (self.seat >= 0)
        if (row := _first(self.batch.mask & decides, other.mask & decides)) is not None:
            phase = self.trial.game.phases[int(self.games[row]["phase"])]
            sentence = f"{rule_name(phase, 'legal')} gives {self.who} other options in a game that looks the same to it"
            yield self._fault(LOOKS, sentence, row)


def _first(one: NDArray[Any], two: NDArray[Any]) -> int | None:
    """The first row in which two arrays differ."""
    rows = np.flatnonzero((_bytes(one) != _bytes(two)).any(1))
    return int(rows[0]) if len(rows) else None


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)
