"""Match: the games of some deals, played side by side to their ends.

Every game has one decision in every round, whether there is a choice or not: forced decisions are played by the match
itself. So the rounds an agent can count between two questions tell no more than everybody sees of the moves.

An agent that raises, answers with something that is no legal action, or takes too long loses that game at once: it is
placed last, the others share the first place, and all points are as they stood. An agent is asked for many games
together; a call that fails does not say by which game, so each is asked again alone.

A match notes in its heartbeat whom it is asking. A process that watches it can therefore end one that hangs, and give
the next attempt a `RetryPlan`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.agent_seats import AgentSeats
from borneo_agents.arena.play.calls import ILLEGAL, LONGEST_REASON, CallFailed, Fault, Heartbeat
from borneo_agents.arena.play.outcomes import Forfeit, PlayedChunk, Trace, outcome_type
from borneo_env import outcomes
from borneo_env.agent import Agent, Views, WrongAnswer
from borneo_env.engine.batch import Batch
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import CHOICES, NOBODY, copy_games
from kontor.files import on_one_line

FIRST_CAPACITY = 256  # actions of a game; doubled when a game needs more
MOST_STALLS = 3  # of a bot in a process of its own: then it is not asked any more in the chunk, since each costs long


@dataclass
class RetryPlan:
    """What earlier attempts at the same chunk have found out. Rounds are numbered from 0."""

    alone: set[int] = field(default_factory=set)  # agents to be asked one game at a time
    forfeits: dict[tuple[int, int], Fault] = field(default_factory=dict)  # by round and game of the chunk
    disqualified: dict[int, tuple[int, Fault]] = field(default_factory=dict)  # agent: from which round on, and why


class Match:
    """The games of some deals, with an agent on every seat.

    Agents that are names are made anew for every instance; one that is an object plays as this one object.
    """

    def __init__(
        self,
        tournament: Tournament,
        deals: range,
        agents: Sequence[str | Agent],
        heartbeat: Heartbeat | None = None,
        plan: RetryPlan | None = None,
    ) -> None:
        self.tournament = tournament
        self.heartbeat = heartbeat or Heartbeat()
        self.plan = plan or RetryPlan()
        self.agent_seats = AgentSeats(tournament, deals, agents, self.heartbeat)
        self.batch = lay_out(tournament, deals)
        self.outcomes = np.zeros(len(self.batch), outcome_type(tournament.ruleset.players))
        self.outcomes["game"] = deals.start * tournament.block + np.arange(len(self.batch))
        self.outcomes["deal"] = self.batch.games["number"]
        self.outcomes["seats"] = self.seats = tournament.seats(deals)
        self.outcomes["start"] = self.batch.games["start"]
        self.outcomes["offender"] = NOBODY
        self.faults: list[Forfeit] = []
        self.stalls: Counter[int] = Counter()  # by agent
        self.traces: dict[tuple[int, str], Trace] = {}
        self.log = np.zeros((len(self.batch), FIRST_CAPACITY), np.int16)
        self.logged = np.zeros(len(self.batch), np.int64)
        self.round = 0

    def play(self) -> PlayedChunk:
        """Play all games to their ends."""
        self.agent_seats.fill([agent for agent, (since, _) in self.plan.disqualified.items() if since == 0])
        rows = np.flatnonzero(self.batch.player != NOBODY)
        while len(rows):
            self.heartbeat.games_over(len(self.batch) - len(rows))
            rows = self._play_round(rows)
            self.round += 1
        self._note_ends()
        actions = [log[:n] for log, n in zip(self.log, self.logged, strict=True)]
        traces, seconds = sorted(self.traces.values()), self.agent_seats.seconds
        return PlayedChunk(self.outcomes, sorted(self.faults), seconds, actions, traces)

    def dismiss(self) -> None:
        """Delete the agents, once the games are safe."""
        self.agent_seats.clear()

    def _play_round(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Play one decision in each of these games; returns those that go on."""
        actions = self.batch.forced()[rows].astype(np.int64)
        asked = np.flatnonzero(actions == NO_ACTION)
        if len(asked):
            actions[asked] = self._answers(rows[asked])
            self._log(rows[asked], actions[asked])
            goes_on = self.outcomes["offender"][rows] == NOBODY
            self._send_ends(rows[~goes_on])
            rows, actions = rows[goes_on], actions[goes_on]
        outcomes.step(self.batch, rows, actions, self.outcomes)
        goes_on = self.batch.games["player"][rows] != NOBODY
        self._send_ends(rows[~goes_on])
        left: NDArray[np.intp] = rows[goes_on]
        return left

    # ------------------------------------------------------------ asking

    def _answers(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """A legal action for each game, or any number where the game is lost by a fault."""
        actions = np.zeros(len(rows), np.int64)
        games, mask, dice = self.batch.view(rows)
        instances = self.agent_seats.instance_at[rows, self.batch.games["player"][rows]]
        order = instances.argsort(kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(instances[order])) + 1):
            views = Views(
                self.tournament.ruleset, copy_games(games, mine), mask[mine], dice[mine]
            )  # shared with nobody
            actions[mine] = self._ask(int(instances[mine[0]]), rows[mine], views)
        self._judge(rows, actions)
        return actions

    def _ask(self, instance: int, rows: NDArray[np.intp], views: Views) -> NDArray[np.int64]:
        """What an instance of an agent answers for each game, or any number where it has lost it."""
        agent = int(self.agent_seats.agent_of[instance])
        if len(rows) > 1 and agent not in self.plan.alone and not self._disqualified(agent):
            try:
                return self.agent_seats.ask(instance, views, self.round, rows)
            except CallFailed:
                pass
        return self._ask_alone(instance, rows, views)

    def _ask_alone(self, instance: int, rows: NDArray[np.intp], views: Views) -> NDArray[np.int64]:
        actions = np.zeros(len(rows), np.int64)
        agent = int(self.agent_seats.agent_of[instance])
        for i, row in enumerate(rows):
            known = self._disqualified(agent) or self.plan.forfeits.get((self.round, int(row)))
            if known:
                self._forfeit(row, known)
                continue
            try:
                actions[i] = self.agent_seats.ask(instance, _one(views, i), self.round, rows[i : i + 1])[0]
            except CallFailed as failure:
                self._forfeit(row, failure.fault)
                self._note_stall(agent, failure)
        return actions

    def _disqualified(self, agent: int) -> Fault | None:
        """Why an agent is asked no more, if it is not."""
        since, fault = self.plan.disqualified.get(agent, (self.round + 1, None))
        return fault if since <= self.round else None

    def _note_stall(self, agent: int, failure: CallFailed) -> None:
        """Disqualify a bot whose process too often gives no answer; the pool does so where an agent hangs in ours."""
        self.stalls[agent] += failure.stalled
        if failure.stalled and self.stalls[agent] == MOST_STALLS:
            self.plan.disqualified[agent] = self.round, failure.fault.because("not asked any more in this chunk")

    def _judge(self, rows: NDArray[np.intp], actions: NDArray[np.int64]) -> None:
        """Games with an illegal action are lost."""
        mask = self.batch.mask
        known = (actions >= 0) & (actions < mask.shape[1])
        wrong = ~known | ~mask[rows, np.where(known, actions, 0)]
        for row, action in zip(rows[wrong], actions[wrong], strict=True):
            if self.outcomes["offender"][row] == NOBODY:
                move = self.batch.actions.text(int(action), self.batch.phase_name(row))
                legal = ", ".join(self.batch.legal_moves(int(row)))
                self._forfeit(row, Fault(ILLEGAL, f"{move!r} is not legal here; legal are: {legal}"))

    def _send_ends(self, rows: NDArray[np.intp]) -> None:
        """Send bots in processes of their own how their games have ended."""
        if not len(rows):
            return
        scores, places = self.batch.scores()[rows].tolist(), self._places(rows).tolist()
        for row, points, order in zip(rows.tolist(), scores, places, strict=True):
            offender = int(self.outcomes["offender"][row])
            lost_by = None if offender == NOBODY else offender
            for seat, instance in enumerate(self.agent_seats.instance_at[row].tolist()):
                self.agent_seats.game_over(instance, row, seat, points, order, lost_by)

    # ------------------------------------------------------------ keeping

    def _forfeit(self, row: np.intp, fault: Fault) -> None:
        """The player to decide loses this game now."""
        seat = int(self.batch.games["player"][row])
        game, agent = int(self.outcomes["game"][row]), int(self.seats[row, seat])
        if self.heartbeat.debugging:
            name = self.tournament.agents[agent]
            raise WrongAnswer(f"{name}, in game {game} at decision {self.round}: {fault.reason}")
        self.outcomes["offender"][row] = seat
        self.faults.append(Forfeit(game, seat, agent, fault.kind, on_one_line(fault.reason, LONGEST_REASON)))
        if fault.trace:
            self.traces.setdefault((agent, fault.kind), Trace(agent, fault.kind, game, fault.trace))

    def _log(self, rows: NDArray[np.intp], actions: NDArray[np.int64]) -> None:
        """Write down what was chosen in games that are not lost by a fault."""
        goes_on = self.outcomes["offender"][rows] == NOBODY
        rows = rows[goes_on]
        if self.logged.max() == self.log.shape[1]:
            self.log = np.concatenate([self.log, np.zeros_like(self.log)], 1)
        self.log[rows, self.logged[rows]] = actions[goes_on]
        self.logged[rows] += 1
        self.outcomes["decisions"][rows, self.batch.games["player"][rows]] += 1

    def _note_ends(self) -> None:
        """Write down how the games stand now."""
        self.outcomes["scores"], self.outcomes["places"] = self.batch.scores(), self._places(slice(None))
        for declared in outcomes.FIELDS:
            if declared.at_end:
                self.outcomes[declared.name] = declared.at_end(self.batch)

    def _places(self, rows: NDArray[np.intp] | slice) -> NDArray[np.int8]:
        """(rows, players): the places now; a seat that has lost by a fault is last, and the others share the first."""
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
