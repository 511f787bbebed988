"""Match: the games of some deals, played side by side to their ends.

An agent that raises, answers with something that is no legal action, or takes too long loses that game at once: it is
placed last, the others share the first place, and all points are as they stood. An agent is asked for many games
together; when that call fails nobody knows which of them was to blame, so each is asked again alone.

`Notes` is where a match writes whom it is asking. A process that watches over it can therefore end one that hangs, and
say in `Orders` how the next attempt should go about it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.tournament import Tournament
from borneo_env.agent import Agent, Views, find_agent
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import CHOICES, N_KINDS, NOBODY, PORT, SHIP, TALLIES

CRASH, ILLEGAL, TIME_OUT, ENDED, GIVEN_UP = "crash", "illegal move", "time-out", "ended the process", "given up"
LONGEST_REASON = 300  # characters
WARMING_UP = -1  # stands for the decision in a note
FIRST_ROOM = 256  # actions of a game; made longer when a game needs more


class Fault(NamedTuple):
    """Why a game was lost at once."""

    game: int  # counted from the first game of the tournament
    seat: int
    agent: int
    kind: str
    reason: str


@dataclass
class Orders:
    """What earlier attempts at the same chunk have found out. Decisions of a game are numbered from 0."""

    alone: set[tuple[int, int]] = field(default_factory=set)  # (decision, agent) to be asked one game at a time
    condemned: dict[tuple[int, int], str] = field(default_factory=dict)  # (decision, game of the chunk): kind of fault
    given_up: dict[int, int] = field(default_factory=dict)  # agent: the decision from which on it is asked no more


class Notes(Protocol):
    """Where a match says what it is doing."""

    def asking(self, agent: int, decision: int, game: int, views: int) -> None:
        """An agent is asked now; `game` is the game of the chunk if it is asked for this one alone, else -1."""

    def answered(self, games_over: int) -> None:
        """The agent has answered."""


class NoNotes:
    """For a match nobody watches."""

    def asking(self, agent: int, decision: int, game: int, views: int) -> None: ...

    def answered(self, games_over: int) -> None: ...


def outcome_type(players: int) -> np.dtype[Any]:
    """What is kept of each game."""
    return np.dtype(
        [
            ("game", "i8"),  # counted from the first game of the tournament
            ("deal", "i8"),
            ("seats", "i2", (players,)),  # index of the agent in each seat
            ("start", "i1"),  # the start player's seat
            ("scores", "i4", (players,)),
            ("places", "i1", (players,)),  # from 1, equal players share the better place
            ("turns", "i2"),
            ("decisions", "i2", (players,)),  # that were not forced
            ("fulfilled", "i2", (players, N_KINDS)),  # contracts of each kind
            ("cargo", "i2", (players,)),  # cargo cards left in the warehouse
            ("ports", "i2", (players,)),  # ports left there
            ("pirates", "i1"),  # seat the pirate ship lies with, or -1
            ("ports_taken", "i2", (players,)),  # those that were paid with included
            ("tally", "i2", (players, len(TALLIES))),
            ("rank", "f4", (players,)),  # of the own traders on their ladders, on average; 1 is the top
            ("offender", "i1"),  # seat that lost at once by a fault, or -1
        ]
    )


@dataclass
class Played:
    """The games of a match."""

    outcomes: NDArray[np.void]
    faults: list[Fault]
    seconds: NDArray[np.float64]  # (agents,): how long each has thought
    actions: list[NDArray[np.int16]]  # of each game, forced ones left out


class Match:
    """The games of some deals, with an agent on every seat."""

    def __init__(
        self,
        tournament: Tournament,
        deals: range,
        agents: Sequence[Agent],
        notes: Notes | None = None,
        orders: Orders | None = None,
    ) -> None:
        self.tournament = tournament
        self.agents = agents
        self.deals = deals
        self.notes = notes or NoNotes()
        self.orders = orders or Orders()
        self.batch = lay_out(tournament, deals)
        self.outcomes = np.zeros(len(self.batch), outcome_type(tournament.ruleset.players))
        self.outcomes["game"] = deals.start * tournament.block + np.arange(len(self.batch))
        self.outcomes["deal"] = self.batch.games["number"]
        self.outcomes["seats"] = self.seats = tournament.seats(deals)
        self.outcomes["start"] = self.batch.games["start"]
        self.outcomes["offender"] = NOBODY
        self.faults: list[Fault] = []
        self.seconds = np.zeros(len(agents))
        self.log = np.zeros((len(self.batch), FIRST_ROOM), np.int16)
        self.decision = 0  # how many decisions every game that is not over has had
        self.over = 0

    def play(self) -> Played:
        """Play all games to their ends."""
        rows = np.flatnonzero(self.batch.player != NOBODY)
        while len(rows):
            self.over = len(self.batch) - len(rows)
            rows, actions = self._answers(rows)
            self._step(rows, actions)
            rows = rows[self.batch.games["player"][rows] != NOBODY]
            self.decision += 1
        self._note_ends()
        lengths = self.outcomes["decisions"].sum(1)
        return Played(
            self.outcomes, self.faults, self.seconds, [log[:n] for log, n in zip(self.log, lengths, strict=True)]
        )

    # ------------------------------------------------------------ asking

    def _answers(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The games that go on, and the action for each; the others have been lost by who was to decide."""
        actions = np.full(len(rows), -1)
        who = self.seats[rows, self.batch.games["player"][rows]]
        for agent in range(len(self.agents)):
            mine = np.flatnonzero(who == agent)
            if len(mine):
                actions[mine] = self._ask(agent, rows[mine])
        goes_on = self.outcomes["offender"][rows] == NOBODY
        return rows[goes_on], actions[goes_on]

    def _ask(self, agent: int, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """A legal action for each game, or any number where the agent has lost it."""
        views = Views(self.tournament.ruleset, *self.batch.view(rows))
        if self.orders.given_up.get(agent, self.decision + 1) <= self.decision:
            for row in rows:
                self._lose(row, GIVEN_UP, "it hung or ended the process too often to be asked again")
            return np.zeros(len(rows), np.int64)
        if (self.decision, agent) in self.orders.alone:
            return self._ask_alone(agent, rows, views)
        try:
            return self._legal(rows, self._timed(agent, views, int(rows[0]) if len(rows) == 1 else NOBODY))
        except _Failure as failure:
            if len(rows) > 1:
                return self._ask_alone(agent, rows, views)
            self._lose(rows[0], failure.kind, failure.reason)
            return np.zeros(1, np.int64)

    def _ask_alone(self, agent: int, rows: NDArray[np.intp], views: Views) -> NDArray[np.int64]:
        actions = np.zeros(len(rows), np.int64)
        for i, row in enumerate(rows):
            one = Views(views.ruleset, views.games[i : i + 1], views.mask[i : i + 1], views.dice[i : i + 1])
            condemned = self.orders.condemned.get((self.decision, int(row)))
            if condemned:
                self._lose(row, condemned, f"at its decision {self.decision}")
                continue
            try:
                actions[i] = self._timed(agent, one, int(row))[0]
            except _Failure as failure:
                self._lose(row, failure.kind, failure.reason)
        return self._legal(rows, actions)

    def _timed(self, agent: int, views: Views, row: int) -> NDArray[np.int64]:
        """What an agent answers; raises _Failure if it does not, or not in time."""
        self.notes.asking(agent, self.decision, row, len(views))
        began = time.perf_counter()
        try:
            answer = self.agents[agent].act(views)
        except (Exception, SystemExit) as error:
            raise _Failure(CRASH, f"{type(error).__name__}: {error}") from None
        finally:
            took = time.perf_counter() - began
            self.seconds[agent] += took
            self.notes.answered(self.over)
        if took > len(views) * self.tournament.time_limit:
            raise _Failure(TIME_OUT, f"more than {self.tournament.time_limit:g} s")
        try:
            actions = np.asarray(answer)
        except Exception as error:
            raise _Failure(ILLEGAL, f"its answer is no array: {error}") from None
        if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
            raise _Failure(ILLEGAL, f"its answer for {len(views)} games is {actions.dtype} of shape {actions.shape}")
        return np.minimum(actions, np.iinfo(np.int64).max).astype(np.int64)

    def _legal(self, rows: NDArray[np.intp], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same actions; who answered with an illegal one has lost."""
        mask = self.batch.mask
        known = (actions >= 0) & (actions < mask.shape[1])
        wrong = ~known | ~mask[rows, np.where(known, actions, 0)]
        for row, action in zip(rows[wrong], actions[wrong], strict=True):
            if self.outcomes["offender"][row] == NOBODY:
                self._lose(row, ILLEGAL, repr(self.batch.actions.text(int(action), self.batch.phase_name(row))))
        return actions

    # ------------------------------------------------------------ keeping

    def _lose(self, row: np.intp, kind: str, reason: str) -> None:
        """The player to decide loses this game now."""
        seat = int(self.batch.games["player"][row])
        self.outcomes["offender"][row] = seat
        agent, game = int(self.seats[row, seat]), int(self.outcomes["game"][row])
        self.faults.append(Fault(game, seat, agent, kind, " ".join(reason.split())[:LONGEST_REASON]))

    def _step(self, rows: NDArray[np.intp], actions: NDArray[np.int64]) -> None:
        if self.decision == self.log.shape[1]:
            self.log = np.concatenate([self.log, np.zeros_like(self.log)], 1)
        self.log[rows, self.decision] = actions
        games = self.batch.games
        self.outcomes["decisions"][rows, games["player"][rows]] += 1
        shipping = rows[games["phase"][rows] == SHIP]  # once a turn, and never forced: there are three ports
        self.outcomes["turns"][shipping] += 1
        before = self._ports(shipping)
        self.batch.step(actions, rows)
        # A port is won by a ship action, and cannot be paid with before its new owner is asked again.
        self.outcomes["ports_taken"][shipping] += np.maximum(self._ports(shipping) - before, 0)

    def _ports(self, rows: NDArray[np.intp] | slice) -> NDArray[np.int16]:
        """(rows, players): the ports in each warehouse."""
        stock = self.batch.games["stock"][rows, : self.tournament.ruleset.players, :, PORT]
        ports: NDArray[np.int16] = stock.sum(2, dtype=np.int16)
        return ports

    def _note_ends(self) -> None:
        """Write down how the games stand now."""
        games, players = self.batch.games, self.tournament.ruleset.players
        self.outcomes["scores"], self.outcomes["places"] = self.batch.scores(), self.batch.places()
        self.outcomes["fulfilled"] = games["fulfilled"][:, :players]
        self.outcomes["ports"] = self._ports(slice(None))
        self.outcomes["cargo"] = games["stock"][:, :players].sum((2, 3), dtype=np.int16) - self.outcomes["ports"]
        self.outcomes["pirates"] = games["pirates"]
        self.outcomes["tally"] = games["tally"][:, :players]
        self.outcomes["rank"] = mean_ranks(games["ladder"], players)
        cut = np.flatnonzero(self.outcomes["offender"] != NOBODY)
        self.outcomes["places"][cut] = 1
        self.outcomes["places"][cut, self.outcomes["offender"][cut]] = players


def mean_ranks(ladder: NDArray[np.int8], players: int) -> NDArray[np.float64]:
    """(games, players): the mean rank of each player's traders on ladders (games, companies, slots)."""
    theirs = ladder[:, None] == np.arange(players)[:, None, None]
    ranks = np.arange(1, ladder.shape[2] + 1)
    mean: NDArray[np.float64] = (theirs * ranks).sum((2, 3)) / np.maximum(theirs.sum((2, 3)), 1)
    return mean


class _Failure(Exception):
    """An agent did not answer as it should."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def warm_up(tournament: Tournament, names: Sequence[str], notes: Notes, cold: Sequence[int] = ()) -> None:
    """Ask each agent once before any clock runs: compiling and loading are not thinking. `cold` agents are left out."""
    batch = lay_out(tournament, range(1))
    for number, name in enumerate(names):
        if number not in cold:
            views = Views(tournament.ruleset, *batch.view(np.array([0])))
            notes.asking(number, WARMING_UP, NOBODY, 1)
            with contextlib.suppress(Exception, SystemExit):  # it will be found out in a game
                find_agent(name).act(views)
            notes.answered(0)


def lay_out(tournament: Tournament, deals: range, *, skip_forced: bool = True) -> Batch:
    """A batch with all games of these deals, just dealt: each deal once for every game of its block.

    The games of a block have the same shuffles, but dice of their own: agents that play by chance would otherwise
    play some of them alike.
    """
    rules, hold = tournament.ruleset, "hold"
    dealt = Batch(
        len(deals), rules, seed=tournament.seed, first=deals.start, finished=hold, skip_forced=False, threads=1
    )
    batch = Batch(len(deals) * tournament.block, rules, finished=hold, skip_forced=skip_forced, threads=1)
    batch.games[:] = dealt.games.repeat(tournament.block)
    batch.games["rng"][:, CHOICES] = tournament.dice(deals) | np.uint64(1)  # as `dice.seed_streams` has it
    batch.refresh(check=False)
    return batch
