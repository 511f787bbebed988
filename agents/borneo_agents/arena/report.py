"""The report of an arena: a page for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from borneo_agents.arena.colours import themed, variables
from borneo_agents.arena.tables import Tables
from borneo_agents.arena.tournament import LINEUPS
from borneo_agents.arena.words import (
    ahead_words,
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
MOST_LINKED, PAGE = 1000, ".html"  # games; what the name of a page ends in
STYLE = """
:root { color-scheme: light dark }
:root[data-theme=light] { color-scheme: light }
:root[data-theme=dark] { color-scheme: dark }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 17px/1.5 "Source Serif Pro", Georgia, "DejaVu Serif", serif }
header { display: flex; align-items: baseline; gap: 1rem; padding: .5rem 1rem;
  background: var(--sea); color: var(--foam) }
header .brand { color: var(--gold); font-weight: 600; font-size: 1.4rem; letter-spacing: .04em }
header button { margin-left: auto; font: inherit; color: inherit; background: none; padding: .1rem .6rem;
  border: 1.5px solid var(--edge); border-radius: 8px; cursor: pointer }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
main { max-width: 68rem; margin: 1rem auto; padding: .8rem 2rem 2rem; background: var(--leaf);
  border: 1px solid var(--edge); border-radius: 9px; overflow-wrap: break-word }
h1 { font-size: 2rem; line-height: 1.2; margin: .6rem 0 .3rem; font-weight: 600 }
h2 { font-size: 1.3rem; margin: 2.4rem 0 .4rem; font-weight: 600 }
p { margin: .4rem 0 .9rem; max-width: 46rem }
a { color: var(--accent) }
.lead, .note { color: var(--quiet) }
.note { font-size: .93rem }
.wide { overflow-x: auto }
table { border-collapse: separate; border-spacing: 0; font-size: .93rem; line-height: 1.4;
  font-variant-numeric: tabular-nums;
  margin: .6rem 0 }
th, td { padding: .32rem .9rem .32rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid color-mix(in srgb, var(--edge) 40%, transparent) }
th { font-weight: 400; font-style: italic; color: var(--quiet); vertical-align: bottom;
  border-bottom-color: var(--edge) }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--leaf) }
th.words { text-align: left }
td.words { white-space: normal; text-align: left; min-width: 16rem }
tr.part td { border-bottom: 0; padding-top: 1rem; color: var(--accent); font-weight: 600 }
.games { max-height: 24rem; overflow-y: auto }
.pm { color: var(--quiet) }
figure { margin: .6rem 0; overflow-x: auto }
figure svg { width: 100%; min-width: 38rem; max-width: 56rem; height: auto; display: block }
figure.small svg { width: auto; min-width: 0 }
code, pre { font: 14px/1.5 ui-monospace, Menlo, Consolas, monospace; background: var(--ground); border-radius: 5px }
code { padding: .1rem .35rem; overflow-wrap: anywhere }
pre { padding: .7rem .9rem; overflow-x: auto; white-space: pre-wrap }
@media (max-width: 40rem) { main { margin: 0; padding: .4rem .8rem 2rem; border-width: 0 } h1 { font-size: 1.5rem }
  td:first-child { white-space: normal; min-width: 6.5rem } }
@media print { :root { color-scheme: light } header { display: none } main { border: 0; padding: 0 }
  h2 { break-after: avoid } figure, tr { break-inside: avoid } }
"""
SCRIPT = """
const root = document.documentElement, button = document.getElementById("theme");
const kept = (theme) => {
  try {
    if (theme) localStorage.setItem("borneo-theme", theme);
    return localStorage.getItem("borneo-theme") ?? "";
  } catch { return ""; }
};
const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const say = () => { button.textContent = dark() ? "Light" : "Dark"; };
if (["light", "dark"].includes(kept())) root.dataset.theme = kept();
button.addEventListener("click", () => { kept(root.dataset.theme = dark() ? "light" : "dark"); say(); });
system.addEventListener("change", say);
button.hidden = false;
say();
"""
HEADER = """<header><span class="brand">BORNEO</span> <span>An arena</span>
<button id="theme" type="button" title="Light or dark colours" hidden>Dark</button></header>"""


def report(result: Tables, command: str | None = None, replays: Mapping[int, str] = NO_REPLAYS) -> str:
    """The page: all in one file, nothing fetched from anywhere; with links to recorded games, by their numbers."""
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
        *_faults(result, replays),
        *_replays(result, replays),
        *_drawn(drawn, "strengths", "Strength", STRENGTH),
        *_cross(result, drawn),
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
    about += f"<title>Borneo arena: {escape(', '.join(plan.agents))}</title>\n<style>{variables()}{STYLE}</style>"
    body = "\n".join(part for part in parts if part)
    page = f"{HEADER}\n<main>\n{body}\n</main>\n<script>{SCRIPT}</script>"
    return f'<!doctype html>\n<html lang="en">\n<head>{about}</head>\n<body>\n{page}\n</body>\n</html>\n'


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
    return [f"<h2>{heading}</h2>", told, f"{figure}{themed(drawn[name])}</figure>"]


def _cross(result: Tables, drawn: dict[str, str]) -> list[str]:
    """Who was placed before whom; of two agents it is one number, which needs no plot."""
    heading = "Who was placed before whom"
    if len(result.standings) > 2:
        return _drawn(drawn, "cross", heading, CROSS, "small")
    return _drawn(drawn, "cross", heading, ahead_words(result)) or [
        f"<h2>{heading}</h2><p>{escape(ahead_words(result))}</p>"
    ]


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


def _faults(result: Tables, links: Mapping[int, str]) -> list[str]:
    if not result.faults:
        return []
    rows = [
        f'<tr><td>{escape(row.agent)}</td><td>{escape(row.kind)}</td><td>{row.games:,}</td><td class="words">'
        f"{_link(row.game, links)}: {escape(row.reason)}</td></tr>"
        for row in fault_rows(result)
    ]
    parts = ["<h2>Games lost by a fault</h2>", _table(["agent", "fault", "games", EXAMPLE], rows)]
    for trace in result.traces:
        parts += [f"<p>{escape(trace_words(result.tournament, trace))}:</p>", f"<pre>{escape(trace.text)}</pre>"]
    return parts


def _replays(result: Tables, links: Mapping[int, str]) -> list[str]:
    """The games that were recorded: their pages for a browser, or their records."""
    recorded = [row for row in result.outcomes if int(row["game"]) in links]
    if not recorded:
        return []
    names, players = result.tournament.agents, range(result.tournament.ruleset.players)
    rows = []
    for row in recorded[:MOST_LINKED]:
        told = [f"{names[row['seats'][seat]]} {row['scores'][seat]} ({row['places'][seat]}.)" for seat in players]
        cells = "".join(f"<td>{escape(words)}</td>" for words in told)
        rows.append(f"<tr><td>{_link(int(row['game']), links)}</td>{cells}</tr>")
    some = f"The first {MOST_LINKED:,} of {len(recorded):,}" if len(recorded) > MOST_LINKED else "All"
    words = f"{some} recorded games, with points and places beside the names. {_opened(links)}"
    heads = ["game", *(f"seat {seat}" for seat in players)]
    return ["<h2>Games</h2>", f"<p>{words}</p>", f'<div class="games">{_table(heads, rows)}</div>']


def _opened(links: Mapping[int, str]) -> str:
    """How those games are looked at."""
    if all(link.endswith(PAGE) for link in links.values()):
        return "Each opens step by step."
    return "<code>borneo replay</code> makes a page of a record, to step through it."


def _link(game: int, links: Mapping[int, str]) -> str:
    words = f"game {game}"
    return f'<a href="{escape(links[game])}">{words}</a>' if game in links else words


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
