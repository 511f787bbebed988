"""The files of a finished arena: results.json, games.csv, and report.html for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from borneo_agents.arena.folder import GAMES, REPORT, RESULTS, Folder
from borneo_agents.arena.plots import plots, ranked
from borneo_agents.arena.result import ArenaResult
from borneo_agents.arena.tournament import LINEUPS
from borneo_agents.arena.words import fault_rows, verdict_words

EXAMPLE = "for example"
STYLE = """
:root { color-scheme: light }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 56rem; padding: 2.5rem 1.5rem 4rem; background: #fdfcf9; color: #22303c;
  font: 16px/1.55 Charter, "Bitstream Charter", "Iowan Old Style", Georgia, serif }
h1 { font-size: 2.1rem; line-height: 1.15; margin: 0 0 .3rem; font-weight: 600 }
h2 { font-size: 1.3rem; margin: 2.8rem 0 .4rem; font-weight: 600 }
p { margin: .4rem 0 .9rem; max-width: 44rem }
.lead { color: #55626f; font-size: 1.05rem }
.note { color: #6b7785; font-size: .9rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font: 14px/1.4 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums; margin: .6rem 0 }
th, td { padding: .32rem .9rem .32rem 0; text-align: right; white-space: nowrap; border-bottom: 1px solid #e9e6df }
th { font-weight: 600; color: #55626f; vertical-align: bottom; border-bottom-color: #b9b4a8 }
th:first-child, td:first-child, th.words { text-align: left }
td.words { white-space: normal; text-align: left; min-width: 16rem }
tr.part td { border-bottom: 0; padding-top: 1rem; color: #b3541e; font-weight: 600 }
.pm { color: #8a939c }
figure { margin: .6rem 0 }
figure svg { width: 100%; height: auto; display: block }
figure.small svg { max-width: 34rem }
code { font: 13.5px/1.5 ui-monospace, Menlo, Consolas, monospace; background: #f1eee6; padding: .1rem .35rem;
  border-radius: 3px; overflow-wrap: anywhere }
@media print { body { padding: 0; background: white } h2 { break-after: avoid } figure, tr { break-inside: avoid } }
"""


def write_results(path: str | Path, result: ArenaResult, command: str | None = None) -> None:
    """Write all files of a result into a folder."""
    folder = Folder(path)
    folder.write(RESULTS, json.dumps(result.as_dict(command), indent=1) + "\n")
    folder.write(GAMES, result.games_csv())
    folder.write(REPORT, report(result, command))


def report(result: ArenaResult, command: str | None = None) -> str:
    """The page: everything in one file, nothing fetched from anywhere."""
    drawn = plots(result)
    plan, best = result.tournament, result.standings[0]
    games, deals = f"{len(result.outcomes):,}", f"{result.results.deals:,}"
    fair = f"{100 / plan.ruleset.players:.3g} %"
    parts = [
        f"<h1>{escape(best.agent)} wins {100 * best.win_share.value:.1f} % of its games</h1>",
        f'<p class="lead">{games} games of {plan.ruleset.name}, {len(plan.agents)} agents: {deals} deals, each played '
        f"{plan.block} times ({plan.lineups}), seed {plan.seed}.</p>",
        *([f"<p>{escape(verdict_words(result))}</p>"] if result.verdict else []),
        _standings(result),
        f'<p class="note">Per seat: a seat wins {fair} if all are equal. ± is half of a 95 % interval that counts '
        "deals, not games, since the games of a deal are alike.</p>",
        "<h2>Strength</h2>",
        "<p>Plackett-Luce strengths explain all places of all games by one number for each agent. As with Elo, 400 "
        "points more mean ten times the strength; 0 is the mean of these agents.</p>",
        _figure(drawn["strengths"]),
        "<h2>Who was placed before whom</h2>",
        "<p>How often the agent of the row was placed before the agent of the column, ties half.</p>",
        _figure(drawn["cross"], "small"),
        *_lone(result),
        "<h2>Where the points come from</h2>",
        "<p>Contracts by kind, what was left in the warehouse, and what the pirates cost.</p>",
        _figure(drawn["points"]),
        "<h2>How they play</h2>",
        _profiles(result),
        "<h2>Seats</h2>",
        "<p>Win share by place in the turn order. The dashed line is an equal share.</p>",
        _figure(drawn["seats"]),
        "<h2>Length of the games</h2>",
        _figure(drawn["lengths"]),
        *_faults(result),
        "<h2>How many games does it take?</h2>",
        _needed(result),
        "<h2>How this was measured</h2>",
        f"<p>Line-ups: {LINEUPS[plan.lineups]}. Every line-up plays the same deals, and every agent sits in every seat "
        "equally often on each of them; who sits beside whom changes from deal to deal. An agent that crashes, makes "
        f"an illegal move or thinks longer than {plan.time_limit:g} s about a decision loses that game at once: it is "
        "placed last, the others share the win, and points are as they stood.</p>",
        f"<p><code>{escape(command)}</code></p>" if command else "",
        f'<p class="note">{escape(_versions(result))}</p>',
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    title = f"<title>Borneo arena: {escape(', '.join(plan.agents))}</title>"
    body = "\n".join(part for part in parts if part)
    head += f"{title}\n<style>{STYLE}</style>"
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'


def _figure(svg: str, kind: str = "") -> str:
    return f'<figure class="{kind}">{svg}</figure>' if kind else f"<figure>{svg}</figure>"


def _table(heads: Sequence[str], rows: Iterable[str]) -> str:
    cells = "".join(f"<th{' class=words' if head == EXAMPLE else ''}>{escape(head)}</th>" for head in heads)
    return (
        f'<div class="wide"><table><thead><tr>{cells}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{_faint(escape(cell))}</td>" for cell in cells) + "</tr>"


def _faint(cell: str) -> str:
    """A figure with its interval less prominent."""
    value, sign, interval = cell.partition(" ±")
    return f'{value} <span class="pm">±{interval}</span>' if sign else cell


def _standings(result: ArenaResult) -> str:
    strength = {row.agent: row.points for row in result.strengths.strengths}
    rows = [
        _row(
            row.agent,
            row.win_share.words(".1f", unit=0.01),
            row.place.words(".2f"),
            row.points.words(".1f"),
            strength[row.agent].words("+.0f"),
            f"{row.seats:,}",
        )
        for row in result.standings
    ]
    return _table(["agent", "wins, %", "mean place", "points", "strength", "seats played"], rows)


def _lone(result: ArenaResult) -> list[str]:
    if not result.lone_seats:
        return []
    order = [row.agent for row in result.standings]
    shares = {(row.agent, row.other): row.win_share.words(".1f", unit=0.01) for row in result.lone_seats}
    rows = [_row(agent, *(shares.get((agent, other), "") for other in order)) for agent in order]
    games = result.lone_seats[0].games
    words = f"Wins in % when copies of the agent of the column take all other seats, {games:,} games each."
    return ["<h2>One against the rest</h2>", f"<p>{words}</p>", _table(["", *order], rows)]


def _profiles(result: ArenaResult) -> str:
    order = ranked(result)
    rows = []
    for heading, part in (("points", "points"), ("contracts", "contracts"), ("doings", "doings")):
        rows.append(f'<tr class="part"><td colspan="{1 + len(order)}">{heading}, mean of a game</td></tr>')
        for what in getattr(order[0], part):
            values = [getattr(profile, part)[what] for profile in order]
            if any(values):
                rows.append(_row(what, *(f"{value:.2f}" for value in values)))
    rows.append(f'<tr class="part"><td colspan="{1 + len(order)}">length, mean of a game</td></tr>')
    rows.append(_row("own decisions, without forced ones", *(f"{profile.decisions:.1f}" for profile in order)))
    rows.append(_row("turns, all players together", *(f"{profile.turns:.1f}" for profile in order)))
    return _table(["", *(profile.agent for profile in order)], rows)


def _faults(result: ArenaResult) -> list[str]:
    if not result.faults:
        return []
    rows = [
        f'<tr><td>{escape(row.agent)}</td><td>{escape(row.kind)}</td><td>{row.games:,}</td><td class="words">'
        f"{escape(row.example)}</td></tr>"
        for row in fault_rows(result)
    ]
    return ["<h2>Games lost by a fault</h2>", _table(["agent", "fault", "games", EXAMPLE], rows)]


def _needed(result: ArenaResult) -> str:
    told = [row for row in result.games_needed if row.told is not None]
    if not told:
        return "<p>Too few deals to tell.</p>"
    heads = ["pair", "told by these games", *(f"{50 + 100 * float(d):g} %" for d in told[0].needed)]
    rows = [
        _row(
            f"{row.agent}, {row.other}", f"{50 + 100 * (row.told or 0):.1f} %", *(f"{n:,}" for n in row.needed.values())
        )
        for row in told
    ]
    words = (
        "Games of such a tournament that are needed to tell from 50 % that one of two neighbours in the table is "
        "placed before the other in so many of their meetings, with errors of 5\u00a0% and a chance of 80\u00a0% to "
        "find it."
    )
    return f"<p>{words}</p>" + _table(heads, rows)


def _versions(result: ArenaResult) -> str:
    return ", ".join(f"{name} {number}" for name, number in result.as_dict()["versions"].items())
