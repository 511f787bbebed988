"""The curve of a training: drawn with what was measured, and with nothing that is not there."""

import io
from dataclasses import asdict

import numpy as np
import pytest
from networks import network
from rich.console import Console

pytest.importorskip("torch")

from borneo_train.run import report  # torch may be missing
from borneo_train.run.config import Settings
from borneo_train.run.progress import ProgressReporter
from borneo_train.run.tasks import MEASURES, Measurement


def measured(task, against, value):
    return [
        asdict(Measurement(measure.name, against, players, 8, 1, value, None, value + 0.01))
        for measure in MEASURES[task]
        for players in (3, 4)
    ]


def curve_of(settings, values, every=1000):
    return [
        {
            "steps": every * i,
            "strength": [one for name in against for one in measured(settings.task, name, against[name])],
        }
        for i, against in enumerate(values)
    ]


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draws a curve without the pixels, which take the most time; returns its panels, which matplotlib would forget."""
    made = []

    class Kept(report.Figure):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            made.append(self)

        def savefig(self, file, format):
            assert format == "png"

    monkeypatch.setattr(report, "Figure", Kept)

    def draw(settings, values=(), every=1000, curve=None):
        report.draw_curve(curve or curve_of(settings, values, every), settings, tmp_path / "curve.png")
        return made[-1].axes

    return draw


GROWING = [{"random": 0.4 + 0.1 * i, "merchant": 0.01 * i} for i in (0, 2, 1)]


def line(axes, label):
    return next(one for one in axes.lines if one.get_label() == label)


def test_a_curve_is_a_picture(tmp_path):
    report.draw_curve(curve_of(Settings(), GROWING), Settings(), tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_a_notebook_shows_the_curve():
    drawing = report.plot_curve(curve_of(Settings(), GROWING), Settings())
    assert drawing._repr_svg_().startswith("<svg") and "characters of SVG" in repr(drawing)


def test_there_is_one_curve_for_each_agent_at_the_tables(drawn):
    weak, strong = drawn(Settings(), GROWING)
    assert [axes.get_title(loc="left") for axes in (weak, strong)] == [
        "win share against random", "win share against merchant",
    ]  # fmt: skip
    assert line(weak, "4 players").get_ydata() == pytest.approx([40, 60, 50]), "in percent"
    assert line(strong, "3 players").get_ydata() == pytest.approx([0, 2, 1])
    assert line(weak, "best").get_xdata()[0] == 1
    assert weak.get_ylim()[1] > 60 and strong.get_ylim()[1] < 20, "a low curve is not drawn flat"
    assert [text.get_text() for text in strong.texts] == ["par is higher: 33 / 25 %"]


def test_decisions_are_counted_in_thousands_or_millions(drawn):
    axes, _ = drawn(Settings(), GROWING)
    assert line(axes, "3 players").get_xdata() == pytest.approx([0, 1, 2])
    assert axes.get_xlabel() == "thousand decisions learnt from"
    axes, _ = drawn(Settings(), GROWING, every=1_000_000)
    assert line(axes, "3 players").get_xdata() == pytest.approx([0, 1, 2])
    assert axes.get_xlabel() == "million decisions learnt from"


def test_every_measure_has_its_panels_and_one_point_is_a_curve(drawn):
    panels = drawn(Settings(task="ranks"), GROWING[:1])
    assert [axes.get_title(loc="left").split(" against ") for axes in panels] == [
        [measure.name, against] for against in ("random", "merchant") for measure in MEASURES["ranks"]
    ]
    assert panels[0].get_ylabel() == "mean rank: less is better"
    assert line(panels[0], "best").get_ydata()[0] == pytest.approx(0.4)


def test_what_lies_at_0_is_seen_and_an_unknown_interval_has_no_band(drawn):
    axes, _ = drawn(Settings(), GROWING)
    assert -5 < axes.get_ylim()[0] < -0.5, "a share of 0, and the end of a band there, is not cut in half"
    known = {"value": 0.0, "low": 0.0, "high": 0.2}
    point = asdict(Measurement("win share", "random", 3, 8, 1, **known))
    curve = [
        {"steps": i, "strength": [point | ends]} for i, ends in enumerate([{}, {}, {"low": None, "high": None}, {}, {}])
    ]
    [axes] = drawn(Settings(), curve=curve)
    outline = np.concatenate([path.vertices for path in axes.collections[0].get_paths()])
    assert sorted({*outline[:, 0]}) == [0, 0.001, 0.003, 0.004] and outline[:, 1].max() == 20


def test_names_of_agents_are_no_formulas(drawn):
    [axes] = drawn(Settings(), [{"my_bot:$x": 0.5}])
    assert not axes._left_title.get_parse_math()


# ---------------------------------------------------------------- whether anything was learnt


def course(*intervals, task="win"):
    """A curve against one agent, from the ends of its intervals."""
    name = MEASURES[task][0].name
    table = {"measure": name, "against": "random", "players": 4}
    strength = [table | {"low": low, "high": high} for low, high in intervals]
    return [{"steps": 1000 * i, "strength": [one]} for i, one in enumerate(strength)]


@pytest.mark.parametrize(
    ("task", "intervals", "learnt"),
    [
        ("win", [(0.3, 0.4), (0.5, 0.6)], True),
        ("win", [(0.3, 0.4), (0.5, 0.6), (0.3, 0.4)], True),  # best is the second
        ("win", [(0.3, 0.4), (0.39, 0.5)], False),
        ("win", [(0.5, 0.6), (0.3, 0.4)], False),
        ("win", [(0.3, 0.4)], False),
        ("win", [(None, None), (0.5, 0.6)], False),  # so few games that there is no interval
        ("ranks", [(2.0, 2.2), (1.5, 1.7)], True),  # less is better
        ("ranks", [(1.5, 1.7), (2.0, 2.2)], False),
    ],
)
def test_a_training_too_short_to_tell_says_so(task, intervals, learnt):
    doubt = report.too_short(course(*intervals, task=task), Settings(task=task, minutes=0.3))
    assert bool(doubt) is not learnt
    assert learnt or f"after {1000 * (len(intervals) - 1):,} decisions no evaluation is clearly better" in doubt
    assert learnt or (doubt.startswith("too short to tell") and doubt.endswith("--resume and more --minutes"))


def test_a_doubtful_curve_says_so(drawn):
    assert drawn(Settings(), GROWING[:1])[0].figure.get_suptitle().startswith("too short to tell")


# ---------------------------------------------------------------- beside the bots


def rows_of(task, measure="win share"):
    table = {"players": 4, "games": 8, "seed": 1, "value": 0.5, "low": 0.25, "high": 0.75}
    return [
        report.Row(agent, Measurement(measure, against, **table))
        for against in report.BOTS
        for agent in ("learner", report.SPECIALIST[task])
    ]


def test_a_report_is_a_table_and_where_all_is(capsys, tmp_path):
    report.print_report(rows_of("win"), tmp_path)
    out, err = capsys.readouterr()
    assert "one seat against a table full of others, 4 players" in out
    cells = [[cell.strip() for cell in line.split("│")] for line in out.splitlines() if "3 contractor" in line]
    assert cells == [["", "3 contractor", agent, "50.0 % (25.0 to 75.0)", ""] for agent in ("learner", "merchant")]
    assert "8 games each on the same deals (seed 1), with 95 % intervals." in out
    assert err.strip() == f"All is in {tmp_path}: the model in best, its curve in curve.png and curve.jsonl."


def test_a_training_that_was_stopped_has_no_table(capsys, tmp_path):
    report.print_report([], tmp_path)
    out, err = capsys.readouterr()
    assert out == "" and "All is in" in err


def test_the_learner_and_the_best_bot_of_its_task_are_compared_in_its_edition(monkeypatch):
    asked = []

    def measured(agent, task, against, *, players, games, seed, edition, jobs):
        asked.append((agent if isinstance(agent, str) else "learner", against, players, edition))
        return [Measurement("win share", against, players, games, seed, 0.5, 0.0, 1.0)]

    monkeypatch.setattr(report, "evaluate", measured)
    found = list(report.compare(network("card", width=4), "ranks", players=3, games=6, seed=1))
    assert [(row.agent, row.measurement.against, 3, "card") for row in found] == asked
    assert [agent for agent, against, *_ in asked if against == "climber"] == ["learner"]
    assert [agent for agent, against, *_ in asked if against == "random"] == ["learner", "climber"]


def test_a_bar_shows_every_row_of_the_comparison():
    """In a terminal: elsewhere there is no bar."""
    written = io.StringIO()
    rows = [report.Row("learner", Measurement("win share", "random", 4, 8, 1, 0.5, 0.4, 0.6))]
    with ProgressReporter(Console(file=written, force_terminal=True, width=100)) as reporter:
        assert list(reporter.comparing(iter(rows))) == rows
    assert "comparing with the bots" in written.getvalue()
