"""Measurements as files, one each: `python benchmarks/results.py add ID ... < JSON`; `page` makes RESULTS.md of them.

A file in results/ has a value, or rows for a table. A measured number is `[value, half of the interval]` or `[value,
low, high]`. The page is results/page.md, whose comments name measurements: one with rows, or several with a value.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from borneo_agents.statistics.intervals import LOPSIDED, WILSON

ROOT = Path(__file__).parent.parent
FOLDER, PAGE = ROOT / "results", ROOT / "RESULTS.md"
NONE = type(None)
FIELDS: dict[str, tuple[type, ...]] = {
    "id": (str,),  # the file's name
    "what": (str,),  # the question in a few words
    "unit": (str,),
    "command": (str, NONE),
    "commit": (str, NONE),  # at which it was measured; of figures before 2026-11-20, the one that wrote them down
    "date": (str, NONE),
    "seed": (int, str, NONE),
    "games": (int, NONE),
    "machine": (str, NONE),
    "interval": (str, NONE),  # its kind, such as 95 %, by deals
    "par": (int, float, NONE),
    "registered": (bool,),  # seed and games were named before it was played
    "stale": (str, NONE),  # why it should be measured anew
}  # and either "value" or "rows"
Row = dict[str, Any]
app = typer.Typer(help="Keep measurements as files in results/, and make RESULTS.md of them.")


# ---------------------------------------------------------------- the page


def number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def cell(found: Any) -> str:
    """A cell of a table: a number with its interval, or what stands there."""
    if not isinstance(found, list):
        return "" if found is None else number(found)
    value, *ends = found
    if len(ends) == 1:
        return f"{value:,.{len(str(ends[0]).partition('.')[2])}f} ±{ends[0]}"
    return f"{number(value)} ({ends[0]} to {ends[1]})" if ends else number(value)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Columns of numbers stand at the right; empty ones are left out."""
    used = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    right = {column for column in used if all(re.match(r"-?\d|$", row[column]) for row in rows)}
    lines = [f"| {' | '.join(row[column] for column in used)} |".replace("  ", " ") for row in (heads, *rows)]
    return "\n".join([lines[0], "|" + "".join("---:|" if column in right else "---|" for column in used), *lines[1:]])


def title(one: Row) -> str:
    """What was measured, as a link to its file, with its signs."""
    return f"[{one['what']}](results/{one['id']}.json){' †' * bool(one['stale'])}{' ‡' * one['registered']}"


def of_values(found: list[Row]) -> str:
    rows = [
        [
            title(one),
            f"{cell(one['value'])} {one['unit']}",
            cell(one["par"]),
            cell(one["games"]),
            str(one["seed"] or ""),
        ]
        for one in found
    ]
    return table(["", "value", "par", "games", "seed"], rows)


def of_rows(one: Row) -> str:
    """A table, with what it is as the first head."""
    heads = list(dict.fromkeys(head for row in one["rows"] for head in row))
    named = ("par {}", one["par"]), ("{} games", one["games"]), ("seed {}", one["seed"] and str(one["seed"]))
    about = ", ".join([one["unit"], *(words.format(number(value)) for words, value in named if value)])
    return table(
        [f"{title(one)}<br>{about}", *heads[1:]], [[cell(row.get(head)) for head in heads] for row in one["rows"]]
    )


def made() -> str:
    """RESULTS.md as it should be."""

    def put(comment: re.Match[str]) -> str:
        found = [json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in comment[1].split()]
        return of_rows(found[0]) if "rows" in found[0] else of_values(found)

    return re.sub(r"<!-- ([\w\s-]+) -->", put, (FOLDER / "page.md").read_text(encoding="utf-8"))


@app.command()
def page() -> None:
    """Make RESULTS.md."""
    PAGE.write_text(made(), encoding="utf-8")


# ---------------------------------------------------------------- adding one


def estimate(found: Row, times: float = 1) -> list[float]:
    """A number of an arena with its interval, as a cell; half an interval has two digits."""
    value, low, high = (found.get(key) and times * found[key] for key in ("value", "low", "high"))
    cell = [float(f"{number:.4g}") for number in (value, low, high) if number is not None]
    if len(cell) < 3 or found.get("method") == WILSON or abs(low + high - 2 * value) > LOPSIDED * (high - low):
        return cell
    half = float(f"{(high - low) / 2:.2g}")
    return [cell[0], half if half < 10 else int(half)]


def of_arena(told: Row, agent: str) -> Row:
    """The standings of an arena, or the wins of an agent alone among others."""
    about = {"command": told["command"], "seed": told["settings"]["seed"], "games": told["games"]}
    if agent:
        (one,) = (seat for seat in told["lone_seats"] if seat["agent"] == agent)
        return about | {"games": one["games"], "value": estimate(one["win_share"], 100)}
    strengths = {one["agent"]: one["points"] for one in told["strengths"]["strengths"]}
    rows = [
        {"agent": one["agent"], "wins": estimate(one["win_share"], 100), "place": estimate(one["place"]),
         "points": estimate(one["points"]), "strength": estimate(strengths[one["agent"]])} for one in told["standings"]
    ]  # fmt: skip
    return about | {"rows": rows}


def as_file(one: Row) -> str:
    """A measurement as text: a field a line, and a row a line."""
    lines = [f'"{key}": {json.dumps(found, ensure_ascii=False)}' for key, found in one.items() if key != "rows"]
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in one.get("rows", ()))
    return "{\n" + ",\n".join([*lines, *([f'"rows": [\n{rows}\n]'] if rows else [])]) + "\n}\n"


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="ID", help="Its file will be results/ID.json.")],
    what: Annotated[str, typer.Option(help="The question in a few words.")],
    agent: Annotated[str, typer.Option(help="The wins of this agent alone, instead of all standings.")] = "",
    machine: Annotated[str, typer.Option(help="Where.")] = f"{os.cpu_count()} cores, {platform.machine()}",
    par: Annotated[float | None, typer.Option(help="What equals would come to.")] = None,
    registered: Annotated[bool, typer.Option("--registered", help="Seed and games were named before.")] = False,
) -> None:
    """Write down what `borneo arena --json` prints; it is read from stdin."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    given = {
        "id": name, "what": what, "unit": "%", "commit": commit.stdout.strip(),
        "date": datetime.now(UTC).date().isoformat(), "machine": machine, "par": par,
        "interval": "95 %, by deals", "registered": registered,
    }  # fmt: skip
    measured = dict.fromkeys(FIELDS) | given | of_arena(json.load(sys.stdin), agent)
    (FOLDER / f"{name}.json").write_text(as_file(measured), encoding="utf-8")


if __name__ == "__main__":
    app()
