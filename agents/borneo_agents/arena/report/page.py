"""The report of an arena: a page for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

from borneo_agents.arena.design.lineups import LINEUPS
from borneo_agents.arena.report.sections import EXAMPLE, Row, Section, sections
from borneo_agents.arena.report.tables import ArenaTables, versions_used
from borneo_agents.arena.report.words import fault_lines, headline, isolation_words, verdict_words
from borneo_env.render.pen import INK
from borneo_env.render.symbols import CARD, FAINT, FOAM, GOLD, PAPER, PAPER_EDGE, SEA
from kontor.files import in_short

NO_PLOTS = "No plots: matplotlib is missing. <code>pip install '.[arena]'</code> in the project's folder brings them."
NO_REPLAYS: Mapping[int, str] = {}
MOST_LINKED, PAGE = 1000, ".html"  # games; what the name of a page ends in
MANY = 40  # rows from which on a table scrolls
STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
COLOURS = {  # by their names there, in light and in dark; plots are light
    "ground": (PAPER, "#14272f"),
    "leaf": (CARD, SEA),
    "text": (INK, FOAM),
    "quiet": (FAINT, "#cdbf9c"),
    "edge": (PAPER_EDGE, "#5d7a80"),
    "accent": ("#7a2019", "#f0c464"),
    "sea": (SEA, SEA),
    "foam": (FOAM, FOAM),
    "gold": (GOLD, GOLD),
}
HEADER = '<header><span class="brand">BORNEO</span> <span>An arena</span></header>'


def report(result: ArenaTables, command: str | None = None, replays: Mapping[int, str] = NO_REPLAYS) -> str:
    """The page: all in one file, nothing fetched from anywhere; with links to recorded games, by their numbers."""
    plan, drawn = result.tournament, drawings(result)
    head = headline(result)
    lines = [*(f"{line}." for line in fault_lines(result) if line != head), verdict_words(result)]
    parts = [
        f"<h1>{escape(head).replace(' %', '&nbsp;%')}</h1>",
        *(f"<p>{escape(line)}</p>" for line in lines if line),
        *([] if drawn else [f'<p class="note">{NO_PLOTS}</p>']),
        *(html_of(section, drawn, replays) for section in [*sections(result), *_recorded(result, replays)]),
        _how(result, command),
    ]
    colours = "".join(f"--{name}:light-dark({light},{dark});" for name, (light, dark) in COLOURS.items())
    about = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    about += f"<title>Borneo arena: {escape(', '.join(plan.agents))}</title>\n<style>:root{{{colours}}}{STYLE}</style>"
    body = "\n".join(part for part in parts if part)
    page = f"{HEADER}\n<main>\n{body}\n</main>"
    return f'<!doctype html>\n<html lang="en">\n<head>{about}</head>\n<body>\n{page}\n</body>\n</html>\n'


def html_of(section: Section, drawn: Mapping[str, str] = {}, links: Mapping[int, str] = NO_REPLAYS) -> str:
    """A section of the page; none where it is only a plot that was not drawn."""
    if section.text:
        return f"<p>{escape(section.title)}:</p><pre>{escape(section.text)}</pre>"
    plot = drawn.get(section.plot, "")
    if not plot and not section.rows:
        return ""
    caption = "".join(f"<p>{escape(line)}</p>" for line in section.caption.splitlines())
    figure = f'<figure class="{section.plot}">{plot}</figure>' if plot else ""
    return f"<h2>{escape(section.title)}</h2>{caption}{figure}{_table(section, links)}"


def _table(section: Section, links: Mapping[int, str]) -> str:
    if not section.rows:
        return ""
    heads = "".join(f"<th{' class=words' if head == EXAMPLE else ''}>{escape(head)}</th>" for head in section.heads)
    rows = "\n".join(_row(row, section.heads, links) for row in section.rows)
    wide = "wide games" if len(section.rows) > MANY else "wide"
    return f'<div class="{wide}"><table><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'


def _row(row: Row, heads: Row, links: Mapping[int, str]) -> str:
    if len(row) == 1:
        return f'<tr class="part"><td colspan="{len(heads)}">{escape(row[0])}</td></tr>'
    kinds = [' class="words"' if head == EXAMPLE else "" for head in heads]
    cells = (f"<td{kind}>{_cell(cell, links)}</td>" for kind, cell in zip(kinds, row, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(cell: str, links: Mapping[int, str]) -> str:
    """A game that it begins with as a link; a figure with its interval less prominent."""
    game = re.match(r"game (\d+)", cell)
    if game and int(game[1]) in links:
        return f'<a href="{escape(links[int(game[1])])}">{game[0]}</a>{escape(cell[game.end() :])}'
    value, sign, interval = escape(cell).partition(" ±")
    return f'{value} <span class="pm">±{interval}</span>' if sign else value


def _recorded(result: ArenaTables, links: Mapping[int, str]) -> list[Section]:
    """The games that were recorded: their pages for a browser, or their records."""
    recorded = [row for row in result.outcomes if int(row["game"]) in links]
    if not recorded:
        return []
    names, players = result.tournament.agents, range(result.tournament.ruleset.players)
    rows = [
        [
            f"game {row['game']}",
            *(f"{names[row['seats'][seat]]} {row['scores'][seat]} ({row['places'][seat]}.)" for seat in players),
        ]
        for row in recorded[:MOST_LINKED]
    ]
    some = f"The first {MOST_LINKED:,} of {len(recorded):,}" if len(recorded) > MOST_LINKED else "All"
    pages = all(link.endswith(PAGE) for link in links.values())
    opened = "Each opens step by step." if pages else "The command borneo replay makes a page of a record."
    caption = f"{some} recorded games, with points and places beside the names. {opened}"
    return [Section("Games", ["game", *(f"seat {seat}" for seat in players)], rows, caption)]


def _how(result: ArenaTables, command: str | None) -> str:
    plan = result.tournament
    versions = ", ".join(f"{name} {number}" for name, number in versions_used().items())
    parts = [
        "<h2>How this was measured</h2>",
        f"<p>Line-ups: {LINEUPS[plan.lineups]}. Every line-up plays the same deals, and every agent sits in every seat "
        "equally often on each of them; who sits beside whom changes from deal to deal. An agent that crashes, makes "
        f"an illegal move or thinks longer than {plan.time_limit:g} s about a decision loses that game at once: it is "
        "placed last, the others share the win, and points are as they stood.</p>",
        f"<p>{escape(isolation_words(plan))}.</p>" if isolation_words(plan) else "",
        f"<p><code>{escape(command)}</code></p>" if command else "",
        f'<p class="note">{escape(versions)}</p>',
    ]
    return "\n".join(filter(None, parts))


def drawings(result: ArenaTables) -> dict[str, str]:
    """The plots by name; none without the extra `arena`."""
    try:
        from borneo_agents.arena.report.plots import plots
    except ModuleNotFoundError:
        return {}
    return plots(result)


def drawing(result: ArenaTables, name: str) -> str:
    """One of the plots, as SVG."""
    try:
        from borneo_agents.arena.report.plots import KINDS, draw
    except ModuleNotFoundError as error:
        raise ValueError(f"plots need {error.name}: pip install '.[arena]' in the project's folder") from None
    if name not in KINDS:
        raise ValueError(f"there is no plot {in_short(name)}; known are: {', '.join(KINDS)}")
    return draw(result, name)
