"""What an arena shows in the terminal: a table that grows while it plays, and the sections at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.measure import Measurement
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from borneo_agents.arena.report.sections import EXAMPLE, NAME, Row, Section, sections
from borneo_agents.arena.report.tables import ArenaTables, Progress
from borneo_agents.arena.report.words import fault_lines, verdict_words
from borneo_agents.statistics.results import results, seat_sums
from borneo_env.engine.state import NOBODY

PER_SECOND = 4  # how often the growing table is drawn


@contextmanager
def watching(console: Console) -> Iterator[Callable[[Progress], None]]:
    """A growing table, if the console is a terminal: what it yields is the `watch` of `play_arena`."""
    began, drawn = time.monotonic(), 0.0

    def watch(progress: Progress) -> None:
        nonlocal began, drawn
        now = time.monotonic()
        if progress.finished == progress.kept:
            began = now  # getting ready does not count
        if now - drawn > 1 / PER_SECOND:
            drawn = now
            live.update(_growing(progress, now - began), refresh=True)

    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield watch


def _growing(progress: Progress, seconds: float) -> RenderableType:
    total = progress.tournament.games
    played = progress.finished - progress.kept
    speed = played / seconds if seconds else 0.0
    left = _clock((total - progress.finished) / speed) if speed else "?"
    line = Table.grid(padding=(0, 2))
    line.add_row(
        ProgressBar(total, progress.finished, width=30),
        f"{progress.finished:,} of {total:,} games",
        f"{speed:,.1f} games/s" if speed < 10 else f"{speed:,.0f} games/s",
        f"{left} left",
    )
    return Group(line, _running(progress))


def _running(progress: Progress) -> RenderableType:
    games = progress.outcomes
    if not len(games):
        return Text("the agents get ready, and the first games are under way", style="dim")
    found = results(progress.tournament.agents, games["seats"], games["places"], games["scores"], games["deal"])
    columns = []
    for values in (found.win_shares, found.mean_places, found.scores):
        sums, seats = seat_sums(found, values)
        columns.append(sums.sum(0) / seats.sum(0))
    rows = []
    for i in columns[0].argsort()[::-1]:
        wins, place, points = (column[i] for column in columns)
        rows.append([found.agents[i], f"{wins:.1%}", f"{place:.2f}", f"{points:.1f}"])
    return Fitted(["agent", "win share", "place", "points"], rows, least=("points", "place"))


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


# ---------------------------------------------------------------- at the end


def print_result(console: Console, result: ArenaTables) -> None:
    """All sections of a result, below what was lost by faults."""
    lines = fault_lines(result)
    if (result.outcomes["offender"] != NOBODY).all():
        lines.append("No game was played to its end, so there is nothing to measure.")
    if lines:
        console.print(Text("\n".join(lines), style="bold red"))
    for section in sections(result):
        if section.text:  # the lines of a traceback are copied into editors
            console.print(Text(f"{section.title}:\n", style="bold").append(f"{section.text}\n"), soft_wrap=True)
        elif section.rows:
            console.print(_shown(section))
    if result.verdict:
        console.print(Text(verdict_words(result), style="bold"))


def _shown(section: Section) -> RenderableType:
    """A section with words above and below its table, which may be wider than that."""
    table: RenderableType
    if EXAMPLE in section.heads:
        table = _wordy(section)
    else:
        rows = [_brief(row) if section.brief else row for row in section.rows]
        table = Fitted(section.heads, rows, section.least, section.of_agents)
    below = [Text(section.caption, style="dim italic")] if section.caption else []
    return Group(Text(section.title, style="italic"), table, *below)


def _wordy(section: Section) -> Table:
    """A table whose last column is words, which may be broken."""
    table = _table(section.heads, [[cut(row[0], NAME), *row[1:]] for row in section.rows])
    table.columns[-1].justify, table.columns[-1].no_wrap, table.columns[-1].overflow = "left", False, "fold"
    return table


def _brief(row: Row) -> Row:
    """A row of figures without their intervals."""
    return [row[0], *(cell.partition(" ")[0] for cell in row[1:])]


class Fitted:
    """A table as wide as there is room: no name is broken over lines, no figure loses a digit.

    Where there is too little room the columns in `least` are left out, one by one. Where columns are agents, they are
    numbered instead, and stand in several tables if they must. What is still too long in the first column is cut.
    """

    def __init__(
        self, heads: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[str] = (), agents: bool = False
    ) -> None:
        self.heads, self.rows, self.least, self.agents = list(heads), [list(row) for row in rows], least, agents

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        def width(heads: list[str], rows: list[list[str]]) -> int:
            return Measurement.get(console, options.update(width=10_000), _table(heads, rows)).maximum

        room, heads, rows = options.max_width, self.heads, self.rows
        for least in self.least:
            if width(heads, rows) > room:
                at = heads.index(least)
                heads, *rows = [row[:at] + row[at + 1 :] for row in (heads, *rows)]
        if self.agents and width(heads, rows) > room:
            yield Text(" · ".join(f"{number} {name}" for number, name in enumerate(heads[1:], 1)), style="dim")
            heads = [heads[0], *(str(number) for number in range(1, len(heads)))]
        while len(heads) > 1:
            shown = len(heads) if not self.agents else 2
            while shown < len(heads) and width(heads[: shown + 1], [row[: shown + 1] for row in rows]) <= room:
                shown += 1
            part = [row[:shown] for row in rows]
            longest = max((len(line) for row in part for line in row[0].splitlines()), default=0)
            longest -= max(0, width(heads[:shown], part) - room)
            names = ["\n".join(cut(line, longest) for line in row[0].splitlines()) for row in part]
            yield _table(heads[:shown], [[name, *row[1:]] for name, row in zip(names, part, strict=True)])
            heads, rows = [heads[0], *heads[shown:]], [[row[0], *row[shown:]] for row in rows]


def cut(name: str, room: int) -> str:
    """A name in so many columns: what is cut out is its middle, since agents often differ at both ends."""
    if len(name) <= room:
        return name
    end = max(0, room - 1) // 2
    return f"{name[: max(1, room - 1 - end)]}…{name[len(name) - end :]}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of words as they are: names such as [red] are no markup."""
    table = Table(box=box.SIMPLE, collapse_padding=True, pad_edge=False)
    for i, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if i else "left", no_wrap=True)
    for row in rows:
        if len(row) == 1:  # a heading
            table.add_section()
        table.add_row(*map(Text, row))
    return table
