"""LiveGame: a game that people play in browsers, whose choice counts, and who hears of it.

Everything that changes a game goes through here, under one lock. An agent thinks outside it, so that pages are shown
meanwhile; nobody else can play then, because it is the agent's decision.
"""

from __future__ import annotations

import copy
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from borneo_agents.human.decision import CardsDecision, HumanDecision, NoOption, decision
from borneo_agents.human.game import HUMAN, AgentFailed, Game

from borneo_env.engine.batch import Batch
from borneo_env.engine.hiding import redact
from borneo_env.engine.state import SPECTATOR
from borneo_env.record import Line
from borneo_env.render.scene import Scene
from kontor.files import FileError, write_file

FORMAT = "borneo-web/1"
UNREADABLE, UNSAVED = 422, 507  # statuses: files that cannot be read, and written
BETWEEN_SAVES = 1.0  # seconds, while agents play: after a person's choice a game is saved at once
REMEDY = "make room, or bring the folder of games back, and"
BETWEEN_NEWS = 0.3  # seconds, while agents play: pages that are fetched meanwhile keep them waiting


class Refused(ValueError):
    """A request that cannot be granted, with the HTTP status that says what kind of refusal it is."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status

    def __reduce__(self) -> tuple[type[Refused], tuple[int, str]]:
        return Refused, (self.status, str(self))  # it may come from another process


class SteppedGame(Game):
    """A game that keeps the position after each line of its story, so that people can see what has happened."""

    def __init__(self, *arguments: Any) -> None:
        self.positions: dict[int, np.void] = {}  # by how much was told when it came about
        self._turns: list[tuple[int, int]] = []  # whose turn has ended, and how much was told then
        super().__init__(*arguments)
        self._keep()

    def play(self, action: int) -> None:
        turn = int(self.batch.games["turn"][0])
        super().play(action)
        self._keep()
        if self.batch.games["turn"][0] != turn:
            self._turns.append((turn, len(self.told)))

    def undo(self) -> None:
        super().undo()
        self.positions = {told: game for told, game in self.positions.items() if told <= len(self.told)}
        self._turns = [(turn, told) for turn, told in self._turns if told <= len(self.told)]
        self._keep()

    def end_of_turn(self, seat: int) -> int:
        """How much was told when the last turn of a seat ended; 0 before that."""
        return max((told for turn, told in self._turns if turn == seat), default=0)

    def copy(self) -> SteppedGame:
        """The same game at the same position; what is done to one is not done to the other."""
        other = copy.copy(self)
        other.batch, other._narrator = self.batch.copy(), copy.copy(self._narrator)
        other.lines, other.told, other._past = [*self.lines], [*self.told], [*self._past]
        other.positions, other._turns = dict(self.positions), [*self._turns]
        return other

    def _keep(self) -> None:
        self.positions[len(self.told)] = self.batch.games[0].copy()


class LiveGame:
    """A game with its people. Each seat of a person has a key, and so has watching."""

    def __init__(self, game: SteppedGame, names: Sequence[str], keys: dict[int, str], path: Path) -> None:
        self.game = game
        self.keys = keys  # by seat; SPECTATOR's is for watching
        self.path = path
        self.choices = 0  # of people so far, those taken back included: the number of the decision that is asked for
        self.trouble = ""  # why the game cannot go on
        self.next = ""  # the game that the same people play after this one
        self.unsaved = False  # whether that is because it cannot be saved
        self.removed = False
        self.closing = False  # whether agents should stop: the server is ending
        self.listeners: set[Callable[[], None]] = set()
        self.here: Counter[int] = Counter()  # pages that are open, by seat; 0 where somebody has left
        self.lock = threading.RLock()
        self._running = False
        self._saved = 0.0
        game.names = list(names)

    @classmethod
    def set_up(cls, game: SteppedGame, names: Sequence[str], path: Path) -> LiveGame:
        """A table for a new game, with new keys."""
        return cls(game, names, {seat: secrets.token_urlsafe(24) for seat in (*game.humans, SPECTATOR)}, path)

    def seat_of(self, key: str) -> int | None:
        """Whose key this is; all are compared, and each in the same time, however much of it is right."""
        given = key.encode()
        found = [seat for seat, known in self.keys.items() if secrets.compare_digest(known.encode(), given)]
        return found[0] if found else None

    def address(self, seat: int) -> str:
        """Where a seat, or a spectator, plays and looks. It has the key in it."""
        return f"/game/{self.path.stem}/{self.keys[seat]}"

    # ---------------------------------------------------------------- what is asked

    def asks(self, seat: int) -> bool:
        """Whether a person is to decide now."""
        return seat >= 0 and self.game.player == seat and self.game.seats[seat] == HUMAN and not self._running

    @property
    def can_undo(self) -> bool:
        """A choice can be taken back where only one person plays: others have seen it."""
        return len(self.game.humans) == 1 and self.asks(self.game.humans[0]) and self.game.can_undo

    def scene(self, seat: int) -> Scene:
        """The position as a seat, or a spectator, may see it."""
        game = redact(self.game.batch.games[0], seat)
        return Scene(self.game.batch.ruleset, game, seat, "", self.game.names)

    def question(self, seat: int) -> HumanDecision:
        """What a person who decides is asked."""
        return decision(self.game.batch, self.scene(seat))

    # ---------------------------------------------------------------- what people do

    def choose(self, seat: int, number: int, moves: Sequence[str]) -> None:
        """Make a person's choice; Refused if it is not theirs to make, not legal, or made already."""
        with self.lock:
            self._check_asked(seat, number)
            actions = self.actions(seat, moves)
            with self._saved_or_not_done():
                self.game.choose(actions)
                self.choices += 1
            agents_go_on = not (self.game.over or self.game.asks_a_person())
        if not agents_go_on or len(self.listeners) > 1:  # whoever plays alone hears of all that follows at once
            self.announce()

    def undo(self, seat: int, number: int) -> None:
        """Take a person's last choice back."""
        with self.lock:
            self._check_asked(seat, number)
            if not self.can_undo:
                raise Refused(409, "There is nothing that could be taken back any more.")
            with self._saved_or_not_done():
                self.game.undo()
                self.choices += 1
        self.announce()

    @contextmanager
    def _saved_or_not_done(self) -> Iterator[None]:
        """What is done within is saved; if it cannot be, it is not done, so that the file and the table agree."""
        before = self.game.copy(), self.choices
        try:
            yield
            self.save()
        except FileError as error:
            self.game, self.choices = before
            raise Refused(
                UNSAVED, f"{cannot_be_saved(error)} Your choice was not made: {REMEDY} choose again."
            ) from None

    def actions(self, seat: int, moves: Sequence[str]) -> list[int]:
        """The actions of a choice: one move, or the cards of a contest; Refused if it is not legal."""
        asked = self.question(seat)
        table, phase = self.game.batch.actions, self.game.batch.phase_name()
        legal = self.game.batch.legal_moves()
        wrong = [move for move in moves if move not in legal]
        if wrong:
            raise Refused(422, f"{wrong[0]!r} is not legal now; legal are: {', '.join(legal)}")
        actions = [table.action(move, phase) for move in moves]
        if isinstance(asked, CardsDecision):
            played = [table.move(action, phase) for action in actions]
            try:
                return asked.playing({move.parts["card"] for move in played if not move.declines})
            except NoOption as error:
                raise Refused(422, str(error)) from None
        if len(moves) != 1:
            raise Refused(422, f"Choose one of the options: you have chosen {len(moves)}.")
        return actions

    def _check_asked(self, seat: int, number: int) -> None:
        if self.trouble:
            raise Refused(UNSAVED if self.unsaved else 409, self.trouble)
        if seat == SPECTATOR:
            raise Refused(403, "Who watches cannot play.")
        if self.game.over:
            raise Refused(409, "The game is over.")
        if number != self.choices:
            raise Refused(409, "This was played already: the table has changed since your page was made.")
        if not self.asks(seat):
            raise Refused(409, f"It is not your decision: {self.game.names[self.game.player]} decides.")

    # ---------------------------------------------------------------- what agents do

    def go_on(self, pool: Executor) -> None:
        """Let agents play, on a thread of the pool, up to a person's decision or the end."""
        with self.lock:
            if self.unsaved:
                self._save_or_tell()
            if self._running or self.closing or self.trouble or self.game.over or self.game.asks_a_person():
                return
            self._running = True
        pool.submit(self._advance)

    def _advance(self) -> None:
        announced = time.monotonic()
        try:
            while not (self.removed or self.closing) and (action := self.game.next_action()) is not None:
                with self.lock:
                    self.game.play(action)
                    if time.monotonic() - self._saved > BETWEEN_SAVES and not self._save_or_tell():
                        break
                if time.monotonic() - announced > BETWEEN_NEWS:
                    self.announce()
                    announced = time.monotonic()
        except AgentFailed as error:
            self.trouble = f"The game cannot go on: {error}."
        finally:
            with self.lock:
                self._running = False
            self.announce()
            with self.lock:
                self._save_or_tell()
            if self.unsaved:
                self.announce()

    def _save_or_tell(self) -> bool:
        """Whether the game could be saved. If not, it waits until it can be: whoever looks at it tries again."""
        try:
            self.save()
        except FileError as error:
            self.unsaved, self.trouble = True, f"{cannot_be_saved(error)} It waits: {REMEDY} load this page again."
        else:
            self.trouble = "" if self.unsaved else self.trouble
            self.unsaved = False
        return not self.unsaved

    def announce(self) -> None:
        """Tell everybody who listens that the table has changed."""
        for listener in list(self.listeners):
            listener()

    # ---------------------------------------------------------------- files

    def save(self) -> None:
        """Write the game so far, with its people and their keys; one that was removed is written no more."""
        if self.removed:
            return
        content = {
            "format": FORMAT,
            "names": self.game.names,
            "keys": {str(seat): key for seat, key in self.keys.items()},
            "choices": self.choices,
            "next": self.next,
            "record": self.game.lines,
        }
        # only a power cut could lose what is not synced, and a disk may take 0.5 s; keys are in it
        write_file(self.path, json.dumps(content), sync=False, private=True)
        self._saved = time.monotonic()

    def remove(self) -> None:
        """End the game: nobody plays it any more, and it is written no more."""
        with self.lock:
            self.removed, self.unsaved, self.trouble = True, False, "The game was removed."
        self.announce()

    @property
    def record(self) -> list[Line]:
        """The record of the game under the names of this table. It tells everything: Refused before the end."""
        if not self.game.over:
            raise Refused(409, "The record shows all hands: it can be had when the game is over.")
        bare = [name.removesuffix(f" {seat}") for seat, name in enumerate(self.game.names)]
        names = [  # numbers tell agents of a kind apart, and people of the same name
            short if kind != HUMAN or bare.count(short) > 1 else name
            for name, short, kind in zip(self.game.names, bare, self.game.seats, strict=True)
        ]
        return [self.game.lines[0] | {"agents": names}, *self.game.lines[1:]]

    def batch(self) -> Batch:
        """A copy of the game."""
        with self.lock:
            return self.game.batch.copy()


def cannot_be_saved(error: FileError) -> str:
    """Why a game cannot be saved, without the path: people elsewhere read it."""
    return f"The game cannot be saved: {error.reason.removeprefix('cannot be written: ')}."
