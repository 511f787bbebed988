"""play_arena: agents against each other, from the first deal to the tables."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.design.config import ArenaConfig, TournamentError
from borneo_agents.arena.design.tournament import Tournament, tournament
from borneo_agents.arena.play.in_process import play_in_process
from borneo_agents.arena.play.isolated import instantiate_agent
from borneo_agents.arena.play.outcomes import PlayedChunk, Trace, outcome_type
from borneo_agents.arena.report.tables import Comparison, Progress
from borneo_agents.arena.report.words import trace_words
from borneo_agents.arena.result import ArenaResult
from borneo_agents.arena.store.folder import Folder, settings_of
from borneo_agents.arena.store.records import write_records
from borneo_agents.arena.store.scratch import scratch_folder
from borneo_agents.arena.store.sources import digest_of
from borneo_agents.arena.workers.pool import ArenaError, WorkerPool
from borneo_agents.protocol.agent import ProcessAgent
from borneo_agents.statistics.results import blocks, finished_games
from borneo_agents.statistics.sequential import UNDECIDED, Verdict, sequential_test
from borneo_env.agent import Agent, check_agents
from borneo_env.engine.batch import Batch
from borneo_env.ruleset import Ruleset

PAR = 0.5  # of "placed before the other", if they are equal

Agents = Mapping[str, str | Agent]
Watch = Callable[[Progress], None]
Coming = Iterator[tuple[int, PlayedChunk | None]]  # how many games of unfinished chunks are over; a finished chunk


class ArenaStopped(KeyboardInterrupt):
    """Ctrl-C; `result` has what was played until then, or None if that is nothing."""

    def __init__(self, result: ArenaResult | None) -> None:
        super().__init__()
        self.result = result


def play_arena(
    agents: Sequence[str | Agent] | Mapping[str, str | Agent],
    config: ArenaConfig | Ruleset | None = None,
    *,
    watch: Watch | None = None,
    **settings: Any,
) -> ArenaResult:
    """Play agents against each other on the same deals from all seats.

    Arguments:
        agents: names (see `borneo_env.agent`), or agents themselves; a mapping gives them names of your own. An
            agent given by name is made anew for every seat, so that no object sees two hands of a deal. One that is
            an object plays all its seats as this one object, which could pool what it sees: that is up to you.
        config: the settings; or a ruleset.
        watch: is called with the progress of the run, many times a second.
        settings: in place of a config its fields by name (`games=200, seed=1`), and in place of a ruleset its own
            (`players=3`).

    Nothing here depends on `jobs` or `cluster`; nor on `chunk`, if the agents decide by the views they are given and
    nothing else.

    An agent that fails in whatever way loses that game, and the run goes on. But an agent is code, and runs with your
    rights: play only agents that you would run.
    """
    config, named = ArenaConfig.of(config, settings), _named(agents)
    by_name = all(isinstance(agent, str) and agent == name for name, agent in named.items())
    in_process = config.debug or config.jobs == 0 or not by_name
    _check_places(config, named, in_process)
    found = {name: _introduced(agent, config.isolate) for name, agent in named.items()}
    question = _question(config, list(found))
    check_agents(found, config.ruleset)
    with contextlib.ExitStack() as stack:
        folder = _folder(config, in_process, stack)
        plan = _tournament_in(config, found, folder)
        run = _Run(plan, folder, question, watch)
        try:
            missing = run.missing()
            if missing and not run.decided():
                if folder is None or in_process:
                    run.play(_by_this_process(plan, folder, missing, list(named.values()), config))
                else:
                    run.play(_by_others(plan, folder, missing, found, config, stack))
        except KeyboardInterrupt:
            if config.debug:
                raise  # it says where the agent was
            raise ArenaStopped(run.result(complete=False)) from None
        result = run.result(complete=True)
        assert result is not None
        if config.out is not None:
            result.write(config.out, config.command)
        return result


# ---------------------------------------------------------------- before the first game


def _named(agents: Sequence[str | Agent] | Mapping[str, str | Agent]) -> dict[str, str | Agent]:
    if isinstance(agents, Mapping):
        return dict(agents)
    names = [agent if isinstance(agent, str) else type(agent).__name__ for agent in agents]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TournamentError(
            f"{twice[0]} is there twice; results could not tell the two apart. Name each once: it sits down as often "
            "as the table has room. In Python, give a mapping of names"
        )
    return dict(zip(names, agents, strict=True))


def _check_places(config: ArenaConfig, named: Agents, in_process: bool) -> None:
    """Refuse agents that cannot play where they should."""
    if config.cluster is not None and in_process:
        raise TournamentError(
            "a cluster plays agents by their names, in processes of its own: give names, and no `debug`"
        )
    if config.isolate and (config.debug or any(not isinstance(agent, str) for agent in named.values())):
        raise TournamentError("isolated agents have processes of their own: give their names, and leave `debug` away")


def _introduced(agent: str | Agent, isolate: bool) -> Agent:
    """An agent; one with a process of its own has said who it is."""
    found = instantiate_agent(agent, isolate)
    if isinstance(found, ProcessAgent):
        found.meet()
    return found


def _question(config: ArenaConfig, agents: list[str]) -> Comparison | None:
    pair = config.until_decided
    if pair is None:
        return None
    if len(set(pair)) != 2 or not set(pair) <= set(agents):
        raise TournamentError(f"two different agents of {', '.join(agents)} can be compared, not {', '.join(pair)}")
    return Comparison(*pair, config.effect, config.alpha, config.beta)


def _folder(config: ArenaConfig, in_process: bool, stack: contextlib.ExitStack) -> Folder | None:
    """Where games are kept: workers leave theirs in a scratch folder if there is no other."""
    if config.out is not None:
        folder = Folder(config.out)
        if config.fresh:
            folder.clear()
        return folder
    if in_process:
        return None
    return stack.enter_context(scratch_folder())


def _tournament_in(config: ArenaConfig, found: Mapping[str, Agent], folder: Folder | None) -> Tournament:
    """The tournament to be played, which may be the one that is in the folder."""
    plan = tournament(list(found), config, folder.deals_per_chunk() if folder and config.chunk is None else None)
    if folder:
        folder.open(settings_of(plan, {name: digest_of(agent) for name, agent in found.items()}, config.records))
    for agent in found.values():
        if isinstance(agent, ProcessAgent):  # games are played by others of this name
            agent.close()
    return plan


# ---------------------------------------------------------------- chunks


def _by_this_process(
    plan: Tournament, folder: Folder | None, chunks: list[range], agents: Sequence[str | Agent], config: ArenaConfig
) -> Coming:
    """Chunks that this process plays, and keeps in the folder."""
    for played in play_in_process(plan, chunks, agents, config.debug):
        if folder and config.records:
            write_records(folder.path, plan, played)
        if folder:
            folder.save(played)
        yield 0, played


def _by_others(
    plan: Tournament,
    folder: Folder,
    chunks: list[range],
    found: Mapping[str, Agent],
    config: ArenaConfig,
    stack: contextlib.ExitStack,
) -> Coming:
    """Chunks that workers or machines of a cluster leave in the folder."""
    Batch(1, plan.ruleset).play_random(1)  # if the rules must be compiled, this says so
    pool: Any
    if config.cluster is None:
        pool = WorkerPool(plan, folder, config)
    else:
        from borneo_agents.arena.ray.cluster import ClusterPool  # which needs ray

        pool = ClusterPool(plan, folder, config, found)
    for under_way, deals in stack.enter_context(pool).play(chunks):
        played = folder.load(plan, deals) if deals else None
        if deals and not played:
            raise ArenaError(f"the games of deal {deals.start} and on were played, but cannot be read in {folder.path}")
        yield under_way, played


class _Run:
    """The chunks of a run, as they come in."""

    def __init__(
        self, plan: Tournament, folder: Folder | None, question: Comparison | None, watch: Watch | None
    ) -> None:
        self.plan = plan
        self.folder = folder
        self.question = question
        self.watch = watch
        self.played: dict[int, PlayedChunk] = {}  # by the first deal
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
                self.played[played.deals.start] = played
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

    def decided(self) -> bool:
        """Whether the games played so far decide the question."""
        verdict = self.verdict()
        return verdict is not None and verdict.state != UNDECIDED

    def verdict(self) -> Verdict | None:
        """Where the question stands after the games that were played without a gap from the first deal."""
        games = self.outcomes[self.outcomes["game"] == np.arange(len(self.outcomes))]
        if self.question is None or not len(games):
            return None
        q = self.question
        table = finished_games(self.plan.agents, games["seats"], games["places"], games["scores"], games["deal"])
        return sequential_test(blocks(table, q.agent, q.other), PAR, q.effect, q.alpha, q.beta)

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
