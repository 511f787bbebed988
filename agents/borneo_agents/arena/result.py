"""ArenaResult: the tables of an arena that print themselves, show themselves in a notebook, and write a report."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from borneo_agents.arena.report.page import drawing, report
from borneo_agents.arena.report.replays import game_links
from borneo_agents.arena.report.sections import standings_rows
from borneo_agents.arena.report.tables import ArenaTables
from borneo_agents.arena.report.words import fault_lines, title
from borneo_agents.arena.store.folder import GAMES, REPORT, RESULTS, Folder
from kontor.files import make_folder, write_file


class Drawing(str):
    """A plot as SVG; a notebook shows it."""

    def __repr__(self) -> str:
        return f"<a plot, {len(self):,} characters of SVG>"

    def _repr_svg_(self) -> str:
        return str(self)


class ArenaResult(ArenaTables):
    """The games of an arena, and what they say. Tables are computed when they are asked for."""

    def __repr__(self) -> str:
        """The standings as text."""
        rows = standings_rows(self)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*fault_lines(self), title(self), *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        """What a notebook shows: the standings as a table."""
        heads, *rows = [[escape(cell) for cell in row] for row in standings_rows(self)]
        lines = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in heads)}</tr>"]
        lines += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
        faults = "".join(f"<p><b>{escape(line)}</b></p>" for line in fault_lines(self))
        return f"{faults}<table><caption>{escape(title(self))}</caption>{''.join(lines)}</table>"

    def plot(self, name: str) -> Drawing:
        """A plot of the report, which shows itself in a notebook: strengths, cross, points, seats or lengths."""
        return Drawing(drawing(self, name))

    def report(self, path: str | Path) -> Path:
        """Write the report, a page for people; returns its path."""
        make_folder(Path(path).parent)
        write_file(path, report(self))
        return Path(path)

    def write(self, folder: str | Path, command: str | None = None) -> None:
        """Write all files into a folder: report.html, results.json and games.csv."""
        place = Folder(folder)
        make_folder(place.path)
        place.write(RESULTS, json.dumps(self.as_dict(command), indent=1) + "\n")
        place.write(GAMES, self.games_csv())
        place.write(REPORT, report(self, command, game_links(place.path)))
