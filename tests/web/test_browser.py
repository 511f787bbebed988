"""Games clicked in Chromium, as people play them, from the start page on: `make test-browser`."""

from __future__ import annotations

import random
from unittest.mock import Mock

import pytest
from borneo_web.server.live_game import Refused
from web_games import GOLDEN, TINY, seats, served, table_at

from borneo_env.engine.state import SPECTATOR
from borneo_env.record import read_record, verify
from borneo_env.ruleset import Ruleset

PHONE, TABLET, DESK, LARGE = (360, 740), (768, 1024), (1280, 800), (1920, 1080)
WHOLE_GAMES = [
    pytest.param(TINY, PHONE, id="phone"),
    pytest.param(Ruleset("card", 3, tables="tiny"), TABLET, id="tablet"),
    pytest.param(TINY, DESK, id="desk"),
    *(
        pytest.param(Ruleset(edition, 4), size, id=f"{edition}-{size[0]}", marks=pytest.mark.soak)
        for edition in ("board", "card")
        for size in (PHONE, TABLET, DESK)
    ),
]
COMPLAINTS = """() => {
  const found = [], [width, height] = [innerWidth, innerHeight], all = (what) => [...document.querySelectorAll(what)];
  const box = (one) => one.getBoundingClientRect();
  if (document.documentElement.scrollWidth > width) found.push("the page is wider than the window");
  for (const card of all("#hand .face")) if (box(card).width < 64) found.push(`a hand card of ${box(card).width}`);
  const seen = width < 768 ? ["#hand", "#do"] : ["#board", "#ladders", "#port2", "#piles", "#hand", "#do", "#news"];
  for (const what of seen) for (const one of all(what)) {
    if (what !== "#news" && box(one).bottom > height + 1) found.push(`${what} ends at ${box(one).bottom}`);
    if (box(one).right > width + 1) found.push(`${what} is cut off at the right`);
  }
  const letters = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (width >= 768 && letters.nextNode()) {
    const one = letters.currentNode.parentElement, drawn = one.ownerSVGElement;
    const scale = drawn ? box(drawn).width / drawn.viewBox.baseVal.width : 1;
    const size = parseFloat(getComputedStyle(one).fontSize) * scale;
    const shown = letters.currentNode.textContent.trim() && one.checkVisibility() && !one.closest("title, .spoken");
    if (shown && size < 10.95) found.push(`${letters.currentNode.textContent} has ${size}`);
  }
  return found;
}"""
pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium, server):
    """A page without motion. At the end its scripts must have had no faults, and no errors are in its console."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1000}, reduced_motion="reduce")
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
        shape = page.locator(f'#main [data-part="{part}"].live').first
        shape.evaluate("one => one.scrollIntoView()")  # on a phone, a bar covers the lower edge
        corner = {"x": min(9, shape.bounding_box()["width"] / 2), "y": min(9, shape.bounding_box()["height"] / 2)}
        scrolled = page.evaluate("scrollY")
        shape.click(position=corner, force=True)
        assert page.evaluate("scrollY") == scrolled, "a click leaves the page where it is"
    if move and not parts:
        if page.is_visible("#options"):
            page.click("#options")
        page.check(f'input[name=move][value="{move}"]')
    if move:
        assert page.is_checked(f'input[name=move][value="{move}"]')
        page.wait_for_selector("#preview:not(:empty)")
    assert several or move
    page.click("#do")
    page.wait_for_selector(f'#main:not(:has([name=decision][value="{number}"]))', state="attached", timeout=10_000)
    return move


def test_two_people_meet_in_the_lobby(page, server):
    games, address = server
    page.goto(address)
    page.check("[name=players][value='4']")
    assert page.is_visible("[name=seat3]") and page.is_hidden("[name=seat4]")
    page.fill("[name=name0]", "Mia")
    page.select_option("[name=seat1]", "human")
    page.fill("[name=name1]", "Ben")
    page.click("text=Deal the cards")
    page.wait_for_selector("#lobby")
    assert [games.table(name).game.names for name in games] == [["Mia", "Ben", "normal 2", "normal 3"]]
    page.click("[data-copy=link1]")
    page.wait_for_selector("[data-copy=link1]:has-text('Copied')")
    ben = page.context.new_page()
    ben.goto(page.input_value("#link1"))
    page.bring_to_front()
    page.wait_for_selector(".came[data-seat='1']:has-text('is at the table')")
    assert page.inner_text(".came[data-seat='0']") == "has not come yet"
    page.click("text=Sit down as Mia")
    page.wait_for_selector("#main")


@pytest.mark.parametrize(("ruleset", "size"), WHOLE_GAMES)
def test_a_whole_game_is_clicked_against_merchants(page, server, ruleset, size):
    games, address = server
    page.set_viewport_size({"width": size[0], "height": size[1]})
    seated = ["human", *["merchant"] * (ruleset.players - 1)]
    name = games.begin(ruleset, seated, ["Anna", "m 1", "m 2", "m 3"][: ruleset.players], 3)
    page.goto(address + seats(games, name)[0])
    rng, clicked = random.Random(1), []
    while asked(page):
        assert not page.evaluate(COMPLAINTS) and page.title().startswith("You decide")
        clicked.append(click_through(page, rng))
        if len(clicked) == 4 and asked(page):
            number = page.get_attribute("[name=decision]", "value")
            page.reload()
            assert asked(page) and page.get_attribute("[name=decision]", "value") == number
    assert page.evaluate("scrollY") == 0 and page.title().startswith(ruleset.edition)
    assert "The game is over" in page.inner_text("#status") and "wins!" in page.inner_text(".winner").replace(
        "win!", "wins!"
    )
    with page.expect_download() as download:
        page.click("text=Download the record")
    assert download.value.suggested_filename == "borneo-game.jsonl"
    record = read_record(download.value.path())
    assert verify(record).player[0] == -1 and record[0]["ruleset"]["edition"] == ruleset.edition
    played = [line["move"] for line in record if line.get("player") == 0 and not line.get("forced")]
    assert set(filter(None, clicked)) <= set(played) and {move.split()[0] for move in clicked} >= {"place", "ship"}


@pytest.mark.parametrize("size", [PHONE, TABLET, DESK, LARGE], ids=lambda size: size[0])
def test_a_full_hand_and_a_contest_of_five_can_be_read_at_every_size(page, server, size):
    games, address = server
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for phase, ruleset, cards in (("drop", Ruleset("board", 3), 7), ("defend", Ruleset("board", 5), 3)):
        page.goto(address + table_at(games, phase, ruleset, cards=cards).address(0))
        assert not page.evaluate(COMPLAINTS) and page.locator("#hand .face").count() >= cards
        page.locator("#hand .live").first.dispatch_event("click")
        page.wait_for_selector("#preview .card")
        assert not page.evaluate(COMPLAINTS)
    strengths = page.locator("#strengths").bounding_box()
    assert strengths["y"] + strengths["height"] < size[1]
    ground = "getComputedStyle(document.querySelector('.port-card')).backgroundColor"
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) != light


@pytest.mark.parametrize("size", [(960, 540), (640, 400), (740, 360)], ids=lambda size: size[0])
def test_the_table_has_room_where_the_page_is_enlarged_and_on_a_phone_that_lies(page, server, size):
    games, address = server
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(address + table_at(games, "drop", Ruleset("board", 3), cards=7).address(0))
    assert page.locator(".dock").bounding_box()["height"] < size[1] / 2
    assert page.locator("#ladders").bounding_box()["height"] > 200
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_the_answer_of_the_coach_is_seen(page, server, hasty):
    games, address = server
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(address + table_at(games, "ship", TINY).address(0))
    page.click("text=Ask the coach")
    page.wait_for_selector("section.coach:focus", timeout=120_000)  # machine code may have to be made first
    assert 0 <= page.locator("section.coach").bounding_box()["y"] < page.locator(".dock").bounding_box()["y"]


def test_a_coach_that_does_not_answer_says_so_and_what_is_chosen_stays(page, server):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["Mia", "r 1", "r 2"], 3)
    page.goto(address + seats(games, name)[0])
    page.wait_for_selector("#main[data-state=asked]")
    page.check("input[name=move] >> nth=1")
    move, asked = page.input_value("input[name=move]:checked"), []
    busy = "<p class=problem>The coach is busy.</p>"
    page.route("**/*coach=yes*", lambda route: (asked.append(route.request.url), route.fulfill(status=503, body=busy)))
    page.click("text=Ask the coach")
    page.wait_for_selector("#refused:has-text('The coach is busy.')")
    assert f"move={move.replace(' ', '+')}" in asked[0] and "decision=" in asked[0]
    page.unroute("**/*coach=yes*")
    page.route("**/*coach=yes*", lambda route: route.abort())
    page.click("text=Ask again")
    page.wait_for_selector("#refused:has-text('The server does not answer.')")
    assert page.is_checked(f"input[name=move][value='{move}']") and page.is_enabled("text=Ask again")
    page.faults.clear()  # the browser tells of answers that fail, too


def test_a_choice_is_changed_by_parts_and_dropped(page, server):
    """Another port or another card changes that alone; what would come of it is seen; the list follows by itself."""
    games, address = server
    page.set_viewport_size({"width": 1280, "height": 720})
    table = table_at(games, "ship", Ruleset("board", 3), cards=4)
    page.goto(address + table.address(0))
    one, *_, other = table.scene(0).hands[0]
    chosen = "document.querySelector('input[name=move]:checked')?.value ?? ''"
    assert page.is_disabled("#do")
    found = []
    for part in (f"card {one}", "port 0", "port 2", f"card {other}", f"card {other}"):
        page.click(f'[data-part="{part}"].live', position={"x": 20, "y": 8})
        found.append(page.evaluate(chosen))
    assert found == ["", f"ship {one} 0", f"ship {one} 2", f"ship {other} 2", f"ship {other} 2"]
    assert page.locator("#port2 .cargo > .ghost").count() == page.locator(".ghost").count() == 1
    assert page.is_enabled("#do")
    label, choices = page.locator(".choice:has(:checked)").bounding_box(), page.locator(".choices").bounding_box()
    assert choices["y"] <= label["y"] + 1 and label["y"] + label["height"] <= choices["y"] + choices["height"] + 1
    page.keyboard.press("Escape")
    assert page.evaluate(chosen) == "" and page.is_disabled("#do") and not page.locator(".ghost, .chosen").count()


def test_a_trader_is_seen_where_it_would_stand_and_a_button_says_what_it_does(page, server):
    games, address = server
    table = table_at(games, "place", TINY)
    page.goto(address + table.address(0))
    page.click('[data-part="company green"]')
    assert page.inner_text('[data-part="company green"] .ghost') == "0"
    table = table_at(games, "defend", Ruleset("board", 3))
    page.goto(address + table.address(0))
    assert page.inner_text("#do") == "Do not defend"
    page.click("#hand .live >> nth=0")
    assert page.inner_text("#do") == "Defend with 1 card"


def test_a_round_of_four_takes_less_than_eight_seconds(page, server):
    """However much happens, and in however many pieces it comes; where little happens there is time to read."""
    page.goto(server[1])
    milliseconds = """async ([turns, size]) => {
      const { schedule } = await import("/static/steps.js");
      const steps = turns.map((turn) => ({ turn, told: ["Ben ships a card of four flags to Palembang"] }));
      let round, all = [];
      for (let i = 0; i < steps.length; i += size) {
        round ??= { turn: null, left: 0 };
        all = [...all, ...schedule(steps.slice(i, i + size), 5, 1, round)];
      }
      return all;
    }"""
    for often, size in ((1, 99), (3, 99), (12, 99), (3, 1), (10, 4)):
        turns = [turn for turn in (0, 1, 2, 3, 4) for _ in range(often)]
        times = page.evaluate(milliseconds, [turns, size])
        assert len(times) == len(turns) and 2000 < sum(times) < 8000 and min(times) > 80
    assert min(page.evaluate(milliseconds, [[1, 2, 3, 4], 99])) > 600


def test_while_others_play_nothing_is_asked(chromium, server):
    """With motion: the options are gone, it is told who plays, and a click ends it."""
    games, address = server
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    name = games.begin(TINY, ["human", "random", "random"], ["Anna", "Ben", "Chitra"], 3)
    page.goto(address + seats(games, name)[0])
    for _ in range(2):
        page.wait_for_selector("#main[data-state=asked]:not(.showing)")
        page.click(".ladder.live")
        number = page.get_attribute("[name=decision]", "value")
        page.click("#do")
        page.wait_for_selector("#step li:last-child")
        assert page.is_hidden("#choose") and page.is_hidden("#status") and "play" in page.inner_text("#step h2")
        page.click("#step button")
        page.wait_for_selector(f'#main:not(:has([name=decision][value="{number}"]))', state="attached")
    page.close()


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


def test_what_is_chosen_and_the_advice_stay_while_the_same_is_decided(page, server, hasty, monkeypatch):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["Anna", "r 1", "r 2"], 3)
    page.goto(address + seats(games, name)[0])
    assert asked(page)
    page.check("input[name=move] >> nth=1")
    move = page.get_attribute("input[name=move]:checked", "value")
    page.click("text=Ask the coach")
    page.wait_for_selector("section.coach", timeout=120_000)  # machine code may have to be made first
    table = games.table(name)
    for error, words in ((RuntimeError, "fault is not yours"), (Refused(507, "No room."), "No room.")):
        with monkeypatch.context() as broken:
            broken.setattr(table, "choose", Mock(side_effect=error))
            page.click("#do")
            page.wait_for_selector(f"#main .problem:has-text('{words}')")
        assert page.is_enabled("#do")
    page.faults.clear()  # the browser tells of the refusal, too
    assert page.is_checked(f'input[name=move][value="{move}"]') and page.inner_text("#preview")
    assert page.locator("#board .chosen").count() and page.locator("section.coach").count() == 1
    click_through(page, random.Random(1))
    assert asked(page) and not page.locator("input[name=move]:checked, section.coach").count()


@pytest.mark.soak
def test_a_page_says_when_the_server_is_gone_and_goes_on_when_it_is_back(chromium, tmp_path):
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    with served(tmp_path) as (games, address):
        name = games.begin(TINY, ["human", "random", "random"], ["Anna", "r 1", "r 2"], 3)
        page.goto(address + seats(games, name)[0])
        assert asked(page)
    page.wait_for_selector("#lost:not([hidden])", timeout=10_000)  # without a click, as whoever waits sees it
    page.check("input[name=move] >> nth=0")
    page.click("#do")
    with served(tmp_path, port=int(address.rpartition(":")[2])) as (games, _):
        page.wait_for_selector("#lost[hidden]", state="attached", timeout=10_000)
        click_through(page, random.Random(1))
        assert games.table(name).choices == 1
        context.close()


def test_a_finished_game_leads_to_its_replay(page, server):
    games, address = server
    name = games.begin(TINY, ["random"] * 3, ["r 0", "r 1", "r 2"], 3)
    page.goto(address + seats(games, name)[SPECTATOR])
    page.wait_for_selector("#main[data-state=over]")
    page.click("text=Replay")
    page.wait_for_selector("html[data-ready]", timeout=20_000)
    page.keyboard.press("End")
    points = [row.split("\t")[1].strip() for row in page.locator("#players tr").all_inner_texts()]
    assert points == [str(score) for score in games.table(name).record[-1]["scores"]]


def test_a_record_is_sent_and_replayed_and_a_wrong_one_is_told(page, server, tmp_path):
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text("<img src=x onerror=alert(1)>")
    page.goto(server[1])
    page.set_input_files("#record", wrong)
    page.wait_for_selector("#told:has-text('is not JSON')")
    page.faults.clear()  # the browser tells of the refusal, too
    right = tmp_path / "right.jsonl"
    right.write_bytes(b"".join((GOLDEN / "board-3.jsonl").read_bytes().splitlines(keepends=True)[:40]))
    page.set_input_files("#record", right)
    page.wait_for_selector("html[data-ready]", timeout=20_000)
    assert "/records/" in page.url


def test_light_and_dark_are_switched_and_remembered(page, server):
    ground = "getComputedStyle(document.body).backgroundColor"
    page.goto(server[1])
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert dark != light and page.inner_text("#theme") == "Light"
    page.goto(f"{server[1]}/rules")
    assert page.evaluate(ground) == dark
    page.click("#theme")
    assert page.evaluate(ground) == light
