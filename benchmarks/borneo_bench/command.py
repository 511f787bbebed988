"""The command `borneo bench`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from borneo_env.console import AsJson, Seed, out, progress_bar, with_ruleset
from borneo_env.ruleset import Ruleset


@with_ruleset("edition", "players", "traders", "blackbeard")
def bench(
    seconds: Annotated[float, typer.Option(help="How long each measurement takes.")] = 1.5,
    seed: Seed = 0,
    as_json: AsJson = False,
    **rules: Any,
) -> None:
    """Measure decisions per second, beside the peers that are installed (see benchmarks/README.md)."""
    from borneo_bench.speed import Speed, entrants, measure
    from borneo_env.engine.state import GAME

    ruleset = Ruleset(**rules)
    field = entrants(ruleset, seed)
    with progress_bar() as progress:
        results: list[Speed] = [measure(entrant, seconds) for entrant in progress.track(field, description="measuring")]
    if as_json:
        measured = [asdict(result) for result in results]
        print(json.dumps({"ruleset": ruleset.name, "game_bytes": GAME.itemsize, "measured": measured}))
        return
    _print_bench(results, f"{ruleset.name}, {GAME.itemsize} bytes a game")


def _print_bench(results: Sequence[Any], title: str) -> None:
    from borneo_bench.speed import COMPILED, ENV, OBSERVED, RAW_ENV, SIZES, STEPPED, VECTOR

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
