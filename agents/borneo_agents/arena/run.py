"""play_arena: agents against each other, from the first deal to the tables."""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.folder import Folder, settings_of
from borneo_agents.arena.here import play_here
from borneo_agents.arena.isolated import made
from borneo_agents.arena.match import Played, Trace, outcome_type
from borneo_agents.arena.result import ArenaResult
from borneo_agents.arena.sources import digest_of
from borneo_agents.arena.tables import Question
from borneo_agents.arena.tournament import Tournament, TournamentError, tournament
from borneo_agents.arena.words import trace_words
from borneo_agents.arena.workers import ArenaError, Workers
from borneo_agents.protocol.agent import ProcessAgent
from borneo_agents.statistics.results import blocks, results
from borneo_agents.statistics.sequential import UNDECIDED, SequentialTest, Verdict
from borneo_env.agent import Agent, check_agents
from borneo_env.engine.batch import Batch
from borneo_env.engine.threads import available_cores
from borneo_env.ruleset import Ruleset

TIME_LIMIT = 5.0  # seconds for a decision
EFFECT, ALPHA, BETA = 0.05, 0.05, 0.05
PAR = 0.5  # of "placed before the other", if they are equal


@dataclass
class Progress:
    """Where a run stands."""

    tournament: Tournament
    kept: int  # games that were there from an earlier run
    finished: int  # games, those of unfinished chunks included
    outcomes: NDArray[np.void]  # of the finished chunks


class Stopped(KeyboardInterrupt):
    """Ctrl-C; `result` has what was played until then, or None if that is nothing."""

    def __init__(self, result: ArenaResult | None) -> None:
        super().__init__()
        self.result = result


def play_arena(
    agents: Sequence[str | Agent] | Mapping[str, str | Agent],
    ruleset: Ruleset | None = None,
    *,
    games: int = 2000,
    seed: int = 0,
    lineups: str | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    cluster: str | None = None,
    chunk: int | None = None,
    time_limit: float = TIME_LIMIT,
    warm_up_limit: float | None = None,
    isolate: bool = False,
    until_decided: tuple[str, str] | None = None,
    effect: float = EFFECT,
    alpha: float = ALPHA,
    beta: float = BETA,
    records: bool = False,
    debug: bool = False,
    command: str | None = None,
    watch: Callable[[Progress], None] | None = None,
    **fields: Any,
) -> ArenaResult:
    """Play agents against each other on the same deals from all seats. (Long by its arguments, which are told here.)

    Arguments:
        agents: names (see `borneo_env.agent`), or agents themselves; a mapping gives them names of your own. An
            agent given by name is made anew for every seat, so that no object sees two hands of a deal. One that is
            an object plays all its seats as this one object, which could pool what it sees: that is up to you.
        ruleset: the ruleset; or give its fields (`players=3, edition="card"`) as keywords.
        games: how many at least: whole blocks are played (see `tournament`).
        lineups: "round-robin", "one-vs", "challenge" or "mixed"; without it, one that suits the number of agents.
        out: folder for games and results (report.html, results.json, games.csv); a run that was stopped goes on
            there, with `fresh` it begins anew.
        jobs: how many processes play; all cores by default. 0 plays in this process, as agents that are
            objects always do: then one that hangs cannot be stopped.
        cluster: "local", or the address of a cluster of Ray whose machines play (needs the extra `ray`).
        seed: decides all deals. Nothing an agent is handed tells it, but who guesses it can deal the cards himself:
            keep it secret in a contest with agents of strangers.
        chunk: how many games are played side by side. Agents are made anew for each chunk of them.
        time_limit: seconds for a decision; a call for n games may take n times as long.
        warm_up_limit: seconds for an agent's first call, before the games; by default it follows the time limit.
        isolate: give every agent a process of its own, which is sent what its seat may know and cannot reach the
            games. Agents that are objects play in this process: give names.
        until_decided: (A, B) stops as soon as it is known whether A is placed before B more often than not, by
            `effect` at least; `alpha` is the chance of a wrong yes, `beta` that of a wrong no.
        records: write a record of every game to `out`.
        debug: play in this process, and let the first fault of an agent raise, so that a debugger stops there.
        command: what stands in the report as the command that made it.
        watch: is told how far the run is, many times a second.

    Nothing here depends on `jobs` or `cluster`; nor on `chunk`, if the agents decide by the views they are given and
    nothing else.

    An agent that fails in whatever way loses that game, and the run goes on. But an agent is code, and runs with your
    rights: play only agents that you would run.
    """
    named = _named(agents)
    found = {name: _met(agent, isolate) for name, agent in named.items()}
    here = debug or jobs == 0 or any(not isinstance(agent, str) or agent != name for name, agent in named.items())
    if jobs is not None and jobs < 0:
        raise TournamentError(f"jobs is a number from 0, not {jobs}")
    if records and out is None:
        raise TournamentError("records need a folder: give `out`")
    if cluster is not None and here:
        raise TournamentError(
            "a cluster plays agents by their names, in processes of its own: give names, and no `debug`"
        )
    if isolate and (debug or any(not isinstance(agent, str) for agent in named.values())):
        raise TournamentError("isolated agents have processes of their own: give their names, and leave `debug` away")
    if debug and out is not None:
        raise TournamentError("a run with `debug` keeps no games: leave `out` away")
    question = Question(*_pair(until_decided, list(found)), effect, alpha, beta) if until_decided else None
    ruleset = Ruleset.given(ruleset, fields)
    check_agents(found, ruleset)
    with contextlib.ExitStack() as stack:
        scratch = out is None and not here  # where workers leave their games
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="borneo-arena-")) if scratch else out
        folder = None if place is None else Folder(place)
        if folder and fresh:
            folder.clear()
        plan = tournament(
            list(found), ruleset, games, seed=seed, lineups=lineups, chunk=chunk,
            time_limit=time_limit, isolate=isolate,
            deals_per_chunk=folder.deals_per_chunk() if folder and chunk is None else None,
        )  # fmt: skip
        if folder:
            folder.open(settings_of(plan, {name: digest_of(agent) for name, agent in found.items()}, records))
        _let_go(found)
        run = _Run(plan, folder, question, watch)
        try:
            missing = run.missing()
            if run.decided() or not missing:
                pass
            elif folder is None or here:
                run.play(play_here(plan, folder, missing, list(named.values()), records, debug))
            else:
                Batch(1, plan.ruleset).play_random(1)  # if the rules must be compiled, this says so
                players = stack.enter_context(
                    _players(
                        plan, folder, jobs, cluster, found, records=records, warm_up_limit=warm_up_limit,
                        scratch=scratch,
                    )
                )  # fmt: skip
                run.play(_played(plan, folder, players.play(missing)))
        except KeyboardInterrupt:
            if debug:
                raise  # it says where the agent was
            raise Stopped(run.result(complete=False)) from None
        result = run.result(complete=True)
        assert result is not None
        if out is not None:
            result.write(out, command)
        return result


def _players(
    plan: Tournament,
    folder: Folder,
    jobs: int | None,
    cluster: str | None,
    found: Mapping[str, Agent],
    *,
    records: bool,
    warm_up_limit: float | None,
    scratch: bool,
) -> Any:
    """Who plays the chunks: processes of this machine, or machines of a cluster."""
    if cluster is None:
        jobs = jobs or available_cores()
        return Workers(plan, folder, jobs, records=records, warm_up_limit=warm_up_limit, scratch=scratch)
    from borneo_agents.arena.cluster import Nodes  # which needs ray

    return Nodes(cluster, plan, found, folder, jobs, records=records, warm_up_limit=warm_up_limit)


Coming = Iterator[tuple[int, Played | None]]  # how many games of unfinished chunks are over, and a finished chunk


class _Run:
    """The chunks of a run, as they come in."""

    def __init__(
        self,
        plan: Tournament,
        folder: Folder | None,
        question: Question | None,
        watch: Callable[[Progress], None] | None,
    ) -> None:
        self.plan = plan
        self.folder = folder
        self.question = question
        self.watch = watch
        self.played: dict[int, Played] = {}  # by the first deal
        for deals in plan.chunks:
            found = folder and folder.load(plan, deals)
            if found:
                self.played[deals.start] = found
        self.logged: set[tuple[int, str]] = set()  # the faults, by agent and kind, whose traceback is in the log
        self.outcomes = self._joined()
        self.kept = len(self.outcomes)

    def missing(self) -> list[range]:
        return [deals for deals in self.plan.chunks if deals.start not in self.played]

    def play(self, coming: Coming) -> None:
        """Take in chunks until all are there, or the question is decided."""
        for under_way, played in coming:
            if played is not None:
                self.played[int(played.outcomes["deal"][0])] = played
                self._log(played.traces)
                self.outcomes = self._joined()
                if self.decided():
                    break
            if self.watch:
                self.watch(Progress(self.plan, self.kept, len(self.outcomes) + under_way, self.outcomes))

    def _log(self, traces: Sequence[Trace]) -> None:
        """Write the first traceback of each kind beside what agents have printed."""
        for trace in traces:
            if self.folder and (trace.agent, trace.kind) not in self.logged:
                self.logged.add((trace.agent, trace.kind))
                self.folder.log(f"{trace_words(self.plan, trace)}:\n{trace.text}")

    def _joined(self) -> NDArray[np.void]:
        """The games of all finished chunks, in the order of the deals."""
        tables = [self.played[first].outcomes for first in sorted(self.played)]
        return np.concatenate([np.zeros(0, outcome_type(self.plan.ruleset.players)), *tables])

    def decided(self) -> Verdict | None:
        """The verdict, if the games played without a gap from the first deal decide the question."""
        verdict = self.verdict()
        return verdict if verdict and verdict.state != UNDECIDED else None

    def verdict(self) -> Verdict | None:
        games = self._without_gap()
        if self.question is None or not len(games):
            return None
        q = self.question
        table = results(self.plan.agents, games["seats"], games["places"], games["scores"], games["deal"])
        return SequentialTest(PAR, q.effect, q.alpha, q.beta, tuple(blocks(table, q.agent, q.other))).verdict()

    def _without_gap(self) -> NDArray[np.void]:
        whole: NDArray[np.void] = self.outcomes[self.outcomes["game"] == np.arange(len(self.outcomes))]
        return whole

    def result(self, complete: bool) -> ArenaResult | None:
        """What there is; if the question was decided, no more than it took, however much more was played."""
        outcomes, verdict = self.outcomes, self.verdict()
        if verdict and verdict.decided_after:
            deals = np.unique(outcomes["deal"])[: verdict.decided_after]
            outcomes = outcomes[outcomes["deal"] <= deals[-1]]
            complete = True
        if not len(outcomes):
            return None
        games = set(outcomes["game"].tolist())
        faults = tuple(f for first in sorted(self.played) for f in self.played[first].faults if f.game in games)
        traces = [t for first in sorted(self.played) for t in self.played[first].traces if t.game in games]
        first_traces = tuple({(trace.agent, trace.kind): trace for trace in reversed(traces)}.values())[::-1]
        seconds = np.sum([played.seconds for played in self.played.values()], 0)
        return ArenaResult(self.plan, outcomes, faults, seconds, complete, self.question, verdict, first_traces)


def _played(plan: Tournament, folder: Folder, coming: Iterator[tuple[int, range | None]]) -> Coming:
    """The chunks that workers have left in the folder."""
    for under_way, deals in coming:
        played = folder.load(plan, deals) if deals else None
        if deals and not played:
            raise ArenaError(f"the games of deal {deals.start} and on were played, but cannot be read in {folder.path}")
        yield under_way, played


def _named(agents: Sequence[str | Agent] | Mapping[str, str | Agent]) -> dict[str, str | Agent]:
    if isinstance(agents, Mapping):
        return dict(agents)
    names = [agent if isinstance(agent, str) else type(agent).__name__ for agent in agents]
    for name in names:
        if names.count(name) > 1:
            once = list(dict.fromkeys(names))
            if len(once) == 1:
                once.append("random" if name == "merchant" else "merchant")
            raise TournamentError(
                f"{name} is there twice; results could not tell the two apart. Name each once, and it sits down as "
                f"often as the table has room: borneo arena {shlex.join(once)}. In Python, give a mapping of names"
            )
    return dict(zip(names, agents, strict=True))


def _met(agent: str | Agent, isolate: bool) -> Agent:
    """An agent; one with a process of its own has said who it is."""
    found = made(agent, isolate)
    if isinstance(found, ProcessAgent):
        found.meet()
    return found


def _let_go(found: Mapping[str, Agent]) -> None:
    """End the processes of agents that are only named here: games are played by others."""
    for agent in found.values():
        if isinstance(agent, ProcessAgent):
            agent.close()


def _pair(pair: tuple[str, str], agents: list[str]) -> tuple[str, str]:
    strangers = [name for name in pair if name not in agents]
    if strangers or len(set(pair)) != 2:
        raise TournamentError(f"two different agents of {', '.join(agents)} can be compared, not {', '.join(pair)}")
    return pair
