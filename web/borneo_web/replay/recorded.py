"""RecordedGame: the positions of a record, the story that leads from one to the next, and the options in each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from borneo_agents.human.options import option
from numpy.typing import NDArray

from borneo_env.engine.batch import Batch
from borneo_env.engine.games import results
from borneo_env.engine.state import (
    CARDS,
    COMMIT,
    CONTRACT,
    DEFEND,
    DISCARD,
    DROP,
    HAND,
    KEEP,
    PAY,
    PILE,
    TAKE,
    YIELD,
)
from borneo_env.pieces import Pieces, plain
from borneo_env.record import Line, Moment, RecordError, replay
from borneo_env.story import Narrator, Told, deed, drawn
from kontor.files import on_one_line

LONGEST_NAME = 40  # characters of a name that are shown
UNSETTLED = (PAY, COMMIT, DEFEND, KEEP, YIELD, TAKE, DROP)


class Position(NamedTuple):
    """A position, and what led to it."""

    game: np.void
    told: list[Told]
    last_move: str
    turn: int  # its number; 0 before the first


class RecordedDecision(NamedTuple):
    """What is decided in a position."""

    actions: list[int]
    options: list[Pieces]
    played: int | None  # which of them; None where a record breaks off


class RecordedGame:
    """A record that has been replayed and found right; one that breaks off is taken as far as it goes."""

    def __init__(self, record: Sequence[Line]) -> None:
        moves, self.finished = _moves(record)
        self.ruleset = moves[0][0].batch.ruleset
        self.names = called(record[0]["agents"])
        self.positions = list(_positions(moves, self.names))
        self.games: NDArray[np.void] = np.array([position.game for position in self.positions])
        self._moves = [move[0].move for move in moves]

    def __len__(self) -> int:
        return len(self.positions)

    def points(self) -> list[list[int]]:
        """Everybody's points in each position."""
        points: list[list[int]] = results(self.ruleset, self.games).scores.tolist()
        return points

    def jumps(self) -> dict[str, list[int]]:
        """The positions where turns begin, where contests begin, and where contracts have been fulfilled."""
        phase = self.games["phase"]
        paid = np.flatnonzero((phase[:-1] == PAY) & (phase[1:] != PAY)) + 1
        return {
            "turn": np.flatnonzero(phase == CONTRACT).tolist(),
            "contest": np.flatnonzero((phase == COMMIT) & (self.games["attack_cards"] == 0)).tolist(),
            "contract": paid.tolist(),
        }

    def settled(self) -> NDArray[np.intp]:
        """The positions that are not in the middle of a payment, a contest, a distribution or the drawing of cards."""
        return np.flatnonzero(~np.isin(self.games["phase"], UNSETTLED))

    def table(self, seed: int) -> Batch:
        """All positions as a batch, for agents to be asked; the dice they are handed are those of a seed."""
        batch = Batch(len(self), self.ruleset, seed=seed, finished="hold", skip_forced=False)
        for name in self.games.dtype.names or ():
            if name != "rng":
                batch.games[name] = self.games[name]
        batch.refresh(check=False)
        return batch

    def decisions(self, players: Container[int | None]) -> list[RecordedDecision | None]:
        """What some players decide, by position; None where it is not one of them who does."""
        table, one = self.table(0), Batch(1, self.ruleset, finished="hold", skip_forced=False)
        return [self._decision(i, table, one) if table.player[i] in players else None for i in range(len(self))]

    def _decision(self, number: int, table: Batch, one: Batch) -> RecordedDecision:
        one.games[:] = self.games[number]  # `option` tells about the first game of a batch
        actions, phase = np.flatnonzero(table.mask[number]).tolist(), table.phase_name(number)
        moves = [table.actions.move(action, phase) for action in actions]
        played = moves.index(self._moves[number]) if number < len(self._moves) else None
        return RecordedDecision(actions, [option(one, move) for move in moves], played)


def called(agents: Sequence[str]) -> list[str]:
    """What players are called: as the record does it, with the number of the seat where a name is not theirs alone."""
    cut = [on_one_line(name, LONGEST_NAME) for name in agents]
    names = [name if cut.count(name) == 1 else f"{name} {seat}" for seat, name in enumerate(cut)]
    return names if len(set(names)) == len(names) else [f"{name} {seat}" for seat, name in enumerate(cut)]


def _moves(record: Sequence[Line]) -> tuple[list[list[Moment]], bool]:
    """The moments of each move: the move, the shuffle that it needed, and at the end the result; and if there is one.

    A record may break off, and then has no result; one that is wrong is refused.
    """
    moves: list[list[Moment]] = []
    finished = False
    try:
        for moment in replay(record):
            if moment.kind == "move":
                moves.append([])
            moves[-1].append(moment)
        finished = True
    except RecordError as error:
        if error.line <= len(record) or not record:
            raise
    if moves and not finished and _shuffles(moves[-1][0]) and len(moves[-1]) == 1:
        moves.pop()  # its cards were drawn from a pile that only the next line would have told
    if not moves:
        raise RecordError(len(record) + 1, "the file ends before the first move; record a game that has some")
    return moves, finished


def _shuffles(moment: Moment) -> bool:
    return bool(moment.before["pile_since"] != moment.after["pile_since"])


def _positions(moves: Sequence[Sequence[Moment]], names: Sequence[str]) -> Iterator[Position]:
    deal = moves[0][0].before
    yield Position(deal, list(_drawn(moves[0][0], None, deal)), "", 0)
    narrator, turn = Narrator(forced=True), 0
    for moments in moves:
        move, after = moments[0], moments[-1].after
        told = [line for moment in moments for line in narrator.tell(moment)]
        turn += move.before["phase"] == CONTRACT
        told += _drawn(move, move.before, after)
        words = plain(deed(move.batch.ruleset, move.before, move.line["player"], move.move), names)
        yield Position(after, told, words, int(turn))


def _drawn(moment: Moment, before: Any, after: np.void) -> Iterator[Told]:
    """The cards that players have drawn or were dealt, each told to that player alone."""
    ruleset = moment.batch.ruleset
    hidden = np.ones(CARDS, bool) if before is None else np.isin(before["place"][:CARDS], (PILE, DISCARD))
    for player in range(ruleset.players):
        cards = np.flatnonzero(hidden & (after["place"][:CARDS] == HAND + player)).tolist()
        yield from drawn(ruleset, player, cards, dealt=before is None)
