"""The command `random`: random games on every ruleset."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from borneo_env.commands.records import print_told
from borneo_env.console import AsJson, Seed, out, progress_bar
from borneo_env.ruleset import Ruleset, every_ruleset


def play_random(
    games: Annotated[int, typer.Option(help="Games of each ruleset.")] = 2000,
    seed: Seed = 0,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    story: Annotated[bool, typer.Option(help="Tell one game in words at the end.")] = True,
    as_json: AsJson = False,
) -> None:
    """Play random games on every ruleset: how fast, how long, and how they end."""
    from borneo_env.record import record_games
    from borneo_env.story import story as story_of

    rulesets = every_ruleset()
    _random_row(Ruleset(), 1, seed, threads)  # compiles, if need be: that is not to be measured
    with progress_bar() as progress:
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
        for told in story_of(lines):
            print_told(told)


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
