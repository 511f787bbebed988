"""Match: the games of some deals, played side by side to their ends.

Every game has one decision in every round, whether there is a choice or not: forced decisions are played by the match
itself. So the rounds an agent can count between two questions tell no more than everybody sees of the moves.

An agent that raises, answers with something that is no legal action, or takes too long loses that game at once: it is
placed last, the others share the first place, and all points are as they stood. An agent is asked for many games
together; when that call fails nobody knows which of them was to blame, so each is asked again alone.

A match tells its heartbeat whom it is asking. A process that watches over it can therefore end one that hangs, and
say in `Orders` how the next attempt should go about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.chairs import ILLEGAL, LONGEST_REASON, Chairs, Failure, Heartbeat, NoHeartbeat
from borneo_agents.arena.tournament import Tournament
from borneo_env.agent import Agent, Views, WrongAnswer
from borneo_env.engine.batch import Batch
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import CHOICES, N_KINDS, NOBODY, PORT, SHIP, TALLIES, copy_games
from borneo_env.files import on_one_line

FIRST_ROOM = 256  # actions of a game; made longer when a game needs more
MOST_STALLS = 3  # of a bot in a process of its own: then it is not asked any more in the chunk, since each costs long


class Charge(NamedTuple):
    """What an agent has done in an earlier attempt at a chunk."""

    kind: str  # one of FAULTS
    reason: str
    trace: str = ""


class Trace(NamedTuple):
    """The traceback of an agent's first fault of a kind."""

    agent: int
    kind: str
    game: int
    text: str


class Fault(NamedTuple):
    """Why a game was lost at once."""

    game: int  # counted from the first game of the tournament
    seat: int
    agent: int
    kind: str  # one of FAULTS
    reason: str


@dataclass
class Orders:
    """What earlier attempts at the same chunk have found out. Rounds are numbered from 0."""

    alone: set[int] = field(default_factory=set)  # agents to be asked one game at a time
    condemned: dict[tuple[int, int], Charge] = field(default_factory=dict)  # (round, game of the chunk)
    given_up: dict[int, tuple[int, Charge]] = field(default_factory=dict)  # agent: from which round on, and why


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
    traces: list[Trace]


class Match:
    """The games of some deals, with an agent on every seat.

    Agents that are names are made anew for every chair; one that is an object plays as this one object.
    """

    def __init__(
        self,
        tournament: Tournament,
        deals: range,
        agents: Sequence[str | Agent],
        heartbeat: Heartbeat | None = None,
        orders: Orders | None = None,
    ) -> None:
        self.tournament = tournament
        self.heartbeat = heartbeat or NoHeartbeat()
        self.orders = orders or Orders()
        self.chairs = Chairs(tournament, deals, agents, self.heartbeat)
        self.batch = lay_out(tournament, deals)
        self.outcomes = np.zeros(len(self.batch), outcome_type(tournament.ruleset.players))
        self.outcomes["game"] = deals.start * tournament.block + np.arange(len(self.batch))
        self.outcomes["deal"] = self.batch.games["number"]
        self.outcomes["seats"] = self.seats = tournament.seats(deals)
        self.outcomes["start"] = self.batch.games["start"]
        self.outcomes["offender"] = NOBODY
        self.faults: list[Fault] = []
        self.stalls: Counter[int] = Counter()  # by agent
        self.traces: dict[tuple[int, str], Trace] = {}
        self.log = np.zeros((len(self.batch), FIRST_ROOM), np.int16)
        self.logged = np.zeros(len(self.batch), np.int64)
        self.round = 0

    def play(self) -> Played:
        """Play all games to their ends."""
        self.chairs.fill([agent for agent, (since, _) in self.orders.given_up.items() if since == 0])
        rows = np.flatnonzero(self.batch.player != NOBODY)
        while len(rows):
            self.heartbeat.games_over(len(self.batch) - len(rows))
            rows = self._play_round(rows)
            self.round += 1
        self._note_ends()
        actions = [log[:n] for log, n in zip(self.log, self.logged, strict=True)]
        return Played(self.outcomes, sorted(self.faults), self.chairs.seconds, actions, sorted(self.traces.values()))

    def dismiss(self) -> None:
        """Let the agents go, once the games are safe."""
        self.chairs.clear()

    def _play_round(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Play one decision in each of these games; returns those that go on."""
        actions = self.batch.forced()[rows].astype(np.int64)
        asked = np.flatnonzero(actions == NO_ACTION)
        if len(asked):
            actions[asked] = self._answers(rows[asked])
            self._log(rows[asked], actions[asked])
            goes_on = self.outcomes["offender"][rows] == NOBODY
            self._tell_ends(rows[~goes_on])
            rows, actions = rows[goes_on], actions[goes_on]
        self._step(rows, actions)
        goes_on = self.batch.games["player"][rows] != NOBODY
        self._tell_ends(rows[~goes_on])
        left: NDArray[np.intp] = rows[goes_on]
        return left

    # ------------------------------------------------------------ asking

    def _answers(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """A legal action for each game, or any number where who was to decide has lost it."""
        actions = np.zeros(len(rows), np.int64)
        games, mask, dice = self.batch.view(rows)
        chairs = self.chairs.at[rows, self.batch.games["player"][rows]]
        order = chairs.argsort(kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(chairs[order])) + 1):
            views = Views(
                self.tournament.ruleset, copy_games(games, mine), mask[mine], dice[mine]
            )  # shared with nobody
            actions[mine] = self._ask(int(chairs[mine[0]]), rows[mine], views)
        self._judge(rows, actions)
        return actions

    def _ask(self, chair: int, rows: NDArray[np.intp], views: Views) -> NDArray[np.int64]:
        """What the agent on a chair answers for each game, or any number where it has lost it."""
        agent = int(self.chairs.agent[chair])
        charge = self._given_up(agent)
        if charge:
            for row in rows:
                self._lose(row, *charge)
            return np.zeros(len(rows), np.int64)
        if len(rows) > 1 and agent not in self.orders.alone:
            try:
                return self.chairs.ask(chair, views, self.round, rows)
            except Failure:
                pass
        return self._ask_alone(chair, rows, views)

    def _ask_alone(self, chair: int, rows: NDArray[np.intp], views: Views) -> NDArray[np.int64]:
        actions = np.zeros(len(rows), np.int64)
        agent = int(self.chairs.agent[chair])
        for i, row in enumerate(rows):
            condemned = self._given_up(agent) or self.orders.condemned.get((self.round, int(row)))
            if condemned:
                self._lose(row, *condemned)
                continue
            try:
                actions[i] = self.chairs.ask(chair, _one(views, i), self.round, rows[i : i + 1])[0]
            except Failure as failure:
                self._lose(row, failure.kind, failure.reason, failure.trace)
                self._note_stall(agent, failure)
        return actions

    def _given_up(self, agent: int) -> Charge | None:
        """Why an agent is asked no more, if it is not."""
        since, charge = self.orders.given_up.get(agent, (self.round + 1, None))
        return charge if since <= self.round else None

    def _note_stall(self, agent: int, failure: Failure) -> None:
        """Give up a bot whose process has given no answer too often. (Workers do so where the agent is in theirs.)"""
        self.stalls[agent] += failure.stalled
        if failure.stalled and self.stalls[agent] == MOST_STALLS:
            reason = f"not asked any more in this chunk: {failure.reason}"
            self.orders.given_up[agent] = self.round, Charge(failure.kind, reason, failure.trace)

    def _judge(self, rows: NDArray[np.intp], actions: NDArray[np.int64]) -> None:
        """Who answered with an illegal action has lost."""
        mask = self.batch.mask
        known = (actions >= 0) & (actions < mask.shape[1])
        wrong = ~known | ~mask[rows, np.where(known, actions, 0)]
        for row, action in zip(rows[wrong], actions[wrong], strict=True):
            if self.outcomes["offender"][row] == NOBODY:
                move = self.batch.actions.text(int(action), self.batch.phase_name(row))
                legal = ", ".join(self.batch.legal_moves(int(row)))
                self._lose(row, ILLEGAL, f"{move!r} is not legal here; legal are: {legal}")

    def _tell_ends(self, rows: NDArray[np.intp]) -> None:
        """Tell bots in processes of their own how their games have ended."""
        if not len(rows):
            return
        scores, places = self.batch.scores()[rows].tolist(), self._places(rows).tolist()
        for row, points, order in zip(rows.tolist(), scores, places, strict=True):
            offender = int(self.outcomes["offender"][row])
            lost_by = None if offender == NOBODY else offender
            for seat, chair in enumerate(self.chairs.at[row].tolist()):
                self.chairs.game_over(chair, row, seat, points, order, lost_by)

    # ------------------------------------------------------------ keeping

    def _lose(self, row: np.intp, kind: str, reason: str, trace: str = "") -> None:
        """The player to decide loses this game now."""
        seat = int(self.batch.games["player"][row])
        game, agent = int(self.outcomes["game"][row]), int(self.seats[row, seat])
        if self.heartbeat.debugging:
            raise WrongAnswer(f"{self.tournament.agents[agent]}, in game {game} at decision {self.round}: {reason}")
        self.outcomes["offender"][row] = seat
        self.faults.append(Fault(game, seat, agent, kind, on_one_line(reason, LONGEST_REASON)))
        if trace:
            self.traces.setdefault((agent, kind), Trace(agent, kind, game, trace))

    def _log(self, rows: NDArray[np.intp], actions: NDArray[np.int64]) -> None:
        """Write down what was chosen in games that nobody has lost."""
        goes_on = self.outcomes["offender"][rows] == NOBODY
        rows = rows[goes_on]
        if self.logged.max() == self.log.shape[1]:
            self.log = np.concatenate([self.log, np.zeros_like(self.log)], 1)
        self.log[rows, self.logged[rows]] = actions[goes_on]
        self.logged[rows] += 1
        self.outcomes["decisions"][rows, self.batch.games["player"][rows]] += 1

    def _step(self, rows: NDArray[np.intp], actions: NDArray[np.int64]) -> None:
        shipping = rows[self.batch.games["phase"][rows] == SHIP]  # once a turn
        self.outcomes["turns"][shipping] += 1
        before = self._ports(shipping)
        self.batch.step(actions, rows)
        self.outcomes["ports_taken"][shipping] += np.maximum(self._ports(shipping) - before, 0)

    def _ports(self, rows: NDArray[np.intp] | slice) -> NDArray[np.int16]:
        """(rows, players): the ports in each warehouse."""
        stock = self.batch.games["stock"][rows, : self.tournament.ruleset.players, :, PORT]
        ports: NDArray[np.int16] = stock.sum(2, dtype=np.int16)
        return ports

    def _note_ends(self) -> None:
        """Write down how the games stand now."""
        games, players = self.batch.games, self.tournament.ruleset.players
        self.outcomes["scores"], self.outcomes["places"] = self.batch.scores(), self._places(slice(None))
        self.outcomes["fulfilled"] = games["fulfilled"][:, :players]
        self.outcomes["ports"] = self._ports(slice(None))
        self.outcomes["cargo"] = games["stock"][:, :players].sum((2, 3), dtype=np.int16) - self.outcomes["ports"]
        self.outcomes["pirates"] = games["pirates"]
        self.outcomes["tally"] = games["tally"][:, :players]
        self.outcomes["rank"] = mean_ranks(games["ladder"], players)

    def _places(self, rows: NDArray[np.intp] | slice) -> NDArray[np.int8]:
        """(rows, players): the places now; who has lost by a fault is last, and the others share the first place."""
        places: NDArray[np.int8] = self.batch.places()[rows]
        offender = self.outcomes["offender"][rows]
        cut = np.flatnonzero(offender != NOBODY)
        places[cut] = 1
        places[cut, offender[cut]] = self.tournament.ruleset.players
        return places


def _one(views: Views, i: int) -> Views:
    if len(views) == 1:
        return views
    return Views(views.ruleset, views.games[i : i + 1], views.mask[i : i + 1], views.dice[i : i + 1])


def mean_ranks(ladder: NDArray[np.int8], players: int) -> NDArray[np.float64]:
    """(games, players): the mean rank of each player's traders on ladders (games, companies, slots)."""
    theirs = ladder[:, None] == np.arange(players)[:, None, None]
    ranks = np.arange(1, ladder.shape[2] + 1)
    mean: NDArray[np.float64] = (theirs * ranks).sum((2, 3)) / np.maximum(theirs.sum((2, 3)), 1)
    return mean


def lay_out(tournament: Tournament, deals: range) -> Batch:
    """A batch with all games of these deals, just dealt: each deal once for every game of its block.

    The games of a block have the same shuffles, but dice of their own: agents that play by chance would otherwise
    play some of them alike. Forced decisions are not skipped.
    """
    rules = tournament.ruleset
    how: dict[str, Any] = {"finished": "hold", "skip_forced": False, "threads": 1}
    dealt = Batch(len(deals), rules, seed=tournament.seed, first=deals.start, **how)
    batch = Batch(len(deals) * tournament.block, rules, **how)
    batch.games[:] = dealt.games.repeat(tournament.block)
    batch.games["rng"][:, CHOICES] = tournament.dice(deals) | np.uint64(1)  # as `dice.seed_streams` has it
    batch.refresh(check=False)
    return batch
