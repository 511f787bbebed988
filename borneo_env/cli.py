"""The `borneo` command. Each command imports what it needs itself, so that `borneo --help` is quick."""

from __future__ import annotations

import io
import json
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from borneo_train.command import train
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from borneo_env.files import FileError, check_writable, in_short, make_folder, on_one_line
from borneo_env.ruleset import Ruleset

app = typer.Typer(
    help="Borneo, the game of spice traders, for learning agents.", no_args_is_help=True, add_completion=False
)
LONGEST_ERROR = 4000  # characters; an illegal move is answered with all legal ones
out = Console()
err = Console(stderr=True)

Edition = Annotated[str, typer.Option(help="board (2008) or card (2007).")]
Players = Annotated[int, typer.Option(help="3, 4 or 5.")]
FourTraders = Annotated[bool, typer.Option("--four-traders", help="Variant for 3 players: four traders each (R9.1).")]
Blackbeard = Annotated[bool, typer.Option("--blackbeard", help="Variant: Blackbeard's secret (R9.2).")]
CardTables = Annotated[str | None, typer.Option("--tables", help="A card table of your own (TOML), or `tiny`.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same games on every machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
RecordFiles = Annotated[list[Path], typer.Argument(help="Record files (JSON Lines).", show_default=False)]
RecordFile = Annotated[Path, typer.Argument(help="A record file (JSON Lines).", show_default=False)]


def main() -> None:
    """Run the command; a mistake of the user is one line on stderr and status 2, never a traceback."""
    try:
        app(prog_name="borneo")
    except (ValueError, OSError) as error:  # the package's own errors are ValueErrors with a remedy in them
        _say(f"error: {_in_words(error)}", style="red")
        sys.exit(2)


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _say(words: str, style: str = "") -> None:
    """Say something on stderr in one line; what stands in it is never taken for markup or for orders to a terminal."""
    err.print(on_one_line(words, LONGEST_ERROR), style=style, markup=False, highlight=False, soft_wrap=True)


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=err, disable=not err.is_terminal)


def _ruleset(edition: str, players: int, four_traders: bool, blackbeard: bool, tables: str | None) -> Ruleset:
    return Ruleset(edition, players, 4 if four_traders else 3, blackbeard, tables)  # type: ignore[arg-type]


@app.command()
def actions(edition: Edition = "board", as_json: AsJson = False) -> None:
    """Print the action table: every id with its block and its texts."""
    from borneo_env.engine.actions import action_table
    from borneo_env.engine.state import slots_of

    table = action_table(slots_of(Ruleset(edition)))
    rows: list[dict[str, Any]] = [
        {"id": i, "block": table.block_of(i).name, "texts": table.texts(i)} for i in range(len(table))
    ]
    if as_json:
        print(json.dumps(rows))
        return
    blocks = Table("block", "ids", "meaning", title=f"{len(table)} actions of the {edition} edition")
    for block in table.blocks:
        blocks.add_row(block.name, f"{block.start} to {block.start + block.size - 1}", block.meaning)
    out.print(blocks)
    for row in rows:
        print(f"{row['id']:4}  {row['block']:9} {' | '.join(row['texts'])}")


@app.command()
def observation(edition: Edition = "board", as_json: AsJson = False) -> None:
    """Print the layout of the observation: every block with its place, shape and meaning."""
    from borneo_env.engine.observe import layout
    from borneo_env.engine.state import slots_of

    blocks = layout(slots_of(Ruleset(edition)))
    rows = [
        {
            "name": block.name,
            "start": block.slice.start,
            "stop": block.slice.stop,
            "axes": [axis.name for axis in block.axes],
            "shape": list(block.shape),
            "meaning": block.meaning,
        }
        for block in blocks
    ]
    if as_json:
        print(json.dumps(rows))
        return
    table = Table("block", "from", "shape", "meaning", title=f"the {blocks[-1].slice.stop} numbers of an observation")
    for block in blocks:
        shape = " x ".join(f"{len(axis.labels)} {axis.name}" for axis in block.axes) or "1"
        table.add_row(block.name, str(block.slice.start), shape, block.meaning)
    out.print(table)


@app.command()
def manual(as_json: AsJson = False) -> None:
    """Print the manual of the environments: spaces, actions, observation, rewards, arguments."""
    from borneo_env.manual import manual as written

    print(json.dumps(written()) if as_json else written(), end="")


@app.command()
def pictures(
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the pictures.")] = Path("docs/pictures"),
    as_json: AsJson = False,
) -> None:
    """Draw the example positions of the README (needs the extra `render`)."""
    from borneo_env.render import make_pictures

    make_folder(out_folder)
    drawn = [str(path) for path in make_pictures(out_folder)]
    print(json.dumps(drawn) if as_json else "\n".join(drawn))


@app.command()
def record(
    games: Annotated[int, typer.Option(help="How many games.")] = 1,
    players: Players = 4,
    edition: Edition = "board",
    agents: Annotated[
        str, typer.Option(help="Who plays: one name for all seats, or one per seat with commas.")
    ] = "random",
    seed: Seed = 0,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the records; made if need be.")] = Path(
        "out/records"
    ),
    legal: Annotated[bool, typer.Option("--legal", help="Write the legal moves of every decision too.")] = False,
    four_traders: FourTraders = False,
    blackbeard: Blackbeard = False,
    tables: CardTables = None,
    as_json: AsJson = False,
) -> None:
    """Play games and write each as a record."""
    from borneo_env.agent import seat_names
    from borneo_env.record import record_games, write_record

    ruleset = _ruleset(edition, players, four_traders, blackbeard, tables)
    names = seat_names(agents, players)
    if games < 1:
        raise ValueError(f"--games is a number from 1, not {games}")
    written = []
    with _progress() as progress:
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


@app.command()
def verify(files: RecordFiles, as_json: AsJson = False) -> None:
    """Replay records through the engine; says file, line and reason where one is wrong, and returns status 1."""
    from borneo_env.record import RecordError, read_record
    from borneo_env.record import verify as replay_all

    verdicts: list[dict[str, Any]] = []
    with _progress() as progress:
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


@app.command()
def show(
    file: RecordFile,
    everything: Annotated[bool, typer.Option("--all", help="Tell forced choices to decline as well.")] = False,
    as_json: AsJson = False,
) -> None:
    """Tell a recorded game in words, move by move."""
    from borneo_env.record import RecordError, read_record
    from borneo_env.story import tell

    told: list[str] = []
    try:
        for line in tell(read_record(file), forced=everything):
            told.append(line)
            if not as_json:
                _print_told(line)
    except RecordError as error:
        raise ValueError(f"{file}: {error}") from None
    if as_json:
        print(json.dumps(told))


def _print_told(line: str) -> None:
    """Print a line of a story with the companies in their colours."""
    from rich.text import Text

    from borneo_env.cards import COMPANIES

    text = Text(line, style="bold" if not line.startswith(" ") else "")
    for company in COMPANIES:
        text.highlight_words([company], style=company)
    out.print(text, soft_wrap=True)


@app.command(name="random")
def play_random(
    games: Annotated[int, typer.Option(help="Games of each ruleset.")] = 2000,
    seed: Seed = 0,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    story: Annotated[bool, typer.Option(help="Tell one game in words at the end.")] = True,
    as_json: AsJson = False,
) -> None:
    """Play random games on every ruleset: how fast, how long, and how they end."""
    from borneo_env.record import record_games
    from borneo_env.ruleset import every_ruleset
    from borneo_env.story import tell

    rulesets = every_ruleset()
    _random_row(Ruleset(), 1, seed, threads)  # compiles, if need be: that is not to be measured
    with _progress() as progress:
        rows = [
            _random_row(ruleset, games, seed, threads) for ruleset in progress.track(rulesets, description="rulesets")
        ]
    if as_json:
        print(json.dumps(rows))
        return
    _print_random(rows, games, seed)
    if story:
        lines = record_games(Ruleset(), 1, seed=seed, agents=["random"] * 4)[0]
        print(f"\nGame 0 of seed {seed}, board edition with 4 players:\n")
        for line in tell(lines):
            _print_told(line)


def _random_row(ruleset: Ruleset, games: int, seed: int, threads: int | None) -> dict[str, Any]:
    import numpy as np

    from borneo_env.engine.batch import Batch

    batch = Batch(games, ruleset, seed=seed, finished="hold", threads=threads)
    began = time.perf_counter()
    decisions = batch.play_random()
    seconds = time.perf_counter() - began
    scores, places = batch.scores(), batch.places()
    first = places == 1
    wins = first / first.sum(1, keepdims=True)
    turn_order = (batch.games["start"][:, None] + np.arange(ruleset.players)) % ruleset.players
    return {
        "ruleset": ruleset.name,
        "games": games,
        "decisions": decisions,
        "decisions_per_second": decisions / seconds,
        "decisions_per_game": decisions / games,
        "mean_score": float(scores.mean()),
        "winner_mean_score": float(scores.max(1).mean()),
        "contracts_per_game": float(batch.contracts().sum(1).mean()),
        "win_share_from_start_player": np.take_along_axis(wins, turn_order, 1).mean(0).tolist(),
    }


def _print_random(rows: Sequence[dict[str, Any]], games: int, seed: int) -> None:
    table = Table(
        title=f"{games:,} random games of each ruleset, seed {seed}",
        caption="decisions per second and per game, mean points, wins from the start player on",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("ruleset", no_wrap=True)
    for heading in ("per second", "per game", "points", "wins, %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        shares = " ".join(f"{share:.0%}"[:-1] for share in row["win_share_from_start_player"])
        speed, length = f"{row['decisions_per_second']:,.0f}", f"{row['decisions_per_game']:.0f}"
        table.add_row(row["ruleset"], speed, length, f"{row['mean_score']:.1f}", shares)
    out.print(table)


@app.command()
def play(
    seats: Annotated[
        str, typer.Option(help="Who sits where, in turn order: human, or the name of an agent, with commas.")
    ] = "human,random,random",
    edition: Edition = "board",
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same deal; chance by default.")] = None,
    saved: Annotated[Path | None, typer.Option("--continue", help="Go on with a game that was saved.")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code of agents named in the saved game that are not registered.")
    ] = False,
    save_to: Annotated[
        Path | None, typer.Option("--save", help="Where to save; by default a new file borneo-game.json.")
    ] = None,
    record_file: Annotated[Path | None, typer.Option("--record", help="Write the finished game as a record.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Make a choice at once, without confirmation.")] = False,
    four_traders: FourTraders = False,
    blackbeard: Blackbeard = False,
    tables: CardTables = None,
    as_json: AsJson = False,
) -> None:
    """Play Borneo here in the terminal, against agents or several people at one keyboard."""
    from borneo_agents.play import Game, Table, free_name

    from borneo_env.engine.batch import fresh_seed
    from borneo_env.record import write_record

    if saved is not None:
        game = Game.load(saved, trusted=trust)
    else:
        names = [name.strip() for name in seats.split(",")]
        ruleset = _ruleset(edition, len(names), four_traders, blackbeard, tables)
        game = Game(ruleset, names, fresh_seed() if seed is None else seed)
    save_to = save_to or saved or free_name(Path("borneo-game.json"))
    for path in filter(None, (save_to, record_file)):
        check_writable(path)  # before hours of play, not after
    shown = sys.stderr if as_json else sys.stdout
    for stream in (sys.stdin, shown):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an odd byte must not end the game
    finished = Table(game, save_to, typed=sys.stdin, shown=shown, confirm=not yes).run()
    if finished and record_file is not None:
        try:
            write_record(record_file, game.lines)
        except FileError as error:
            game.save(save_to)
            raise ValueError(f"{error}; the game is in {save_to}: continue it with another --record") from None
    if as_json:
        result = game.lines[-1] if finished else None
        print(json.dumps({"seats": game.seats, "result": result, "saved": None if finished else str(save_to)}))


@app.command()
def arena(
    agents: Annotated[
        list[str], typer.Argument(help="Who plays: names such as random, or my_bot:MyBot.", show_default=False)
    ],
    games: Annotated[int, typer.Option(help="How many games; rounded up so that seats and deals are fair.")] = 2000,
    players: Players = 4,
    edition: Edition = "board",
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
    fresh: Annotated[bool, typer.Option("--fresh", help="Remove the run in the folder and start anew.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores by default.", min=1)] = None,
    chunk: Annotated[int | None, typer.Option(help="Games played side by side; few for slow agents.")] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for a decision; who needs more loses the game.")] = 5.0,
    four_traders: FourTraders = False,
    blackbeard: Blackbeard = False,
    tables: CardTables = None,
    as_json: AsJson = False,
) -> None:
    """Measure agents against each other, on the same deals and from all seats (needs the extra `arena`)."""
    from borneo_agents.arena import ArenaResult, Stopped, play_arena
    from borneo_agents.arena.terminal import print_result, watching

    pair = tuple(name.strip() for name in until_decided.split(",")) if until_decided else None
    if pair is not None and len(pair) != 2:
        raise ValueError(f"--until-decided wants two agents with a comma between them, not {in_short(until_decided)}")
    if out_folder is not None:
        write_results = _report_writer()  # before hours of play, not after
    result: ArenaResult | None
    with watching(err) as watcher:
        try:
            result = play_arena(
                agents,
                _ruleset(edition, players, four_traders, blackbeard, tables),
                games=games, seed=seed, lineups=lineups, out=out_folder, fresh=fresh, jobs=jobs, chunk=chunk,
                time_limit=time_limit, until_decided=pair, effect=effect, alpha=errors, beta=errors,
                records=records, watch=watcher.watch,
            )  # fmt: skip
        except Stopped as stopped:
            result = stopped.result
    command = shlex.join(["borneo", *sys.argv[1:]])
    if result is not None and result.complete and out_folder is not None:
        write_results(out_folder, result, command)
    if as_json:
        print(json.dumps(result and result.as_dict(command)))
    elif result is not None:
        print_result(out, result)
    _say_what_is_kept(result, games, out_folder)


def _report_writer() -> Any:
    try:
        from borneo_agents.arena.report import write_results
    except ModuleNotFoundError as error:
        raise ValueError(f"--out needs {error.name}: pip install 'borneo-env[arena]'; or leave --out away") from None
    return write_results


def _say_what_is_kept(result: Any, asked: int, folder: Path | None) -> None:
    if result is None or not result.complete:
        kept = "nothing is finished yet" if result is None else f"{len(result.outcomes):,} games are finished"
        again = f"the same command goes on with {folder}" if folder else "give --out to go on later"
        _say(f"Stopped: {kept}; {again}.")
        raise typer.Exit(130)
    if result.tournament.games != asked:
        block = result.tournament.block
        _say(f"{asked:,} games were rounded up to whole blocks of {block}: one deal, all line-ups, all seats.")
    if folder:
        _say(f"All is in {folder}: report.html, results.json and games.csv.")


app.command()(train)


@app.command()
def bench(
    seconds: Annotated[float, typer.Option(help="How long each measurement takes.")] = 1.5,
    players: Players = 4,
    edition: Edition = "board",
    four_traders: FourTraders = False,
    blackbeard: Blackbeard = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure decisions per second, beside the peers that are installed (see benchmarks/README.md)."""
    from borneo_env.bench import Measurement, entrants, measure
    from borneo_env.engine.state import GAME

    ruleset = _ruleset(edition, players, four_traders, blackbeard, None)
    field = entrants(ruleset, seed)
    with _progress() as progress:
        results: list[Measurement] = [
            measure(entrant, seconds) for entrant in progress.track(field, description="measuring")
        ]
    if as_json:
        measured = [asdict(result) for result in results]
        print(json.dumps({"ruleset": ruleset.name, "game_bytes": GAME.itemsize, "measured": measured}))
        return
    _print_bench(results, f"{ruleset.name}, {GAME.itemsize} bytes a game")


def _print_bench(results: Sequence[Any], title: str) -> None:
    from borneo_env.bench import COMPILED, ENV, OBSERVED, RAW_ENV, SIZES, STEPPED, VECTOR

    ours = {(r.games, r.how, r.threads): r.per_second for r in results if r.who == "borneo"}
    threads = sorted({r.threads for r in results})
    table = Table("games", title=f"thousand decisions per second, {title}")
    for size in SIZES:
        table.add_column(f"{size:,}", justify="right")
    for how in (COMPILED, STEPPED, OBSERVED, VECTOR):
        for n in threads:
            rates = (ours.get((size, how, n)) for size in SIZES)
            cells = ("" if rate is None else f"{rate / 1000:,.0f}" for rate in rates)
            table.add_row(f"{how}, {n} thread{'s' if n > 1 else ''}", *cells)
    out.print(table)
    likes = {ENV: (1, ENV, 1), RAW_ENV: (1, RAW_ENV, 1)}
    peers = Table("peer, 1 thread", "borneo's", title="decisions per second beside others, in the same run")
    for heading in ("peer", "borneo", "ratio"):
        peers.add_column(heading, justify="right")
    for r in results:
        if r.who != "borneo":
            like = likes.get(r.how, (4096, COMPILED, 1))
            ratio = f"{ours[like] / r.per_second:,.1f} x"
            peers.add_row(f"{r.who}, {r.how}", like[1], f"{r.per_second:,.0f}", f"{ours[like]:,.0f}", ratio)
    if peers.row_count:
        out.print(peers)
    else:
        print(f"env() {ours[likes[ENV]]:,.0f} and raw_env() {ours[likes[RAW_ENV]]:,.0f} decisions per second.")
        print("No peers are installed; `make bench` installs them.")


if __name__ == "__main__":
    main()
