"""The command `borneo play`."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from borneo_env.console import AsJson, with_ruleset
from borneo_env.ruleset import Ruleset
from kontor.files import FileError, check_writable, on_one_line


@with_ruleset("edition", "traders", "blackbeard", "tables")
def play(
    seats: Annotated[
        str,
        typer.Option(
            help="Who sits where, in turn order: human, easy, normal, hard or the name of an agent, with commas. "
            "Without a human you watch, turn by turn."
        ),
    ] = "human,normal,normal",
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same deal; chance by default.")] = None,
    saved: Annotated[Path | None, typer.Option("--continue", help="Go on with a game that was saved.")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code of agents named in the saved game that are not registered.")
    ] = False,
    save_to: Annotated[
        Path | None, typer.Option("--save", help="Where to save; by default a new file borneo-game.json.")
    ] = None,
    record_file: Annotated[Path | None, typer.Option("--record", help="Write the finished game as a record.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Make every choice at once, without confirmation.")] = False,
    as_json: AsJson = False,
    **rules: Any,
) -> None:
    """Play Borneo here in the terminal, against agents or several people at one keyboard."""
    from borneo_agents.human.game import Game
    from borneo_agents.human.terminal import Terminal, free_name
    from borneo_env.engine.batch import fresh_seed
    from borneo_env.record import write_record

    if saved is not None:
        game = Game.load(saved, trusted=trust)
    else:
        names = [name.strip() for name in seats.split(",")]
        game = Game(Ruleset(players=len(names), **rules), names, fresh_seed() if seed is None else seed)
    save_to = save_to or saved or free_name(Path("borneo-game.json"))
    for path in filter(None, (save_to, record_file)):
        check_writable(path)  # before hours of play, not after
    shown = sys.stderr if as_json else sys.stdout
    for stream in (sys.stdin, shown):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an odd byte must not end the game
    finished = Terminal(game, save_to, typed=sys.stdin, shown=shown, confirm=not yes).run()
    if finished and record_file is not None:
        try:
            write_record(record_file, game.lines)
        except FileError as error:
            game.save(save_to)
            raise ValueError(f"{error}; the game is in {save_to}: continue it with another --record") from None
    if finished:
        print(replay_words(record_file), file=shown)
    if as_json:
        result = game.lines[-1] if finished else None
        print(json.dumps({"seats": game.seats, "result": result, "saved": None if finished else str(save_to)}))


def replay_words(record_file: Path | None) -> str:
    """How a game that is over can be seen again."""
    if record_file is None:
        return "Next time, `--record FILE` keeps the game: then `borneo replay FILE` shows it again, move by move."
    return on_one_line(f"`borneo replay {shlex.quote(str(record_file))}` shows the game again, move by move.")
