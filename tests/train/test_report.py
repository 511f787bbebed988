"""The curve of a training: drawn with what was measured, and with nothing that is not there."""

from dataclasses import asdict

import pytest

pytest.importorskip("torch")

from borneo_train import report  # torch may be missing
from borneo_train.settings import Settings
from borneo_train.tasks import TASKS, Measurement


def measured(task, against, value):
    return [
        asdict(Measurement(measure.name, against, players, 8, 1, value, None, value + 0.01))
        for measure in TASKS[task]
        for players in (3, 4)
    ]


def curve_of(settings, values):
    return [
        {
            "steps": 1000 * i,
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

    def draw(settings, values):
        report.draw_curve(curve_of(settings, values), settings, tmp_path / "curve.png")
        return made[-1].axes

    return draw


GROWING = [{"random": 0.4 + 0.1 * i, "merchant": 0.01 * i} for i in (0, 2, 1)]


def line(axes, label):
    return next(one for one in axes.lines if one.get_label() == label)


def test_a_curve_is_a_picture(tmp_path):
    report.draw_curve(curve_of(Settings(), GROWING), Settings(), tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000


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


def test_the_decisions_that_were_copied_come_first(drawn):
    axes, _ = drawn(Settings(lessons=2000), GROWING)
    assert line(axes, "3 players").get_xdata() == pytest.approx([2, 3, 4])
    assert "copies merchants" in [text.get_text() for text in axes.texts]
    axes, _ = drawn(Settings(), GROWING)
    assert line(axes, "3 players").get_xdata() == pytest.approx([0, 1, 2])
    assert "copies merchants" not in [text.get_text() for text in axes.texts]


def test_every_measure_has_its_panels_and_one_point_is_a_curve(drawn):
    panels = drawn(Settings(task="ranks"), GROWING[:1])
    assert [axes.get_title(loc="left").split(" against ") for axes in panels] == [
        [measure.name, against] for against in ("random", "merchant") for measure in TASKS["ranks"]
    ]
    assert panels[0].get_ylabel() == "mean rank: less is better"
    assert line(panels[0], "best").get_ydata()[0] == pytest.approx(0.4)


def test_names_of_agents_are_no_formulas(drawn):
    [axes] = drawn(Settings(), [{"my_bot:$x": 0.5}])
    assert not axes._left_title.get_parse_math()
