"""The command `borneo arena`."""

from __future__ import annotations

import json
import shlex
import sys
from bdb import BdbQuit
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import typer

from borneo_env.console import (
    LET_RAISE,
    AsJson,
    Seed,
    err,
    out,
    progress_bar,
    say,
    with_ruleset,
)
from borneo_env.ruleset import Ruleset
from kontor.files import in_short

Cluster = Annotated[
    str | None, typer.Option(metavar="local|ADDRESS", help="Let a cluster of Ray play (needs the extra `ray`).")
]


@with_ruleset()
def arena(
    agents: Annotated[
        list[str], typer.Argument(help="Who plays: names such as random, or my_bot:MyBot.", show_default=False)
    ],
    games: Annotated[int, typer.Option(help="How many games; rounded up so that seats and deals are fair.")] = 2000,
    seed: Seed = 0,
    out_folder: Annotated[
        Path | None, typer.Option("--out", help="Folder for games and results; a stopped run goes on there.")
    ] = None,
    lineups: Annotated[
        str | None, typer.Option(help="round-robin, one-vs, challenge or mixed; by default one that suits the agents.")
    ] = None,
    until_decided: Annotated[
        str | None, typer.Option(metavar="A,B", help="Stop when it is decided whether A is better than B.")
    ] = None,
    effect: Annotated[float, typer.Option(help="What counts as better: so much above a half of the meetings.")] = 0.05,
    errors: Annotated[float, typer.Option(help="Chance of a wrong decision, for yes and no alike.")] = 0.05,
    records: Annotated[bool, typer.Option("--records", help="Write a record of every game.")] = False,
    replays: Annotated[bool, typer.Option("--replays", help="And a page of every game for a browser.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Remove the run in the folder and start anew.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores by default.", min=1)] = None,
    cluster: Cluster = None,
    chunk: Annotated[int | None, typer.Option(help="Games played side by side; few for slow agents.")] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for a decision; who needs more loses the game.")] = 5.0,
    isolate: Annotated[bool, typer.Option("--isolate", help="Every agent in a process of its own.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Let the first fault of an agent raise, in this process: for a debugger.")
    ] = False,
    as_json: AsJson = False,
    **rules: Any,
) -> None:
    """Measure agents against each other, on the same deals and from all seats."""
    from borneo_agents.arena import ArenaConfig, ArenaResult, ArenaStopped, play_arena
    from borneo_agents.arena.report.terminal import watching

    command = shlex.join(["borneo", *sys.argv[1:]])
    config = ArenaConfig(
        ruleset=Ruleset(**rules), games=games, seed=seed, lineups=lineups,
        out=out_folder, fresh=fresh, jobs=jobs, cluster=cluster, chunk=chunk, time_limit=time_limit, isolate=isolate,
        until_decided=_pair(until_decided) if until_decided else None, effect=effect, alpha=errors, beta=errors,
        records=records or replays, debug=debug, command=command,
    )  # fmt: skip
    if out_folder is not None and find_spec("matplotlib") is None:
        say("The report will have no plots: matplotlib is missing; pip install '.[arena]' in the project's folder.")
    result: ArenaResult | None
    with _faults_raising() if debug else watching() as watch:
        try:
            result = play_arena(agents, config, watch=watch)
        except ArenaStopped as stopped:
            result = stopped.result
    if replays and result is not None and result.complete:
        _write_replays(result, out_folder, command)
    _print(result, command, as_json)
    _say_what_is_kept(result, games, out_folder)


def _pair(agents: str) -> tuple[str, str]:
    names = [name.strip() for name in agents.split(",")]
    if len(names) != 2:
        raise ValueError(f"--until-decided wants two agents with a comma between them, not {in_short(agents)}")
    return names[0], names[1]


def _write_replays(result: Any, folder: Path | None, command: str) -> None:
    """The pages, and then the report anew, with links to them."""
    from borneo_agents.arena.report.replays import write_replays

    assert folder is not None  # without one, there are no records
    with progress_bar() as progress:
        write_replays(folder, lambda records: progress.track(records, description="replays"))
    result.write(folder, command)


def _print(result: Any, command: str, as_json: bool) -> None:
    """The tables, or JSON with the faults beside it."""
    from borneo_agents.arena.report.terminal import print_result
    from borneo_agents.arena.report.words import fault_lines

    if not as_json:
        if result is not None:
            print_result(out, result)
        return
    print(json.dumps(result and result.as_dict(command)))
    for line in fault_lines(result) if result else ():
        say(line, style="red")


@contextmanager
def _faults_raising() -> Iterator[None]:
    """What an agent raises is left to a debugger; without one, its own lines are shown and none of ours."""
    from kontor.traces import traceback_of

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if hasattr(error, LET_RAISE):
            err.print(traceback_of(error, str(Path.cwd())), markup=False, highlight=False, soft_wrap=True)
        else:
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = show
    try:
        yield
    except BdbQuit:  # the user has left the debugger
        raise typer.Exit(1) from None
    except (KeyboardInterrupt, SystemExit) as error:  # Ctrl-C is the way to see where an agent hangs
        show(type(error), error, None)
        raise typer.Exit(1) from None


def _say_what_is_kept(result: Any, asked: int, folder: Path | None) -> None:
    if result is None or not result.complete:
        kept = "nothing is finished yet" if result is None else f"{len(result.outcomes):,} games are finished"
        again = f"the same command goes on with {folder}" if folder else "give --out to go on later"
        say(f"Stopped: {kept}; {again}.")
        raise typer.Exit(130)
    if result.tournament.games != asked:
        block = result.tournament.block
        say(f"{asked:,} games were rounded up to whole blocks of {block}: one deal, all line-ups, all seats.")
    if folder:
        say(f"All is in {folder}: report.html, results.json and games.csv.")
