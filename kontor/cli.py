"""The `kontor` command: what is about games in general."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from kontor.game import find_game, game_names

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Games as plain Python: check one, begin one.")

GAME = "The name of an installed game, my_game.py:MY_GAME or package.module:MY_GAME."
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def games(as_json: AsJson = False) -> None:
    """List the games that are installed."""
    found = {name: find_game(name) for name in sorted(game_names())}
    if as_json:
        print(json.dumps([{"name": name, "title": one.title, "players": list(one.players)}
                          for name, one in found.items()]))  # fmt: skip
        return
    for name, one in found.items():
        print(f"{name:16} {one.title}, for {' or '.join(map(str, one.players))}")
    if not found:
        print("no game is installed; give yours as my_game.py:MY_GAME, or begin one: kontor new-game my_game.py")


@app.command("new-game")
def new_game(
    file: Annotated[Path, typer.Argument(help="The file to write, such as my_game.py.")] = Path("my_game.py"),
    as_json: AsJson = False,
) -> None:
    """Write a small game to begin with, and a test beside it."""
    from kontor.check.new_game import write_new_game

    files = write_new_game(file)
    place = f"{files[0]}:{files[0].stem.upper()}"
    if as_json:
        print(json.dumps({"files": list(map(str, files)), "game": place}))
    else:
        print("\n".join(f"wrote {path}" for path in files))
        print(f"try it: kontor check {place}")


@app.command()
def check(
    game: Annotated[str, typer.Argument(help=GAME)],
    games: Annotated[int, typer.Option(min=1, help="Random games of every ruleset.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the games and of all draws.")] = 0,
    ids: Annotated[Path | None, typer.Option(help="Keep the ids of actions in this file, or compare with it.")] = None,
    card: Annotated[bool, typer.Option(help="Play on a simulated graphics card, too.")] = True,
    faults: Annotated[bool, typer.Option("--faults", help="Break the rules bit by bit: who notices?")] = False,
    tests: Annotated[Path | None, typer.Option(help="With --faults: your tests, a file for pytest.")] = None,
    most: Annotated[int, typer.Option(min=1, help="With --faults: how many are tried.")] = 60,
    as_json: AsJson = False,
) -> None:
    """Say whether this is a game: ranges, ends, chance, secrets, texts, and the same result everywhere."""
    if faults:
        _check_faults(game, tests, most, seed, as_json)
    else:
        _check_game(game, games, seed, ids, card, as_json)


def _check_game(game: str, games: int, seed: int, ids: Path | None, card: bool, as_json: bool) -> None:
    from kontor.check import check_game

    with _status() as status:
        note = status.update if status else lambda step: None
        report = check_game(game, games, seed, ids=ids, card=card, note=note)
    if as_json:
        print(json.dumps(report.as_dict(), indent=1))
    else:
        _console().print(report.table())
        verdict = "this is a game" if report.ok else f"not a game yet: {', '.join(report.failed_checks())}"
        print(f"{report.game}: {verdict}")
    if not report.ok:
        raise typer.Exit(1)


def _check_faults(game: str, tests: Path | None, most: int, seed: int, as_json: bool) -> None:
    from rich.progress import Progress

    from kontor.check.faults import check_faults

    with Progress(console=_console(stderr=True), transient=True) as progress:
        task = progress.add_task("faults", total=most)
        note = lambda done, every: progress.update(task, completed=done, total=every)  # noqa: E731
        found = check_faults(game, tests=tests, most=most, seed=seed, note=note)
    missed = [fault for fault in found if not fault.noticed]
    if as_json:
        told = [{"fault": str(fault.mutant), "noticed": fault.noticed} for fault in found]
        print(json.dumps({"tried": len(found), "missed": len(missed), "faults": told}, indent=1))
        return
    for fault in missed:
        print(f"nobody noticed  {fault.mutant}")
    print(f"{len(found) - len(missed)} of {len(found)} faults were noticed by {tests or 'the checks and transcripts'}")


def _console(stderr: bool = False) -> Any:
    from rich.console import Console  # which takes a while, and few need it

    return Console(stderr=stderr, width=None if sys.stdout.isatty() else 160)


def _status() -> AbstractContextManager[Any]:
    """A line that says what is being checked, where somebody watches."""
    return _console(stderr=True).status("checking") if sys.stderr.isatty() else nullcontext()


def main() -> None:
    """Run the command; a mistake of the user is one line on stderr."""
    try:
        app()
    except (ValueError, OSError, ModuleNotFoundError) as error:
        sys.exit(f"kontor: {error}")


if __name__ == "__main__":
    main()
