"""Animations: at every time they show the picture of that time, and nothing else."""

from __future__ import annotations

import re
import sys
from base64 import b64decode
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from borneo_env import Ruleset
from borneo_env.engine.state import CONTRACT, HAND
from borneo_env.record import RecordError, record_games, replay
from borneo_env.render import Animation, Picture
from borneo_env.render.animation import LONGER
from borneo_env.render.cards import face
from borneo_env.render.picture import TAIL

TINY = Ruleset(players=3, tables="tiny")  # type: ignore[arg-type]
RECORD = record_games(TINY, 1, seed=1, agents=["random"] * 3)[0]
SHUFFLED = 5  # the seed of a game in which the discard pile is shuffled at the end of a turn
PART = re.compile(r'<g class="part f(\d+)-(\d+)">')


@pytest.fixture(scope="module")
def film() -> Animation:
    return Animation.of(RECORD)


def at(drawing: str, animation: Animation, time: float) -> str:
    """What a browser shows of an animated drawing at a time, from 0 to 1, of one round."""
    times = dict(re.findall(r"@keyframes (f[\d-]+)\{((?:[^{}]*\{[^{}]*\})*)\}", drawing))
    _, *parts = re.split(r'(?=<g class="part )', drawing.removesuffix(TAIL))
    shown = []
    for part in parts:
        name = re.match(r'<g class="part (f[\d-]+)">', part)[1]  # type: ignore[index]
        steps = re.findall(r"([\d.e+-]+)%\{visibility:(\w+)\}", times[name])
        look = [look for percent, look in steps if float(percent) <= 100 * time][-1]
        if look == "visible":
            shown.append(part.split(">", 1)[1].removesuffix("</g>"))
    content = "".join(shown)
    for number, card in enumerate(animation.pictures[0].ruleset.tables.cargo):
        content = content.replace(
            f'<use href="#card-{number}" transform="translate(0.0 0.0) scale(1)"/>', face(number, card)
        )
    return content


def drawn(picture: Picture) -> str:
    return "".join(pane.content for pane in picture.panes())


def test_at_every_time_the_drawing_shows_the_picture_of_that_time(film: Animation) -> None:
    drawing, count = film.svg(), len(film.pictures)
    ElementTree.fromstring(drawing)
    assert "<script" not in drawing
    for number, picture in enumerate(film.pictures):
        assert at(drawing, film, (number + 0.5) / (count - 1 + LONGER)) == drawn(picture), number
    assert at(drawing, film, 0.999) == drawn(film.pictures[-1]), "the end stays"


def test_where_nothing_moves_the_end_is_shown(film: Animation) -> None:
    drawing, count = film.svg(), len(film.pictures)
    assert ".part{visibility:hidden;" in drawing
    visible = set(re.findall(r"\.f\d+-(\d+)\{visibility:visible;", drawing))
    assert visible == {str(count)}


def test_what_does_not_change_is_drawn_once(film: Animation) -> None:
    pieces = len(PART.findall(film.svg()))
    assert pieces < 0.6 * sum(len(picture.panes()) for picture in film.pictures)


def test_there_is_a_picture_for_each_turn_and_for_the_end(film: Animation) -> None:
    turns = [picture._scene for picture in film.pictures]
    moves = [line["move"] for line in RECORD if "move" in line]
    assert len(turns) == 2 + sum(move.startswith("ship") for move in moves), "the deal, and the first turn's begin"
    assert [scene.headline.split()[-1] for scene in turns[:-1]] == ["decides"] * (len(turns) - 1)
    assert "wins" in turns[-1].headline or "share" in turns[-1].headline
    assert turns[2].last_move.startswith("random ") and " ships card " in turns[2].last_move
    assert "[" not in turns[2].last_move


def test_there_is_a_picture_for_every_decision_that_says_something() -> None:
    film = Animation.of(RECORD, decisions=True)
    told = [picture._scene.last_move for picture in film.pictures]
    for verb in ("places a trader", "ships card", "takes card"):
        assert any(verb in words for words in told)
    assert len(film.pictures) > 2 * len(Animation.of(RECORD).pictures)
    assert film.pictures[-1]._scene.headline.endswith(("wins", "victory"))


def test_after_a_shuffle_the_hands_are_those_of_the_record() -> None:
    """The engine shuffles otherwise than the record, which is right."""
    record = record_games(Ruleset(players=3), 1, seed=SHUFFLED, agents=["random"] * 3)[0]
    ends = [moment for moment in replay(record) if moment.kind == "shuffle" and moment.after["phase"] == CONTRACT]
    assert ends, "the pile is shuffled as a turn ends"
    shown = [picture._scene.hands for picture in Animation.of(record).pictures]
    for moment in ends:
        assert [np.flatnonzero(moment.after["place"] == HAND + player).tolist() for player in range(3)] in shown


def test_a_seat_sees_its_own_hand_only() -> None:
    for scene in (picture._scene for picture in Animation.of(RECORD, 1).pictures):
        assert [hand is None for hand in scene.hands] == [True, False, True]


def test_names_are_told_apart_and_are_no_markup() -> None:
    header = RECORD[0] | {"agents": ["<b>&", "player 2", "<b>&"]}
    film = Animation.of([header, *RECORD[1:]])
    assert film.pictures[0]._scene.names == ["<b>& 0", "player 2 1", "<b>& 2"]
    root = ElementTree.fromstring(film.svg())
    told = {text.text for text in root.iter() if text.tag.endswith("}text")}
    assert "<b>& 0" in told
    header = RECORD[0] | {"agents": ["Ayu", "Bram", "Citra"]}
    words = [picture._scene.last_move for picture in Animation.of([header, *RECORD[1:]]).pictures]
    assert any(told.startswith("Bram ships") or "Bram" in told for told in words) and "player" not in " ".join(words)


@pytest.mark.parametrize("names", [["a\x1b", "b", "c"], ["a", "b"], ["a" * 10_000, "b", "c"]])
def test_a_wrong_record_is_refused(names: list[str]) -> None:
    with pytest.raises(RecordError, match="agents: should be 3 names"):
        Animation.of([RECORD[0] | {"agents": names}, *RECORD[1:]])
    with pytest.raises(RecordError, match="the file is empty"):
        Animation.of([])


def test_a_gif_has_the_pictures_and_their_times(film: Animation, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    short = Animation(film.pictures[-3:], seconds=0.3)
    seen: list[Picture] = []

    def track(pictures: Sequence[Picture]) -> Iterator[Picture]:
        for picture in pictures:
            seen.append(picture)
            yield picture

    short.save(tmp_path / "a.gif", width=320, track=track)
    assert seen == short.pictures
    with image.open(tmp_path / "a.gif") as gif:
        assert (gif.n_frames, gif.size, gif.info["loop"]) == (3, (320, 253), 0)
        for number, picture in enumerate(short.pictures):
            gif.seek(number)
            assert gif.info["duration"] == (1200 if number == 2 else 300)
            shown = np.asarray(gif.convert("RGB")).astype(int)
            assert np.abs(shown - picture.rgb(320)).mean() < 4
    for flag in ((181, 50, 43), (233, 180, 44), (59, 128, 72), (43, 95, 163)):
        assert np.abs(shown - flag).max(axis=2).min() < 24, "no company loses its colour"


def test_an_animation_is_saved_by_the_ending_of_its_name(film: Animation, tmp_path: Path) -> None:
    film.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == film.svg()
    assert b64decode(film._repr_html_().split(",")[1]).decode() == film.svg()
    with pytest.raises(ValueError, match=r"a\.png: an animation is saved as \.gif or \.svg"):
        film.save(tmp_path / "a.png")
    with pytest.raises(ValueError, match="needs a picture"):
        Animation([])


def test_svg_needs_no_extra(film: Animation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    film.save(tmp_path / "a.svg")
    with pytest.raises(ImportError, match="PIL, which is missing"):
        film.save(tmp_path / "a.gif")
