"""What an arena shows in the terminal: how far it is, and the sections at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from borneo_agents.arena.report.sections import EXAMPLE, NAME, Row, Section, sections
from borneo_agents.arena.report.tables import ArenaTables, Progress
from borneo_agents.arena.report.words import fault_lines, verdict_words
from borneo_env.console import progress_bar
from borneo_env.engine.state import NOBODY


@contextmanager
def watching() -> Iterator[Callable[[Progress], None]]:
    """A bar of the games that are over, in a terminal: what it yields is the `watch` of `play_arena`."""
    with progress_bar() as bar:

        def watch(progress: Progress) -> None:
            if not bar.task_ids:
                bar.add_task("games", total=progress.tournament.games, completed=progress.kept)
            bar.update(bar.task_ids[0], completed=progress.finished)

        yield watch


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
