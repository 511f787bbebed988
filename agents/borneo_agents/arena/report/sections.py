"""Sections: all that came of an arena as titles, tables and captions, which the terminal and the report show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from borneo_agents.arena.report.tables import ArenaTables, GamesNeeded
from borneo_agents.arena.report.words import ahead_words, isolation_words, par_words, title, trace_words
from borneo_env.engine.state import NOBODY
from borneo_env.outcomes import points_words

EXAMPLE = "for example"  # the head of a column of words
NAME = 40  # letters of two names that stand on one line
STRENGTH = (
    "Plackett-Luce strengths explain all places of all games by one number for each agent. As with Elo, 400 points "
    "more mean ten times the strength; 0 is the mean of these agents."
)
SEATS = "Win share by place in the turn order, with 95 % intervals. The dashed line is an equal share."

Row = Sequence[str]


@dataclass(frozen=True)
class Section:
    """A table, a plot or a text, with words above and below it."""

    title: str
    heads: Row = ()
    rows: Sequence[Row] = ()  # one that has a first cell only is the heading of those below it
    caption: str = ""
    plot: str = ""  # of the report, by name
    text: str = ""  # whose lines stay as they are
    of_agents: bool = False  # whether its columns are agents
    least: Sequence[str] = ()  # columns that are left out where they have no room, this one first
    brief: bool = False  # whether the terminal leaves intervals out


def sections(result: ArenaTables) -> list[Section]:
    """All sections of a result; where no game was played to its end, only those that say why."""
    measured = _measured(result) if (result.outcomes["offender"] == NOBODY).any() else []
    traces = [Section(trace_words(result.tournament, trace), text=trace.text) for trace in result.traces]
    return [*measured, *_faults(result), *traces]


def _measured(result: ArenaTables) -> list[Section]:
    points = points_words(result.tournament.ruleset)
    return [
        _standings(result),
        Section("Strength", plot="strengths", caption=STRENGTH),
        _cross(result),
        *_lone(result),
        _profiles(result),
        Section("Where the points come from", plot="points", caption=points),
        Section("Seats", plot="seats", caption=SEATS),
        Section("Length of the games", plot="lengths"),
        *_needed(result),
    ]


def standings_rows(result: ArenaTables) -> list[list[str]]:
    """The heads and the rows of the standings; where copies of an agent met, with the highest share it can have."""
    rows = [["agent", "wins, %", "max, %", "place", "points"]]
    for row in result.standings:
        wins, place = row.win_share.words(".1f", 0.01), row.place.words(".2f")
        rows.append([row.agent, wins, f"{100 * row.highest:.3g}", place, row.points.words(".1f")])
    if all(row.highest == 1 for row in result.standings):
        return [[*row[:2], *row[3:]] for row in rows]
    return rows


def _standings(result: ArenaTables) -> Section:
    heads, *rows = standings_rows(result)
    strength = {row.agent: row.points.words("+.0f") for row in result.strengths.strengths}
    seats = {row.agent: f"{row.seats:,}" for row in result.standings}
    thought = _milliseconds(result)
    copies = "; max: copies of an agent cannot all win" if "max, %" in heads else ""
    caption = [
        f"Wins per seat: {par_words(result)}{copies}. ±: half of a 95 % interval over deals, since games of a deal are "
        "alike; strength as in Elo; ms: for a decision.",
        isolation_words(result.tournament),
    ]
    return Section(
        title(result),
        [*heads, "strength", "seats", "ms"],
        [[*row, strength[row[0]], seats[row[0]], f"{thought[row[0]]:.3g}"] for row in rows],
        "\n".join(filter(None, caption)),
        least=[head for head in ("seats", "ms", "points", "place", "max, %", "strength") if head != "max, %" or copies],
    )


def _milliseconds(result: ArenaTables) -> dict[str, float]:
    """How long each agent has thought about a decision."""
    names = result.tournament.agents
    decisions = [result.outcomes["decisions"][result.outcomes["seats"] == i].sum() for i in range(len(names))]
    return {name: 1000 * s / max(1, n) for name, s, n in zip(names, result.seconds, decisions, strict=True)}


def _cross(result: ArenaTables) -> Section:
    shares = {(row.agent, row.other): f"{100 * row.before.value:.1f}" for row in result.cross_table}
    caption = ahead_words(result) if len(result.standings) == 2 else "Ties count half."
    return _by_pair(result, "Placed before the agent of the column, %", shares, caption, "cross")


def _lone(result: ArenaTables) -> list[Section]:
    if not result.lone_seats:
        return []
    shares = {(row.agent, row.other): row.win_share.words(".1f", unit=0.01) for row in result.lone_seats}
    caption = f"Copies of the agent of the column take all other seats, in {result.lone_seats[0].games:,} games each."
    return [_by_pair(result, "Wins, %, alone against the rest", shares, caption)]


def _by_pair(
    result: ArenaTables, title: str, shares: dict[tuple[str, str], str], caption: str, plot: str = ""
) -> Section:
    order = [row.agent for row in result.standings]
    rows = [[agent, *(shares.get((agent, other), "") for other in order)] for agent in order]
    return Section(title, ["", *order], rows, caption, plot, of_agents=True)


def _profiles(result: ArenaTables) -> Section:
    profiles = {profile.agent: profile for profile in result.profiles}
    order = [profiles[row.agent] for row in result.standings]
    rows = []
    for group, measures in order[0].measures.items():
        rows.append([group])
        for what in measures:
            figures = [profile.measures[group][what] for profile in order]
            if any(figure.value for figure in figures):
                rows.append([what, *(figure.words(".2f") for figure in figures)])
    rows.append(["length"])
    rows.append(["own decisions, not forced", *(one.decisions.words(".1f") for one in order)])
    rows.append(["turns, all players together", *(one.turns.words(".1f") for one in order)])
    rows.append(["wins by seat, %"])
    for seat in range(result.tournament.ruleset.players):
        name = "start player" if seat == 0 else f"seat {seat + 1} in turn"
        shares = [one.win_share_by_seat[seat] for one in order]
        rows.append([name, *(share.words(".1f", unit=0.01) if share else "" for share in shares)])
    heads = ["mean of a game", *(profile.agent for profile in order)]
    return Section("How they play", heads, rows, of_agents=True, brief=True)


def _needed(result: ArenaTables) -> list[Section]:
    needed = [row for row in result.games_needed if row.told is not None]
    if not needed:
        return []
    heads = ["pair", "these games tell", *(f"{50 + 100 * float(difference):g} %" for difference in needed[0].needed)]
    between = ", " if max(len(row.agent + row.other) for row in needed) < NAME else ",\n"
    rows = [
        [f"{row.agent}{between}{row.other}", least_share(row), *(f"{games:,}" for games in row.needed.values())]
        for row in needed
    ]
    caption = (
        "To tell from 50 % that one of two neighbours in the standings is placed before the other in so many of their "
        "meetings, with 5 % errors and 80 % chance to find it."
    )
    return [Section("Games needed", heads, rows, caption, least=heads[:1:-1])]


def least_share(row: GamesNeeded) -> str:
    """The smallest share of meetings that the games played can tell from a half; few games tell nothing."""
    return f"{50 + 100 * row.told:.1f} %" if row.told is not None and row.told < 0.5 else "nothing"


def _faults(result: ArenaTables) -> list[Section]:
    if not result.faults:
        return []
    return [Section("Games lost by a fault", ["agent", "fault", "games", EXAMPLE], fault_rows(result))]


def fault_rows(result: ArenaTables) -> list[list[str]]:
    """The faults of each agent by kind, with one of them as an example: that with the traceback, if there is one."""
    example = {(fault.agent, fault.kind): fault for fault in reversed(result.faults)}
    traced = {(trace.agent, trace.kind, trace.game) for trace in result.traces}
    example |= {fault[2:4]: fault for fault in result.faults if (fault.agent, fault.kind, fault.game) in traced}
    games = Counter((fault.agent, fault.kind) for fault in result.faults)
    return [
        [
            result.tournament.agents[agent],
            kind,
            f"{games[agent, kind]:,}",
            f"game {example[agent, kind].game}: {example[agent, kind].reason}",
        ]
        for agent, kind in sorted(example)
    ]
