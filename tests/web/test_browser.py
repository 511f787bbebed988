"""Games clicked in Chromium, as people play them. `make test-browser` installs it; without it they are left out."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator

import pytest
from web_games import seats, served

from borneo_env.ruleset import Ruleset

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TINY = Ruleset(players=3, tables="tiny")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is missing; `make test-browser` installs it"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, server):
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, reduced_motion="reduce")
    opened = context.new_page()
    opened.faults = []
    opened.on("pageerror", lambda error: opened.faults.append(str(error)))
    opened.on("console", lambda message: opened.faults.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
    assert not opened.faults


@pytest.fixture
def server(tmp_path):
    with served(tmp_path) as found:
        yield found


def asked(page) -> bool:
    """Wait until the person decides; False at the end of the game."""
    page.wait_for_selector("#main[data-state=asked], #main[data-state=over]", timeout=10_000)
    return page.get_attribute("#main", "data-state") == "asked"


def click_through(page, rng: random.Random) -> str:
    """Make a choice by clicking what it is about in the picture; the move."""
    moves = page.eval_on_selector_all("input[name=move]", "all => all.map(one => [one.value, one.dataset.parts])")
    several = page.get_attribute("#choose", "data-several") is not None
    number = page.get_attribute("[name=decision]", "value")
    drawn = [(move, parts) for move, parts in moves if parts]
    move, parts = rng.choice(drawn or moves or [("", "")])
    for part in filter(None, parts.split(" > ")):
        shape = page.locator(f'#picture [data-part="{part}"].live').first
        corner = {"x": min(9, shape.bounding_box()["width"] / 2), "y": min(9, shape.bounding_box()["height"] / 2)}
        shape.click(position=corner, force=True)
    if move and not parts:
        page.check(f'input[name=move][value="{move}"]')
    if move:
        assert page.is_checked(f'input[name=move][value="{move}"]')
        page.wait_for_selector("#preview:not(:empty)")
    assert several or move
    page.click("#do")
    page.wait_for_selector(f'#main:not(:has([name=decision][value="{number}"]))', state="attached", timeout=10_000)
    return move


def test_a_game_begins_on_the_start_page(page, server):
    games, address = server
    page.goto(address)
    page.check("[name=players][value='4']")
    assert page.is_visible("[name=seat3]") and page.is_hidden("[name=seat4]")
    page.select_option("[name=seat1]", "random")
    page.fill("[name=name0]", "Anna")
    page.fill("[name=seed]", "5")
    page.click("text=Deal the cards")
    assert asked(page)
    (name,) = games
    assert games.table(name).game.names == ["Anna", "random 1", "normal 2", "normal 3"]


def test_a_whole_game_is_clicked_and_reloaded_in_between(page, server):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["Anna", "r 1", "r 2"], 3)
    page.goto(address + seats(games, name)[0])
    rng, verbs = random.Random(1), set()
    while asked(page):
        verbs.add(click_through(page, rng).split(" ")[0])
        if len(verbs) == 2 and asked(page):
            number = page.get_attribute("[name=decision]", "value")
            page.reload()
            assert asked(page) and page.get_attribute("[name=decision]", "value") == number
    assert "The game is over" in page.inner_text("#status")
    with page.expect_download() as download:
        page.click("text=Download the record")
    assert download.value.suggested_filename == "borneo-game.jsonl"
    assert verbs >= {"place", "ship"}


def test_what_another_does_appears_by_itself_and_motion_can_be_turned_on(browser, page, server):
    games, address = server
    name = games.begin(TINY, ["human", "human", "random"], ["Anna", "Ben", "random 2"], 3)
    links = seats(games, name)
    other = page.context.new_page()
    views = {0: page, 1: other}
    for seat, view in views.items():
        view.goto(address + links[seat])
    page.click("#motion")
    assert page.inner_text("#motion") == "Motion: on"
    while (seat := games.table(name).game.player) not in views or not games.table(name).asks(seat):
        pass
    if seat == 0:
        click_through(page, random.Random(1))
        other.wait_for_selector("#news li:has-text('Anna')")
    else:
        click_through(other, random.Random(1))
        page.wait_for_selector("#step:not([hidden])")
        page.wait_for_selector("#news li:has-text('Ben')")


def test_a_choice_is_made_by_the_keyboard_alone(page, server):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["Anna", "r 1", "r 2"], 3)
    page.goto(address + seats(games, name)[0])
    assert asked(page)
    number = page.get_attribute("[name=decision]", "value")
    page.focus("input[name=move]")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#preview")
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#main:not(:has([name=decision][value="{number}"]))', state="attached")


def test_a_page_says_when_the_server_is_gone_and_goes_on_when_it_is_back(browser, tmp_path):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    with served(tmp_path) as (games, address):
        name = games.begin(TINY, ["human", "random", "random"], ["Anna", "r 1", "r 2"], 3)
        page.goto(address + seats(games, name)[0])
        assert asked(page)
    page.check("input[name=move] >> nth=0")
    page.click("#do")
    page.wait_for_selector("#lost:not([hidden])")
    with served(tmp_path, port=int(address.rpartition(":")[2])) as (games, _):
        page.wait_for_selector("#lost[hidden]", state="attached", timeout=10_000)
        click_through(page, random.Random(1))
        assert games.table(name).choices == 1
        context.close()


@pytest.mark.parametrize("width", [360, 900, 1600])
def test_no_page_is_wider_than_its_window(page, server, width):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["Anna", "r 1", "r 2"], 3)
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("/", "/rules", seats(games, name)[0]):
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
