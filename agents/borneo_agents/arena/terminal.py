"""What an arena shows in the terminal: a table that grows while it plays, and the tables at the end."""

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

from borneo_agents.arena.run import Progress
from borneo_agents.arena.tables import Tables
from borneo_agents.arena.words import (
    fault_lines,
    fault_rows,
    isolation_words,
    par_words,
    standings_rows,
    title,
    told_words,
    trace_words,
    verdict_words,
)
from borneo_agents.statistics.results import results, seat_sums
from borneo_env.engine.state import NOBODY

NAME = 40  # columns of a name beside other words
PER_SECOND = 4  # how often the growing table is drawn


class Watcher:
    """Draws the progress of a run."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._began = time.monotonic()
        self._drawn = 0.0

    def watch(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.finished == progress.kept:
            self._began = now  # getting ready does not count
        if now - self._drawn > 1 / PER_SECOND:
            self._drawn = now
            self._live.update(_growing(progress, now - self._began), refresh=True)


@contextmanager
def watching(console: Console) -> Iterator[Callable[[Progress], None]]:
    """A growing table, if the console is a terminal: what it yields is the `watch` of `play_arena`."""
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield Watcher(live).watch


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


def print_result(console: Console, result: Tables) -> None:
    """All tables of a result; where no game was played to its end, only why."""
    measured = (_standings, _cross, _lone, _profiles, _needed, _verdict)
    finished = (result.outcomes["offender"] == NOBODY).any()
    for part in (_lost, *(measured if finished else ()), _faults, _traces):
        shown = part(result)
        if shown is not None:
            console.print(shown, soft_wrap=part is _traces)  # the lines of a traceback are copied into editors


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
        table.add_row(*map(Text, row)) if row[0] else table.add_section()
    return table


def _titled(title: str, table: RenderableType, caption: str = "") -> RenderableType:
    """A table with words above and below, which may be wider than it is."""
    below = [Text(caption, style="dim italic")] if caption else []
    return Group(Text(title, style="italic"), table, *below)


def _lost(result: Tables) -> RenderableType | None:
    lines = fault_lines(result)
    if (result.outcomes["offender"] != NOBODY).all():
        lines.append("No game was played to its end, so there is nothing to measure.")
    return Text("\n".join(lines), style="bold red") if lines else None


def _standings(result: Tables) -> RenderableType:
    heads, *rows = standings_rows(result)
    most = "max: copies of an agent cannot all win; " if len(heads) > 4 else ""
    shares = f"wins per seat: {par_words(result)}; {most}"
    caption = f"{shares}±: 95 % interval over deals; strength as in Elo; ms: for a decision"
    caption = "\n".join(filter(None, (caption, isolation_words(result.tournament))))
    strength = {row.agent: row.points for row in result.strengths.strengths}
    thought = _milliseconds(result)
    table = Fitted(
        [*heads, "strength", "ms"],
        [[*row, strength[row[0]].words("+.0f"), f"{thought[row[0]]:.3g}"] for row in rows],
        least=[head for head in ("ms", "points", "place", "max, %", "strength") if head in (*heads, "strength", "ms")],
    )
    return _titled(title(result), table, caption)


def _milliseconds(result: Tables) -> dict[str, float]:
    names = result.tournament.agents
    decisions = [result.outcomes["decisions"][result.outcomes["seats"] == i].sum() for i in range(len(names))]
    return {name: 1000 * s / max(1, n) for name, s, n in zip(names, result.seconds, decisions, strict=True)}


def _cross(result: Tables) -> RenderableType:
    order = [row.agent for row in result.standings]
    before = {(row.agent, row.other): row.before.value for row in result.cross_table}
    rows = [
        [agent, *(f"{100 * before[agent, other]:.1f}" if (agent, other) in before else "" for other in order)]
        for agent in order
    ]
    table = Fitted(["", *order], rows, agents=True)
    return _titled("placed before the agent of the column, %; ties half", table)


def _lone(result: Tables) -> RenderableType | None:
    if not result.lone_seats:
        return None
    order = [row.agent for row in result.standings]
    shares = {(row.agent, row.other): row.win_share.words(".1f", unit=0.01) for row in result.lone_seats}
    games = result.lone_seats[0].games
    words = f"wins, %, alone against copies of the agent of the column ({games:,} games each)"
    rows = [[agent, *(shares.get((agent, other), "") for other in order)] for agent in order]
    return _titled(words, Fitted(["", *order], rows, agents=True))


def _profiles(result: Tables) -> RenderableType:
    profiles = {profile.agent: profile for profile in result.profiles}
    order = [profiles[row.agent] for row in result.standings]
    rows: list[list[str]] = []
    for heading, part in (("points: ", "points"), ("contracts: ", "contracts"), ("", "doings")):
        for what in getattr(order[0], part):
            values = [getattr(profile, part)[what] for profile in order]
            if any(figure.value for figure in values):
                rows.append([heading + what, *(f"{figure.value:.2f}" for figure in values)])
        rows.append([""] * (1 + len(order)))
    rows.append(["decisions", *(f"{profile.decisions.value:.1f}" for profile in order)])
    rows.append(["turns, all players", *(f"{profile.turns.value:.1f}" for profile in order)])
    for seat in range(result.tournament.ruleset.players):
        shares = [profile.win_share_by_seat[seat] for profile in order]
        name = "wins, %, start player" if seat == 0 else f"wins, %, seat {seat + 1} in turn"
        rows.append([name, *("" if share is None else f"{100 * share.value:.1f}" for share in shares)])
    return _titled(
        "how they play", Fitted(["mean of a game", *(profile.agent for profile in order)], rows, agents=True)
    )


def _faults(result: Tables) -> RenderableType | None:
    if not result.faults:
        return None
    rows = [[cut(row.agent, NAME), row.kind, f"{row.games:,}", row.example] for row in fault_rows(result)]
    table = _table(["agent", "fault", "games", "for example"], rows)
    table.columns[-1].justify, table.columns[-1].no_wrap, table.columns[-1].overflow = "left", False, "fold"
    return _titled("games lost by a fault", table)


def _traces(result: Tables) -> RenderableType | None:
    if not result.traces:
        return None
    told = Text()
    for trace in result.traces:
        told.append(f"{trace_words(result.tournament, trace)}:\n", style="bold").append(f"{trace.text}\n")
    return told


def _needed(result: Tables) -> RenderableType | None:
    rows = [row for row in result.games_needed if row.told is not None]
    if not rows:
        return None
    heads = ["pair", "told by now", *(f"{50 + 100 * float(d):g} %" for d in rows[0].needed)]
    needed = [[told_words(row), *(f"{games:,}" for games in row.needed.values())] for row in rows]
    between = ", " if max(len(row.agent + row.other) for row in rows) < NAME else ",\n"
    pairs = [f"{row.agent}{between}{row.other}" for row in rows]
    table = Fitted(heads, [[pair, *row] for pair, row in zip(pairs, needed, strict=True)], least=heads[:1:-1])
    title = "games needed to tell from 50 % in the cross table"
    return _titled(title, table, "with 5 % errors and 80 % chance to find it")


def _verdict(result: Tables) -> RenderableType | None:
    return Text(verdict_words(result), style="bold") if result.verdict else None
