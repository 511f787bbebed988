"""The curve of a training: drawn with what was measured, and with nothing that is not there."""

from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("torch")

from borneo_train.run.config import Settings  # torch may be missing
from borneo_train.run.curve import picture, svg_of, too_short
from borneo_train.run.tasks import MEASURES, Evaluation


def measured(task, against, value):
    return [
        asdict(Evaluation(measure.name, against, players, 8, 1, value, None, value + 0.01))
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


def drawn(settings, values=(), every=1000, curve=None):
    """The panels of a curve, without the pixels, which take the most time."""
    return picture(curve or curve_of(settings, values, every), settings).axes


GROWING = [{"random": 0.4 + 0.1 * i, "merchant": 0.01 * i} for i in (0, 2, 1)]


def line(axes, label):
    return next(one for one in axes.lines if one.get_label() == label)


def test_a_notebook_shows_the_curve():
    drawing = svg_of(curve_of(Settings(), GROWING), Settings())
    assert drawing._repr_svg_().startswith("<svg") and "characters of SVG" in repr(drawing)


def test_there_is_one_curve_for_each_agent_at_the_tables():
    weak, strong = drawn(Settings(), GROWING)
    assert [axes.get_title(loc="left") for axes in (weak, strong)] == [
        "win share against random", "win share against merchant",
    ]  # fmt: skip
    assert line(weak, "4 players").get_ydata() == pytest.approx([40, 60, 50]), "in percent"
    assert line(strong, "3 players").get_ydata() == pytest.approx([0, 2, 1])
    assert line(weak, "best").get_xdata()[0] == 1
    assert weak.get_ylim()[1] > 60 and strong.get_ylim()[1] < 20, "a low curve is not drawn flat"
    assert len(weak.texts) == 2 and not strong.texts, "par is drawn where the curve comes near it"


def test_decisions_are_counted_in_thousands_or_millions():
    axes, _ = drawn(Settings(), GROWING)
    assert line(axes, "3 players").get_xdata() == pytest.approx([0, 1, 2])
    assert axes.get_xlabel() == "thousand decisions learnt from"
    axes, _ = drawn(Settings(), GROWING, every=1_000_000)
    assert line(axes, "3 players").get_xdata() == pytest.approx([0, 1, 2])
    assert axes.get_xlabel() == "million decisions learnt from"


def test_every_measure_has_its_panels_and_one_point_is_a_curve():
    panels = drawn(Settings(task="ranks"), GROWING[:1])
    assert [axes.get_title(loc="left").split(" against ") for axes in panels] == [
        [measure.name, against] for against in ("random", "merchant") for measure in MEASURES["ranks"]
    ]
    assert panels[0].get_ylabel() == "mean rank: less is better"
    assert line(panels[0], "best").get_ydata()[0] == pytest.approx(0.4)


def test_what_lies_at_0_is_seen_and_an_unknown_interval_has_no_band():
    axes, _ = drawn(Settings(), GROWING)
    assert -5 < axes.get_ylim()[0] < -0.5, "a share of 0, and the end of a band there, is not cut in half"
    known = {"value": 0.0, "low": 0.0, "high": 0.2}
    point = asdict(Evaluation("win share", "random", 3, 8, 1, **known))
    curve = [
        {"steps": i, "strength": [point | ends]} for i, ends in enumerate([{}, {}, {"low": None, "high": None}, {}, {}])
    ]
    [axes] = drawn(Settings(), curve=curve)
    outline = np.concatenate([path.vertices for path in axes.collections[0].get_paths()])
    assert sorted({*outline[:, 0]}) == [0, 0.001, 0.003, 0.004] and outline[:, 1].max() == 20


def test_names_of_agents_are_no_formulas():
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
    doubt = too_short(course(*intervals, task=task), Settings(task=task, minutes=0.3))
    assert bool(doubt) is not learnt
    assert learnt or f"after {1000 * (len(intervals) - 1):,} decisions no evaluation is clearly better" in doubt
    assert learnt or (doubt.startswith("too short to tell") and doubt.endswith("--resume and more --minutes"))


def test_a_doubtful_curve_says_so():
    assert drawn(Settings(), GROWING[:1])[0].figure.get_suptitle().startswith("too short to tell")
