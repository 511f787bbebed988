"""The report of an arena: in light and dark, with labels one can read, and links to the games."""

from __future__ import annotations

import io
import re

import matplotlib
import numpy as np
import pytest
from arena_games import TINY, Faulty, First, Last, crash, here
from borneo_agents.arena import play_arena
from borneo_agents.arena.report.page import COLOURS, report
from borneo_agents.arena.report.plots import KINDS, SERIES, STYLE, plots
from borneo_agents.arena.report.replays import game_links
from borneo_agents.arena.report.terminal import print_result
from matplotlib.figure import Figure
from rich.console import Console

from borneo_env.render.symbols import CARD

ODD_NAMES = ["[red]", "[/]", ":cat:", "$x$", "_x"]


@pytest.fixture(scope="module")
def odd():
    """A result of agents with odd names, one of whom makes faults; with its plots, which take the most time."""
    agents = dict.fromkeys(ODD_NAMES[:3], "random") | {"$x$": First(), "_x": Last(), "<script>": Faulty(crash)}
    played = here(agents, games=30)
    return played, plots(played)


@pytest.fixture
def page(odd, monkeypatch):
    played, drawn = odd
    monkeypatch.setattr("borneo_agents.arena.report.page.drawings", lambda _: drawn)
    return report(played, "borneo arena <script>")


def test_names_are_shown_as_they_are(odd, page):
    played, drawn = odd
    shown = io.StringIO()
    print_result(Console(file=shown, width=300), played)
    for name in ODD_NAMES:
        assert shown.getvalue().count(name) >= 4, "in rows and heads"
        assert f">{name}<" in page
    assert drawn["seats"].count(">$x$</text>") == 1, "no formula"
    assert "_x</text>" in drawn["seats"], "not hidden"


def test_the_report_stands_alone(odd, page):
    assert page.count("<svg") == 5
    assert re.findall(r"(?:src|href)=(?!\"#)|@import|url\((?!#)", page) == [], "nothing is fetched"
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', page)
    assert used
    assert set(used) <= set(ids)
    assert report(odd[0], "borneo arena <script>") == page, "the same games give the same page"
    assert plots(odd[0]) == odd[1], "and the same plots"


def test_plots_show_every_agent(odd):
    drawn = odd[1]
    assert sorted(drawn) == ["cross", "lengths", "points", "seats", "strengths"]
    for name in ("cross", "points", "seats", "strengths"):
        for agent in (":cat:", "$x$", "&lt;script&gt;"):
            assert f">{agent}</text>" in drawn[name], "words that can be found"


def test_the_report_links_every_recorded_game(tmp_path):
    agents = {"random": "random", "faulty": Faulty(crash, one_in=40)}
    played = play_arena(agents, TINY, games=12, jobs=0, out=tmp_path, records=True)
    page = (tmp_path / "report.html").read_text()
    links = {int(number): link for link, number in re.findall(r'<a href="([^"]+)">game (\d+)</a>', page)}
    assert sorted(links) == list(range(12)) and 0 < len(played.faults) < 12
    for number, link in links.items():
        assert (tmp_path / link).is_file() and (number in {fault.game for fault in played.faults}) == (
            "unfinished" in link
        )
    assert re.search(r'class="words"><a href="[^"]*">game \d+</a>: ValueError', page), "the example of a fault, too"
    (tmp_path / "replays").mkdir()
    (tmp_path / "replays" / "game0000003.html").write_text("a page")
    assert game_links(tmp_path) == links | {3: "replays/game0000003.html"}


def contrast(one, other):
    """How well two colours can be told apart, as WCAG has it."""

    def luminance(colour):
        parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_lines_and_words_stand_out_in_light_and_in_dark(page):
    for line in SERIES:
        assert contrast(line, CARD) > 3
    for number, ground in enumerate(COLOURS["leaf"]):
        for words in ("text", "quiet", "accent"):
            assert contrast(COLOURS[words][number], ground) > 4.5
    assert {*re.findall("var\\((--[a-z0-9]+)", page)} <= {*re.findall("[{;](--[a-z0-9]+):", page)}


def test_of_two_agents_one_number_is_told():
    two = here({"random": "random", "first": First()}, games=30)
    best, other = (row.agent for row in two.standings)
    (met,) = (row for row in two.cross_table if row.agent == best)
    share = met.before.words(".1f", unit=0.01)
    assert f"<p>{best} was placed before {other} in {share} % of their meetings" in report(two)


def test_no_label_runs_into_a_bar(odd):
    for name in ("lengths", "strengths"):
        figure = Figure()
        with matplotlib.rc_context(STYLE):
            KINDS[name](figure, odd[0])
            figure.draw_without_rendering()
        (axes,) = figure.axes
        drawn = [part.get_window_extent() for part in (*axes.patches, *axes.lines)]
        assert axes.texts
        for label in axes.texts:
            assert label.get_window_extent().count_overlaps(drawn) == 0, label.get_text()


@pytest.mark.usefixtures("with_plots")
@pytest.mark.parametrize(("name", "slanted"), [("climber", False), ("policy:out/run/best:budget=0", True)])
def test_heads_of_the_cross_table_do_not_run_into_each_other(name, slanted):
    played = here({"contractor": First(), name: Last(), "random": "random"}, games=6)
    figure = Figure()
    with matplotlib.rc_context(STYLE):
        KINDS["cross"](figure, played)
        figure.draw_without_rendering()
    (axes,) = figure.axes
    heads = axes.get_xticklabels()
    assert all((head.get_rotation() > 0) == slanted for head in heads)
    boxes = [head.get_window_extent() for head in heads]
    assert slanted or not any(box.count_overlaps(boxes[i + 1 :]) for i, box in enumerate(boxes))
