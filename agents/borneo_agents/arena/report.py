"""The report of an arena: a page for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from borneo_agents.arena.tables import Tables
from borneo_agents.arena.tournament import LINEUPS
from borneo_agents.arena.words import (
    fault_lines,
    fault_rows,
    headline,
    isolation_words,
    par_words,
    points_words,
    standings_rows,
    title,
    told_words,
    trace_words,
    verdict_words,
)
from borneo_env.files import in_short

EXAMPLE = "for example"
NO_PLOTS = "No plots: matplotlib is missing. <code>pip install '.[arena]'</code> in the project's folder brings them."
STRENGTH = (
    "Plackett-Luce strengths explain all places of all games by one number for each agent. As with Elo, 400 points "
    "more mean ten times the strength; 0 is the mean of these agents."
)
CROSS = "How often the agent of the row was placed before the agent of the column, ties half."
SEATS = "Win share by place in the turn order, with 95 % intervals. The dashed line is an equal share."
NO_REPLAYS: Mapping[int, str] = {}
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
.games { max-height: 24rem; overflow-y: auto }
.pm { color: #8a939c }
figure { margin: .6rem 0 }
figure svg { width: 100%; height: auto; display: block }
figure.small svg { max-width: 34rem }
code { font: 13.5px/1.5 ui-monospace, Menlo, Consolas, monospace; background: #f1eee6; padding: .1rem .35rem;
  border-radius: 3px; overflow-wrap: anywhere }
pre { font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; background: #f1eee6; padding: .7rem .9rem;
  border-radius: 3px; overflow-x: auto; white-space: pre-wrap }
@media print { body { padding: 0; background: white } h2 { break-after: avoid } figure, tr { break-inside: avoid } }
"""


def report(result: Tables, command: str | None = None, replays: Mapping[int, str] = NO_REPLAYS) -> str:
    """The page: everything in one file, nothing fetched from anywhere; with links to replays of these games."""
    plan, drawn = result.tournament, drawings(result)
    head, *lines = dict.fromkeys([headline(result), *fault_lines(result)])
    parts = [
        f"<h1>{escape(head).replace(' %', '&nbsp;%')}</h1>",
        f'<p class="lead">{escape(title(result))}</p>',
        *(f"<p>{escape(line)}.</p>" for line in lines),
        *([f"<p>{escape(verdict_words(result))}</p>"] if result.verdict else []),
        *([] if drawn else [f'<p class="note">{NO_PLOTS}</p>']),
        _standings(result),
        f'<p class="note">Wins per seat: {par_words(result)}.{_most(result)} ± is half of a 95 % interval that counts '
        "deals, not games, since the games of a deal are alike.</p>",
        *_faults(result),
        *_replays(result, replays),
        *_drawn(drawn, "strengths", "Strength", STRENGTH),
        *_drawn(drawn, "cross", "Who was placed before whom", CROSS, "small"),
        *_lone(result),
        *_drawn(drawn, "points", "Where the points come from", points_words(plan.ruleset)),
        "<h2>How they play</h2>",
        _profiles(result),
        *_drawn(drawn, "seats", "Seats", SEATS),
        *_drawn(drawn, "lengths", "Length of the games", ""),
        "<h2>How many games does it take?</h2>",
        _needed(result),
        "<h2>How this was measured</h2>",
        f"<p>Line-ups: {LINEUPS[plan.lineups]}. Every line-up plays the same deals, and every agent sits in every seat "
        "equally often on each of them; who sits beside whom changes from deal to deal. An agent that crashes, makes "
        f"an illegal move or thinks longer than {plan.time_limit:g} s about a decision loses that game at once: it is "
        "placed last, the others share the win, and points are as they stood.</p>",
        f"<p>{escape(isolation_words(plan))}.</p>" if isolation_words(plan) else "",
        f"<p><code>{escape(command)}</code></p>" if command else "",
        f'<p class="note">{escape(_versions(result))}</p>',
    ]
    about = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    about += f"<title>Borneo arena: {escape(', '.join(plan.agents))}</title>\n<style>{STYLE}</style>"
    body = "\n".join(part for part in parts if part)
    return f'<!doctype html>\n<html lang="en">\n<head>{about}</head>\n<body>\n{body}\n</body>\n</html>\n'


def drawings(result: Tables) -> dict[str, str]:
    """The plots by name; none without the extra `arena`."""
    try:
        from borneo_agents.arena.plots import plots
    except ModuleNotFoundError:
        return {}
    return plots(result)


def drawing(result: Tables, name: str) -> str:
    """One of the plots, as SVG."""
    try:
        from borneo_agents.arena.plots import KINDS, draw
    except ModuleNotFoundError as error:
        raise ValueError(f"plots need {error.name}: pip install '.[arena]' in the project's folder") from None
    if name not in KINDS:
        raise ValueError(f"there is no plot {in_short(name)}; known are: {', '.join(KINDS)}")
    return draw(result, name)


def _drawn(drawn: dict[str, str], name: str, heading: str, words: str, kind: str = "") -> list[str]:
    if not drawn:
        return []
    told = f"<p>{escape(words)}</p>" if words else ""
    figure = f'<figure class="{kind}">' if kind else "<figure>"
    return [f"<h2>{heading}</h2>", told, f"{figure}{drawn[name]}</figure>"]


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


def _standings(result: Tables) -> str:
    strength = {row.agent: row.points.words("+.0f") for row in result.strengths.strengths}
    seats = {row.agent: f"{row.seats:,}" for row in result.standings}
    heads, *rows = standings_rows(result)
    return _table([*heads, "strength", "seats played"], [_row(*row, strength[row[0]], seats[row[0]]) for row in rows])


def _most(result: Tables) -> str:
    """What limits win shares, if something does."""
    if all(row.highest == 1 for row in result.standings):
        return ""
    return " Where copies of an agent sit at a table, one of them wins at most: so the share has an upper limit."


def _lone(result: Tables) -> list[str]:
    if not result.lone_seats:
        return []
    order = [row.agent for row in result.standings]
    shares = {(row.agent, row.other): row.win_share.words(".1f", unit=0.01) for row in result.lone_seats}
    rows = [_row(agent, *(shares.get((agent, other), "") for other in order)) for agent in order]
    games = result.lone_seats[0].games
    words = f"Wins in % when copies of the agent of the column take all other seats, {games:,} games each."
    return ["<h2>One against the rest</h2>", f"<p>{words}</p>", _table(["", *order], rows)]


def _profiles(result: Tables) -> str:
    profiles = {profile.agent: profile for profile in result.profiles}
    order = [profiles[row.agent] for row in result.standings]
    rows = []
    for part in ("points", "contracts", "doings"):
        rows.append(_part(f"{part}, mean of a game", len(order)))
        for what in getattr(order[0], part):
            figures = [getattr(profile, part)[what] for profile in order]
            if any(figure.value for figure in figures):
                rows.append(_row(what, *(figure.words(".2f") for figure in figures)))
    rows.append(_part("length, mean of a game", len(order)))
    rows.append(_row("own decisions, without forced ones", *(one.decisions.words(".1f") for one in order)))
    rows.append(_row("turns, all players together", *(one.turns.words(".1f") for one in order)))
    rows.append(_part("wins by seat, %", len(order)))
    for seat in range(result.tournament.ruleset.players):
        shares = [one.win_share_by_seat[seat] for one in order]
        name = "start player" if seat == 0 else f"seat {seat + 1} in turn"
        rows.append(_row(name, *(share.words(".1f", unit=0.01) if share else "" for share in shares)))
    return _table(["", *(profile.agent for profile in order)], rows)


def _part(heading: str, columns: int) -> str:
    return f'<tr class="part"><td colspan="{1 + columns}">{heading}</td></tr>'


def _faults(result: Tables) -> list[str]:
    if not result.faults:
        return []
    rows = [
        f'<tr><td>{escape(row.agent)}</td><td>{escape(row.kind)}</td><td>{row.games:,}</td><td class="words">'
        f"{escape(row.example)}</td></tr>"
        for row in fault_rows(result)
    ]
    parts = ["<h2>Games lost by a fault</h2>", _table(["agent", "fault", "games", EXAMPLE], rows)]
    for trace in result.traces:
        parts += [f"<p>{escape(trace_words(result.tournament, trace))}:</p>", f"<pre>{escape(trace.text)}</pre>"]
    return parts


def _replays(result: Tables, links: Mapping[int, str]) -> list[str]:
    """The games that can be stepped through in a browser."""
    shown = [row for row in result.outcomes if int(row["game"]) in links]
    if not shown:
        return []
    names, players = result.tournament.agents, range(result.tournament.ruleset.players)
    rows = []
    for row in shown:
        told = [f"{names[row['seats'][seat]]} {row['scores'][seat]} ({row['places'][seat]}.)" for seat in players]
        cells = "".join(f"<td>{escape(words)}</td>" for words in told)
        rows.append(f'<tr><td><a href="{escape(links[int(row["game"])])}">game {row["game"]}</a></td>{cells}</tr>')
    words = "Every recorded game, step by step in a browser. Points and places stand beside the names."
    heads = ["replay", *(f"seat {seat}" for seat in players)]
    return ["<h2>Games</h2>", f"<p>{words}</p>", f'<div class="games">{_table(heads, rows)}</div>']


def _needed(result: Tables) -> str:
    told = [row for row in result.games_needed if row.told is not None]
    if not told:
        return "<p>Too few deals to tell.</p>"
    heads = ["pair", "told by these games", *(f"{50 + 100 * float(d):g} %" for d in told[0].needed)]
    rows = [
        _row(f"{row.agent}, {row.other}", told_words(row), *(f"{n:,}" for n in row.needed.values())) for row in told
    ]
    words = (
        "Games of such a tournament that are needed to tell from 50 % that one of two neighbours in the table is "
        "placed before the other in so many of their meetings, with errors of 5\u00a0% and a chance of 80\u00a0% to "
        "find it."
    )
    return f"<p>{words}</p>" + _table(heads, rows)


def _versions(result: Tables) -> str:
    return ", ".join(f"{name} {number}" for name, number in result.as_dict()["versions"].items())
