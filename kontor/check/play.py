"""Whether random games go as games go: ranges, options, results, an end, and everything reached on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.check.chance import draws_of
from kontor.check.report import WARNED, Finding, Trial, counted, listed, reached_or_not, rule_name
from kontor.compile import attributes
from kontor.engine.batch import Batch, IllegalMove
from kontor.engine.check import wrong_ranges
from kontor.engine.records import copy_games
from kontor.fields import CHANCE
from kontor.templates.loops import NO_ACTION

MOST_DECISIONS = 5_000  # of a game; one that goes on for longer does not end
REFUSED = 100  # positions in which everything that is not legal is tried
SCORED = 200  # games whose points are worked out once more, one by one
UNSEEN = ("rng", "number")  # fields that are no part of a position

RANGES = "every field in its range"
OPTIONS = "options ascending, distinct, never none"
CHANGES = "each option changes the record"
REFUSALS = "illegal actions are refused"
ENDS = "games end"
PHASES = "every phase is reached"
ACTIONS = "every action is reached"
RESULTS = "results add up"
STATEMENTS = (RANGES, OPTIONS, CHANGES)


def check_play(trial: Trial) -> Iterator[Finding]:
    """Play the games of a trial at random and look at every position."""
    batch = Batch(trial.games, trial.ruleset, seed=trial.seed, finished="hold", skip_forced=False)
    watch = Watch(trial, batch)
    while watch.goes_on() and watch.decisions < MOST_DECISIONS:
        watch.look()
        watch.step()
    watch.look()
    yield from watch.findings()
    yield from check_refusals(trial)
    if not watch.goes_on():
        yield from check_results(trial, batch)


class Watch:
    """Random games, and the first position of each kind of fault that was seen in them."""

    def __init__(self, trial: Trial, batch: Batch) -> None:
        self.trial, self.batch, self.decisions, self.played = trial, batch, 0, 0
        self.faults: dict[str, Finding] = {}
        self.offered = np.zeros((len(trial.game.phases), len(batch.actions)), np.bool_)
        self.last = np.full(len(batch), -1)  # the phase that was decided last in each game

    def goes_on(self) -> bool:
        return bool((self.batch.player >= 0).any())

    def look(self) -> None:
        """Look at every position; those of games that are over were looked at when they ended."""
        rows = np.flatnonzero((self.batch.player >= 0) | (self.last >= 0))
        games = copy_games(self.batch.games, rows)
        self._look_at_ranges(rows, games)
        self._look_at_options(rows)

    def _look_at_ranges(self, rows: NDArray[np.intp], games: NDArray[np.void]) -> None:
        if RANGES in self.faults:
            return
        wrongs = list(wrong_ranges(self.trial.game, games))
        wrongs.append(("player is a player", games["player"] >= self.trial.ruleset.players))
        wrongs.append(("player is a player, or the game is over", games["player"] <= CHANCE))
        if self.trial.game.wrongs:
            wrongs += self.trial.game.wrongs(self.trial.ruleset, games)
        for statement, wrong in wrongs:
            if wrong.any():
                row = rows[int(np.argmax(wrong))]
                name = statement.partition(" ")[0]
                value = (
                    f": {name} = {self.batch.games[row][name].tolist()}" if name in (games.dtype.names or ()) else ""
                )
                self._fault(RANGES, row, f"not true: {statement}{value}, after {self._last_rule(row)}")
                return

    def _look_at_options(self, rows: NDArray[np.intp]) -> None:
        options, count = self.batch._desk["options"][rows], self.batch._desk["count"][rows]
        going_on = self.batch.player[rows] >= 0
        within = np.arange(options.shape[1]) < count[:, None]
        outside = within & ((options < 0) | (options >= len(self.batch.actions)))
        falling = within[:, 1:] & (options[:, 1:] <= options[:, :-1])
        wrong = outside.any(1) | falling.any(1) | (going_on & (count == 0)) | (count > options.shape[1])
        if wrong.any():
            k = int(np.argmax(wrong))
            ids = options[k, : count[k]].tolist()
            self._fault(OPTIONS, rows[k], f"{self._rule(rows[k], 'legal')} lists {ids or 'nothing'}")
        phases = self.batch.phase[rows][going_on]
        known = phases < len(self.offered)
        np.logical_or.at(self.offered, phases[known], self.batch.mask[rows][going_on][known])

    def step(self) -> None:
        """Play a random decision in every game, and look whether it changed anything."""
        before = _positions(self.batch.games)
        self.last = np.where(self.batch.player >= 0, self.batch.phase, -1)
        actions = self.batch.sample()
        self.batch.step(actions)
        same = (before == _positions(self.batch.games)).all(1) & (actions != NO_ACTION)
        if same.any():
            row = int(np.argmax(same))
            move = self.batch.actions.text(int(actions[row]), self.trial.game.phase_names[self.last[row]])
            self._fault(CHANGES, row, f"{move!r} changes nothing: {self._last_rule(row)}")
        self.decisions += 1
        self.played += int((actions != NO_ACTION).sum())

    def _fault(self, statement: str, row: Any, sentence: str) -> None:
        """Keep the first fault of its kind."""
        if statement not in self.faults:
            record = self.batch.games[row]
            self.faults[statement] = self.trial.failed(statement, sentence, record, self.decisions)

    def _rule(self, row: Any, kind: str) -> str:
        return rule_name(self.trial.game.phases[int(self.batch.phase[row])], kind)

    def _last_rule(self, row: Any) -> str:
        return rule_name(self.trial.game.phases[self.last[row]], "apply") if self.last[row] >= 0 else "setup"

    def findings(self) -> Iterator[Finding]:
        """What was found, when the games are over."""
        positions = f"{counted(self.played, 'decision')} in {counted(len(self.batch), 'random game')}"
        for statement in STATEMENTS:
            yield self.faults.get(statement) or self.trial.passed(statement, positions)
        if self.goes_on():
            row = int(np.argmax(self.batch.player >= 0))
            going_on = int((self.batch.player >= 0).sum())
            sentence = f"{counted(going_on, 'game')} did not end in {self.decisions:,} decisions"
            yield self.trial.failed(ENDS, sentence, self.batch.games[row], self.decisions)
        else:
            yield self.trial.passed(ENDS, f"after {counted(self.decisions, 'decision')} at most")
            yield from self._reached()

    def _reached(self) -> Iterator[Finding]:
        """What was never to be decided. Phases of chance are passed on the way; `chance.py` counts them."""
        names = self.trial.game.phase_names
        drawn = {int(position.record["phase"][0]) for position in draws_of(self.trial)}
        draws = {number for number in range(len(self.offered)) if not self.offered[number].any()}
        unreached = [names[number] for number in sorted(draws - drawn)]
        yield reached_or_not(self.trial, PHASES, unreached, len(names) - 1)
        table = self.batch.actions
        actions = [f"{table.texts(number)[0]!r}" for number in np.flatnonzero(~self.offered.any(0)).tolist()]
        yield reached_or_not(self.trial, ACTIONS, actions, len(table))


def _positions(games: NDArray[np.void]) -> NDArray[np.uint8]:
    """The bytes of records without what is no part of a position."""
    copies = copy_games(games)
    for name in UNSEEN:
        copies[name] = 0
    return copies.view(np.uint8).reshape(len(copies), -1)


def check_refusals(trial: Trial) -> Iterator[Finding]:
    """Whether everything that is not legal is refused, and changes nothing."""
    rng, tried = trial.rng(), 0
    for number in range(min(REFUSED, trial.games)):
        batch = Batch(1, trial.ruleset, seed=trial.seed, first=number, finished="hold", skip_forced=False)
        batch.play_random(int(rng.integers(0, 12)))
        before, mask = copy_games(batch.games), batch.mask.copy()
        for action in [*np.flatnonzero(~mask[0]).tolist(), -2, len(batch.actions), 2**40]:
            try:
                batch.step([action])
            except IllegalMove:
                tried += 1
                continue
            text = batch.actions.text(action, batch.phase_name())
            yield trial.failed(REFUSALS, f"action {action} ({text}) was played though it is not legal", before[0])
            return
        if before.tobytes() != batch.games.tobytes() or (mask != batch.mask).any():
            yield trial.failed(REFUSALS, "an action that was refused has changed the game", before[0])
            return
    yield trial.passed(REFUSALS, f"{counted(tried, 'action')} that are not legal")


def check_results(trial: Trial, batch: Batch) -> Iterator[Finding]:
    """Whether places agree with points as the game says, and points fit where they are kept."""
    players, game = trial.ruleset.players, trial.game
    scores, places = batch.result["scores"][:, :players], batch.result["places"][:, :players]
    box = attributes(game.box(trial.ruleset))[0]
    for row in range(min(SCORED, len(batch))):
        g = attributes(copy_games(batch.games, np.array([row])))[0]
        points = [int(game.score(box, g, player)) for player in range(players)]
        if points != scores[row].tolist():
            sentence = f"points are {points}, which do not fit where they are kept: {scores[row].tolist()}"
            yield trial.failed(RESULTS, sentence, batch.games[row])
            return
    expected = 1 + (scores[:, None, :] > scores[:, :, None]).sum(2)
    wrong = ((places < 1) | (places > players)).any(1)
    if not game.places:
        wrong |= (places != expected).any(1)
    if wrong.any():
        row = int(np.argmax(wrong))
        sentence = f"places {places[row].tolist()} do not agree with points {scores[row].tolist()}"
        yield trial.failed(RESULTS, sentence, batch.games[row])
        return
    yield _winners(trial, batch, box)


def _winners(trial: Trial, batch: Batch, box: Any) -> Finding:
    """How many win: a game that nobody wins, or everybody, is one, but its author should know."""
    counts, wins = np.zeros(trial.ruleset.players + 1, np.int64), trial.game.bind.names["wins"]
    rows = np.arange(min(SCORED, len(batch)))
    games = attributes(copy_games(batch.games, rows))
    for row in rows:
        counts[sum(bool(wins(box, games[row], p)) for p in range(trial.ruleset.players))] += 1
    told = listed(f"{many} with {counted(number, 'winner')}" for number, many in enumerate(counts.tolist()) if many)
    if counts[0] == len(rows) or (trial.ruleset.players > 1 and counts[-1] == len(rows)):
        who = "nobody" if counts[0] else "everybody"
        return trial.found(RESULTS, WARNED, f"{who} wins, in each of {counted(len(rows), 'game')}")
    return trial.passed(RESULTS, f"places agree with points; of {counted(len(rows), 'game')} {told}")
