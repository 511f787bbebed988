"""Commands about records of games: `record`, `verify`, `show` and `animate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from borneo_env.cards import COMPANIES
from borneo_env.console import (
    LONGEST_ERROR,
    AsJson,
    Seed,
    in_colour,
    out,
    progress_bar,
    with_ruleset,
)
from borneo_env.pieces import Mention, spoken
from borneo_env.ruleset import Ruleset
from kontor.files import check_writable, counted, make_folder, on_one_line

if TYPE_CHECKING:
    from borneo_env.story import Told

RecordFiles = Annotated[list[Path], typer.Argument(help="Record files (JSON Lines).", show_default=False)]
RecordFile = Annotated[Path, typer.Argument(help="A record file (JSON Lines).", show_default=False)]


@with_ruleset()
def record(
    games: Annotated[int, typer.Option(help="How many games.")] = 1,
    agents: Annotated[
        str, typer.Option(help="Who plays: one name for all seats, or one per seat with commas.")
    ] = "random",
    seed: Seed = 0,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the records; made if need be.")] = Path(
        "out/records"
    ),
    legal: Annotated[bool, typer.Option("--legal", help="Write the legal moves of every decision too.")] = False,
    as_json: AsJson = False,
    **rules: Any,
) -> None:
    """Play games and write each as a record."""
    from borneo_env.agent import seat_names
    from borneo_env.record import record_games, write_record

    ruleset = Ruleset(**rules)
    names = seat_names(agents, ruleset.players)
    if games < 1:
        raise ValueError(f"--games is a number from 1, not {games}")
    written = []
    with progress_bar() as progress:
        task = progress.add_task("games", total=games)
        for first in range(0, games, 100):
            chunk = min(100, games - first)
            played = record_games(ruleset, chunk, seed=seed, agents=names, first=first, legal=legal)
            make_folder(out_folder)
            for number, lines in enumerate(played, start=first):
                path = out_folder / f"{ruleset.name}-seed{seed}-game{number:05}.jsonl"
                write_record(path, lines)
                written.append(path)
            progress.advance(task, chunk)
    if as_json:
        print(json.dumps([str(path) for path in written]))
    else:
        print(on_one_line(f"{len(written)} records of {ruleset.name} in {out_folder}"))


def verify(files: RecordFiles, as_json: AsJson = False) -> None:
    """Replay records through the engine; says file, line and reason where one is wrong, and returns status 1."""
    from borneo_env.record import RecordError, read_record
    from borneo_env.record import verify as replay_all

    verdicts: list[dict[str, Any]] = []
    with progress_bar() as progress:
        for path in progress.track(files, description="records"):
            try:
                scores = replay_all(read_record(path)).scores()[0].tolist()
                verdicts.append({"file": str(path), "ok": True, "scores": scores})
            except RecordError as error:
                verdicts.append({"file": str(path), "ok": False, "line": error.line, "reason": error.reason})
    wrong = [verdict for verdict in verdicts if not verdict["ok"]]
    if as_json:
        print(json.dumps(verdicts))
    else:
        for verdict in wrong:
            print(on_one_line(f"{verdict['file']}: line {verdict['line']}: {verdict['reason']}", LONGEST_ERROR))
        print(f"{len(verdicts) - len(wrong)} of {len(verdicts)} records are right")
    raise typer.Exit(1 if wrong else 0)


def show(
    file: RecordFile,
    everything: Annotated[bool, typer.Option("--all", help="Tell every choice to decline, forced ones too.")] = False,
    at: Annotated[int | None, typer.Option(help="Show the board after so many moves instead; 0 is the deal.")] = None,
    png: Annotated[Path | None, typer.Option(help="Draw the board there (needs the extra `render`).")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the board there.")] = None,
    legend: Annotated[bool, typer.Option("--legend", help="Say below a picture what the signs mean.")] = False,
    as_json: AsJson = False,
) -> None:
    """Tell a recorded game in words, move by move; or show its board after some moves, as text or as a picture.

    A picture without --at is that of the end.
    """
    from borneo_env.record import RecordError, read_record
    from borneo_env.story import story

    told: list[str] = []
    try:
        lines = read_record(file)
        pictures = [path for path in (png, svg) if path]
        if legend and not pictures:
            raise ValueError("--legend belongs to a picture: add --png FILE or --svg FILE")
        if at is not None or pictures:
            _show_board(lines, at, pictures, legend, as_json)
            return
        for line in story(lines, forced=everything):
            told.append(line.line())
            if not as_json:
                print_told(line)
    except RecordError as error:
        raise ValueError(f"{file}: {error}") from None
    if as_json:
        print(json.dumps(told))


def _show_board(
    lines: Sequence[dict[str, Any]], at: int | None, paths: Sequence[Path], legend: bool, as_json: bool
) -> None:
    """Show the board after `at` moves of a record, or at its end; or write it as pictures."""
    from borneo_env.pieces import plain
    from borneo_env.record import replay
    from borneo_env.render import Picture
    from borneo_env.story import agent_names, deed

    names = agent_names(lines[0]["agents"]) if lines else []
    moves, picture = 0, None
    for moment in replay(lines):
        ruleset = moment.batch.ruleset
        if picture is None:
            picture, last_move = Picture(ruleset, moment.before, None, "", names, legend=legend), ""
        if moment.kind == "move":
            if moves == at:
                break
            moves += 1
            last_move = plain(deed(ruleset, moment.before, moment.line["player"], moment.move), names)
        picture = Picture(ruleset, moment.after, None, last_move, names, legend=legend)
    if at not in (None, moves) or picture is None:
        raise ValueError(f"--at is a number of moves: this game has {moves}, so from 0 to {moves}, not {at}")
    for path in paths:
        picture.save(path)
    if as_json:
        print(json.dumps({"moves": moves, "last_move": last_move, "pictures": [str(path) for path in paths]}))
    elif paths:
        print(*(on_one_line(f"{path}: the board after {counted(moves, 'move')}") for path in paths), sep="\n")
    else:
        print(picture.ansi(colour=in_colour(sys.stdout)), end="")


def animate(
    file: RecordFile,
    out_file: Annotated[Path, typer.Option("--out", help="Where to: a name that ends in .gif or .svg.")] = Path(
        "game.gif"
    ),
    seat: Annotated[
        int | None, typer.Option(help="Whose hand is seen; -1: none.", show_default="all hands face up")
    ] = None,
    decisions: Annotated[
        bool, typer.Option("--every-decision", help="A picture for every decision, not for every turn.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="How long each picture is shown.")] = 1.2,
    width: Annotated[int, typer.Option(help="Of a GIF, in pixels.")] = 840,
    legend: Annotated[bool, typer.Option("--legend", help="Say below what the signs mean.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a film of a recorded game, for a README or a talk (.gif needs the extra `render`, .svg does not)."""
    from borneo_env.record import RecordError, read_record
    from borneo_env.render.animation import Animation, check_file

    check_file(out_file, width)
    check_writable(out_file)
    try:
        animation = Animation.of(read_record(file), seat, decisions=decisions, legend=legend, seconds=seconds)
    except RecordError as error:
        raise ValueError(f"{file}: {error}") from None
    with progress_bar() as progress:
        animation.save(out_file, width=width, track=lambda frames: progress.track(frames, description="pictures"))
    size, count = out_file.stat().st_size, len(animation.pictures)
    if as_json:
        print(json.dumps({"file": str(out_file), "pictures": count, "bytes": size}))
    else:
        print(on_one_line(f"{out_file}: {count} pictures, {size / 1e6:.1f} MB"))


def print_told(told: Told) -> None:
    """Print a line of a story with the companies in their colours."""
    text = Text(told.indent, style="bold" * told.heading)
    for piece in spoken(told.pieces):
        words = Text(piece if isinstance(piece, str) else piece.words)
        if isinstance(piece, Mention) and piece.kind in ("company", "card"):
            for company in COMPANIES:  # on a card, too
                words.highlight_words([company], style=company)
        text.append(words)
    out.print(text, soft_wrap=True)
