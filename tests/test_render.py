"""Pictures: whole and inside their frame at every decision, the same for games a viewer cannot tell apart."""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import playing
import pytest
from copies import Copy

import borneo_env
from borneo_env import SPECTATOR, Batch, Ruleset, every_ruleset, redact, resample
from borneo_env.engine.state import CARD_SLOTS, GAME, TAKE
from borneo_env.pieces import plain
from borneo_env.render import Picture, rgb
from borneo_env.render.chart import HEIGHT, WIDTH
from borneo_env.render.gallery import EXAMPLES, FILM, draw, draw_film
from borneo_env.render.legend import HEIGHT as LEGEND_HEIGHT
from borneo_env.render.pen import measure
from borneo_env.render.scene import Scene
from borneo_env.render.text import WIDTH as COLUMNS
from borneo_env.story import deed

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
RULESETS = [*every_ruleset(), Ruleset(players=3, tables="tiny")]  # type: ignore[arg-type]
NAMES = ("Ayu", "Bram", "Citra", "Dirk", "Eka")

every = pytest.mark.parametrize("ruleset", [*playing.RULESETS, pytest.param(RULESETS[-1], id="tiny")])
apart = pytest.mark.parametrize("apart", [15, pytest.param(1, marks=pytest.mark.soak)])  # of positions that are drawn


class Moment(NamedTuple):
    game: np.void
    last_move: str


def svg(ruleset: Ruleset, game: np.void, *seen: Any, **more: Any) -> str:
    return Picture(ruleset, game, *seen, **more).svg()


def ansi(ruleset: Ruleset, game: np.void, *seen: Any, colour: bool = True, **more: Any) -> str:
    return Picture(ruleset, game, *seen, **more).ansi(colour)


def random_game(ruleset: Ruleset, seed: int = 4) -> Iterator[Moment]:
    """Every position of a game of random players, the end included."""
    batch = Batch(1, ruleset, seed=seed, finished="hold", skip_forced=False)
    told = ""
    while True:
        yield Moment(batch.games[0].copy(), told)
        if batch.player[0] < 0:
            return
        action = batch.sample()
        move = batch.actions.move(int(action[0]), batch.phase_name())
        told = plain(deed(ruleset, batch.games[0], int(batch.player[0]), move))
        batch.step(action)


# ---------------------------------------------------------------- the layout


def text_boxes(drawing: str) -> dict[str, np.ndarray]:
    """The words of a drawing and their boxes: left, top, right, bottom."""
    words, boxes = [], []

    def walk(element: ElementTree.Element, x: float, y: float, scale: float) -> None:
        moved = re.fullmatch(r"translate\((\S+) (\S+)\) scale\((\S+)\)", element.get("transform", ""))
        if moved:
            dx, dy, factor = map(float, moved.groups())
            x, y, scale = x + scale * dx, y + scale * dy, scale * factor
        if element.tag.endswith("}text") and element.text:
            size = scale * float(element.attrib["font-size"])
            style, anchor = element.attrib["class"].split()
            width = scale * float(element.get("textLength", 0)) or measure(element.text, size, style)
            left = x + scale * float(element.attrib["x"]) - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            base = y + scale * float(element.attrib["y"])
            words.append(element.text)
            boxes.append((left, base - 0.7 * size, left + width, base + 0.2 * size))
        for child in element:
            walk(child, x, y, scale)

    walk(ElementTree.fromstring(drawing), 0.0, 0.0, 1.0)
    return {"words": np.array(words), "boxes": np.array(boxes)}


def check_layout(drawing: str, height: int = HEIGHT) -> None:
    """Every text is inside the picture, and no two of them touch."""
    words, boxes = text_boxes(drawing).values()
    outside = (boxes[:, :2] < 0).any(1) | (boxes[:, 2] > WIDTH) | (boxes[:, 3] > height)
    assert not outside.any(), words[outside]
    low, high = boxes[:, None, :2] + 0.5, boxes[:, None, 2:] - 0.5
    touching = (low < boxes[None, :, 2:]).all(2) & (boxes[None, :, :2] < high).all(2)
    np.fill_diagonal(touching, False)
    assert not touching.any(), [tuple(words[list(pair)]) for pair in np.argwhere(touching)]


@apart
@every
def test_every_position_of_a_game_can_be_drawn(ruleset: Ruleset, apart: int) -> None:
    names = NAMES[: ruleset.players]
    for game, last_move in [*random_game(ruleset)][::-apart]:
        drawing = svg(ruleset, game, None, last_move, names)
        check_layout(drawing)
        for words in (*names, last_move, *open_ports(ruleset, game)):
            assert words in drawing


@apart
@every
def test_every_position_fits_the_terminal(ruleset: Ruleset, apart: int) -> None:
    names = NAMES[: ruleset.players]
    for game, last_move in [*random_game(ruleset)][::-apart]:
        table = ansi(ruleset, game, None, last_move, names, colour=False)
        assert max(map(len, table.splitlines())) <= COLUMNS
        for words in (*names, *open_ports(ruleset, game)):
            assert words in table
        assert last_move in " ".join(table.split())


def open_ports(ruleset: Ruleset, game: np.void) -> list[str]:
    ports = ruleset.tables.ports_in_play(ruleset.players)
    return [ports[thing - 60].name for thing in game["open"] if thing >= 0]


def crowded(ruleset: Ruleset) -> np.void:
    """A game with all that can pile up: one long ladder, full warehouses, every contract fulfilled by one player."""
    game = next(game for game, _ in random_game(ruleset) if game["laid"].sum() >= 3)
    traders = np.resize(np.arange(ruleset.players), 3 * ruleset.players)
    game["ladder"][:] = -1
    game["height"][:] = 0
    game["ladder"][0, : len(traders)] = traders
    game["height"][0] = len(traders)
    game["stock"][:] = [[12, 3, 4], [3, 3, 3], [12, 0, 0], [0, 3, 0], [0, 0, 2]]
    game["fulfilled"][:] = [4, 4, 3, 3, 2]
    game["pirates"] = 1
    return game


def test_a_crowded_table_keeps_its_order() -> None:
    ruleset = Ruleset("card", 5)
    game = crowded(ruleset)
    assert game["height"][0] == CARD_SLOTS
    names = ["a name that is much too long for its panel"] * 5
    check_layout(svg(ruleset, game, None, "a long story " * 40, names))
    assert max(map(len, ansi(ruleset, game, 0, "a long story " * 40, names, colour=False).splitlines())) <= COLUMNS


def test_names_cannot_break_a_picture_or_a_terminal() -> None:
    ruleset = Ruleset(players=3)
    game = next(random_game(ruleset)).game
    names = ["<b>&\"'", "\x1b[2J\x00\ud800", "日本"]
    check_layout(svg(ruleset, game, names=names, last_move="]]> \x07"))
    table = ansi(ruleset, game, names=names, last_move="\x1b[31m", colour=False)
    assert "\x1b" not in table
    assert "\x00" not in table


@pytest.mark.parametrize("ruleset", [Ruleset(), Ruleset(players=5, blackbeard=True)], ids=lambda ruleset: ruleset.name)
def test_a_legend_stands_below_the_picture_and_changes_nothing_above(ruleset: Ruleset) -> None:
    game = next(random_game(ruleset)).game
    plain, explained = svg(ruleset, game), svg(ruleset, game, legend=True)
    check_layout(explained, HEIGHT + LEGEND_HEIGHT)
    above, below = (ElementTree.fromstring(drawing) for drawing in (plain, explained))
    words = [[text.text for text in root.iter() if text.tag.endswith("}text")] for root in (above, below)]
    assert words[1][: len(words[0])] == words[0]
    told = " ".join(map(str, words[1][len(words[0]) :]))
    for sign in ("three flags", "one below", "its number", "monopoly", "a double: pays two", "a port", "its points"):
        assert sign in told
    assert ("the pirate ship" in told) == ruleset.blackbeard
    assert float(below.attrib["height"]) == HEIGHT + LEGEND_HEIGHT


# ---------------------------------------------------------------- what is shown


def test_the_order_of_a_distribution_is_the_one_played() -> None:
    """R6.3, R7.3, R7.4: what is drawn as the order to come is who is asked then."""
    checked = 0
    for ruleset in RULESETS:
        coming: list[Any] = []
        for game, _ in random_game(ruleset):
            if game["phase"] != TAKE:
                coming = []
                continue
            if not coming:
                coming = Scene(ruleset, game, None, "", None).traders_to_come
            trader = coming.pop(0)
            asked = game["sharers"][game["sharer"]], game["sharing_rank"], game["player"]
            assert trader == asked
            assert len(coming) + 1 == game["laid"][game["sharing_port"]]
            checked += 1
    assert checked > 100


def test_the_points_of_the_end_are_explained() -> None:
    """R8.6, R9.2: contracts, cargo cards, ports and the pirate ship make the score."""
    ruleset = Ruleset(players=5, blackbeard=True)
    batch = Batch(30, ruleset, seed=2, finished="hold")
    batch.play_random()
    for game, scores in zip(batch.games, batch.scores(), strict=True):
        scene = Scene(ruleset, game, None, "", None)
        accounts = [scene.points_for(player) for player in range(5)]
        assert [sum(account.values()) for account in accounts] == scores.tolist()
        assert all(account.get("pirate ship", -2) == -2 for account in accounts)
    assert (batch.games["pirates"] >= 0).any()


# ---------------------------------------------------------------- secrets


@every
def test_a_picture_shows_nothing_its_viewer_does_not_know(ruleset: Ruleset) -> None:
    """R11: the drawing for a seat is the same for every game that looks the same to that seat."""
    rng = np.random.default_rng(0)
    for i, (game, last_move) in enumerate([*random_game(ruleset)][::13]):
        seat = i % (ruleset.players + 1) - 1  # the spectator and every player in turn
        for picture in (svg, ansi):
            seen = picture(ruleset, game, seat, last_move)
            assert picture(ruleset, redact(game, seat), seat, last_move) == seen
            assert picture(ruleset, resample(game, seat, rng), seat, last_move) == seen


def test_hands_are_shown_to_those_who_hold_them() -> None:
    ruleset = Ruleset(players=3)
    game = next(random_game(ruleset)).game
    for picture in (svg, ansi):
        views = {picture(ruleset, game, seat).replace(f"seen by player {seat}", "") for seat in (0, 1, 2, SPECTATOR)}
        assert len(views) == 4


def test_a_hand_that_the_record_does_not_show_is_not_drawn() -> None:
    ruleset = Ruleset(players=3)
    view = redact(next(random_game(ruleset)).game, 1)
    for seat in (0, None):
        with pytest.raises(ValueError, match="does not show the hand of player 0"):
            svg(ruleset, view, seat)


def test_wrong_seats_and_names_are_explained() -> None:
    ruleset = Ruleset(players=3)
    game = np.zeros(1, GAME)[0]
    with pytest.raises(ValueError, match="seat 3 does not exist"):
        svg(ruleset, game, 3)
    with pytest.raises(ValueError, match="3 names are needed"):
        ansi(ruleset, game, names=["Ayu"])


# ---------------------------------------------------------------- pictures that show themselves


def test_a_picture_is_the_position_it_was_made_of() -> None:
    games = Batch(3, players=3, seed=5)
    games.play_random(60)
    picture = Picture.of(games, 1, seat=2)
    drawing, table = picture._repr_svg_(), str(picture)
    assert drawing == svg(games.ruleset, games.games[1], 2)
    assert table == ansi(games.ruleset, games.games[1], 2)
    games.play_random(10)
    assert (picture.svg(), str(picture)) == (drawing, table)


def test_a_picture_is_saved_by_the_ending_of_its_name(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    picture = Picture.of(Batch(1, players=3, seed=5))
    picture.save(tmp_path / "a.svg")
    picture.save(str(tmp_path / "a.png"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg()
    assert (np.asarray(image.open(tmp_path / "a.png")) == picture.rgb()).all()
    with pytest.raises(ValueError, match=r"a\.jpg: a picture is saved as \.svg or \.png"):
        picture.save(tmp_path / "a.jpg")


@pytest.mark.parametrize("make", [borneo_env.env, borneo_env.raw_env, borneo_env.BorneoEnv])
def test_before_reset_a_notebook_shows_a_text(make: Any) -> None:
    notice = make(players=3)._repr_svg_()
    assert "".join(ElementTree.fromstring(notice).itertext()).endswith("No game yet: reset() deals one.")


def test_an_environment_shows_itself_in_a_notebook() -> None:
    env = borneo_env.env(players=3, viewer=1)
    env.reset(seed=5)
    assert "last move" not in env._repr_svg_()
    first = int(env.observe(env.agent_selection)["action_mask"].argmax())
    agent = env.agent_selection
    env.step(first)
    drawing = env._repr_svg_()
    check_layout(drawing)
    assert "seen by player 1" in drawing
    assert f"{agent.replace('_', ' ')} places a trader in red, rank 1" in drawing
    assert copy.deepcopy(env)._repr_svg_() == drawing


def test_a_seat_shows_itself_in_a_notebook() -> None:
    seat = borneo_env.BorneoEnv(players=3)
    seat.reset(seed=5)
    assert seat._repr_svg_() == svg(seat.ruleset, seat._seats.batch.games[0], seat.seat)


# ---------------------------------------------------------------- the window


@pytest.fixture
def pygame(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """pygame with windows that nobody sees, on the screen of a laptop."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame")
    monkeypatch.setattr(pygame.display, "get_desktop_sizes", lambda: [(1366, 768)])
    monkeypatch.setattr("borneo_env.render.window.SECONDS", 0)
    yield pygame
    pygame.display.quit()


def human_env() -> borneo_env.env:
    env = borneo_env.env(players=3, render_mode="human")
    env.reset(seed=5)
    return env


def play_first(env: borneo_env.env) -> None:
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))


def test_a_window_fits_the_screen_and_shows_every_position(pygame: Any) -> None:
    env = human_env()
    surface = pygame.display.get_surface()
    assert surface.get_width() < 1366
    assert surface.get_height() < 0.9 * 768
    shown = pygame.surfarray.array3d(surface).swapaxes(0, 1)
    drawn = Picture(env.ruleset, env._batch.games[0]).rgb(surface.get_width())
    assert (shown == drawn).all()
    play_first(env)
    assert (pygame.surfarray.array3d(surface).swapaxes(0, 1) != shown).any()
    env.close()
    assert not pygame.display.get_init()


def test_a_window_closed_by_its_user_stays_closed(pygame: Any) -> None:
    env = human_env()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    for _ in range(3):
        play_first(env)
        assert not pygame.display.get_init()
    env.close()
    env.render()
    assert pygame.display.get_init(), "closed and opened by the program"


@pytest.mark.parametrize("missing", ["pygame", "resvg_py"])
def test_without_the_extra_the_remedy_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    remedy = rf"{missing}, which is missing; pip install '\.\[render\]' in the project's folder"
    with pytest.raises(ImportError, match=remedy):
        human_env() if missing == "pygame" else rgb("<svg/>")


def test_without_a_screen_the_remedy_is_named(pygame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no such driver")
    with pytest.raises(RuntimeError, match=r"no window can be opened: .*; render_mode='rgb_array' needs none"):
        human_env()


# ---------------------------------------------------------------- pixels


def test_pixels() -> None:
    pytest.importorskip("resvg_py")
    drawing = draw(EXAMPLES["four-players"])
    pixels = rgb(drawing, width=640)
    assert pixels.shape == (640 * HEIGHT // WIDTH, 640, 3)
    assert pixels.dtype == np.uint8
    assert pixels.std() > 30
    blank = rgb(re.sub("<text.*?</text>", "", drawing), width=640)
    assert (pixels != blank).mean() > 0.005, "the letters are missing"


@pytest.mark.parametrize(
    ("ruleset", "when"),
    [(Ruleset(), "in the middle"), (Ruleset(players=3, traders=4, blackbeard=True), "at the end"),
     (Ruleset("card", 5), "in the middle")],
    ids=lambda value: getattr(value, "name", None),
)  # fmt: skip
def test_a_picture_pieced_together_is_the_one_drawn_at_once(ruleset: Ruleset, when: str) -> None:
    """No part of the drawing reaches out of its pane, at a size where panes do not begin at whole pixels."""
    pytest.importorskip("resvg_py")
    moments = [*random_game(ruleset)]
    game, last_move = moments[-1 if when == "at the end" else len(moments) // 2]
    picture = Picture(ruleset, game, None, last_move)
    pieced, drawn = picture.rgb(640).astype(int), rgb(picture.svg(), 640).astype(int)
    assert pieced.shape == drawn.shape
    assert np.abs(pieced - drawn).max() <= 24, "more than the rounding of half-transparent edges"


# ---------------------------------------------------------------- the code


def test_drawing_knows_no_rule() -> None:
    folder = Path(borneo_env.__file__).parent / "render"
    for path in folder.glob("*.py"):
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        imported += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        rules = [name for name in imported if re.match(r"borneo_env\.engine\.(rules|game|loops)\b", name)]
        assert not rules, f"{path.name} imports {rules}"


def test_importing_the_package_draws_nothing(tmp_path: Path) -> None:
    heavy = ("borneo_env.render", "borneo_env.story", "pygame", "PIL")
    code = f"import sys, borneo_env; print([name for name in sys.modules if name.startswith({heavy})])"
    assert Copy(code, place=tmp_path, anew=True, without=heavy).said()[0] == "[]"


# ---------------------------------------------------------------- the documentation


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_pictures_of_the_documentation_are_current(name: str) -> None:
    """If this fails after an intended change, draw them anew with `borneo pictures` and look at them."""
    assert (PICTURES / f"{name}.svg").read_text(encoding="utf-8") == draw(EXAMPLES[name])
    assert 10_000 < (PICTURES / f"{name}.png").stat().st_size < 300_000


def test_the_film_of_the_documentation_is_current() -> None:
    assert (PICTURES / FILM).read_text(encoding="utf-8") == draw_film()
    assert (PICTURES / FILM).stat().st_size < 1_500_000
