"""A replay in a real browser, opened from the disk: stepping, addresses, eyes, and records that mean harm."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from borneo_web.replay import Replay
from playing import shown_in
from web_games import unpacked

from borneo_env.record import Line, read_record

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: no browser is tried")
pytestmark = pytest.mark.browser


@cache
def record() -> list[Line]:
    """The beginning of a game of three, with two contests and two contracts."""
    golden = Path(__file__).parent.parent / "golden"
    return read_record(golden / "board-3-four-traders-blackbeard.jsonl")[:90]


@cache
def made() -> Replay:
    return Replay.of(record(), thoughts=["merchant", "random"])


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complains about; nothing, unless a test takes it out."""
    return []


@pytest.fixture
def visit(chromium: Any, tmp_path: Path, complaints: list[str]) -> Iterator[Any]:
    contexts = []

    def opened(html: str, address: str = "", **options: Any) -> Any:
        (tmp_path / "game.html").write_text(html, encoding="utf-8")
        contexts.append(chromium.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith("file:") or complaints.append(request.url))
        page.goto((tmp_path / "game.html").as_uri() + address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def at(page: Any) -> int:
    """Where a page says that the game is, in every place where it says so."""
    (number,) = {
        int(page.evaluate("location.hash.slice(1)")),
        int(page.locator("#slider").input_value()),
        int(page.locator("#now-title").inner_text().split()[1]),
    }
    return number


def arrives(page: Any, position: int) -> None:
    """Wait until the page shows a position. (Playwright's own waiting for a condition is what the policy forbids.)"""
    sync_api.expect(page.locator("#slider")).to_have_value(str(position))


def test_keys_and_buttons_step_through_the_game(visit: Any) -> None:
    content, page = made().content, visit(made().html())
    last, jumps = len(content["turns"]) - 1, content["jumps"]
    assert all(len(places) > 1 for places in jumps.values())
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert at(page) == 2
    page.keyboard.press("ArrowLeft")
    assert at(page) == 1
    page.keyboard.press("End")
    assert at(page) == last
    page.keyboard.press("ArrowRight")
    assert at(page) == last
    page.keyboard.press("Home")
    assert at(page) == 0
    for key, kind in {"t": "turn", "c": "contest", "k": "contract"}.items():
        page.keyboard.press("Home")
        page.keyboard.press(key)
        page.locator(f"[data-step={kind}]").click()
        assert at(page) == [place for place in jumps[kind] if place > 0][1]
        page.keyboard.press(f"Shift+{key}")
        assert at(page) == next(place for place in jumps[kind] if place > 0)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible() and "next contest" in page.locator("#help").inner_text()
    page.keyboard.press("Escape")
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert at(page) == 1, "a key moves one step where the slider is in focus, too"


def test_a_position_has_an_address(visit: Any) -> None:
    page = visit(made().html(), "#40")
    assert at(page) == 40
    page.evaluate("location.hash = '#12'")
    arrives(page, 12)
    page.locator("#slider").fill("25")
    assert at(page) == 25
    for wrong, shown in {"#999999": len(made().content["turns"]) - 1, "#x": 0, "#-3": 0, "#1e2": 0}.items():
        page.evaluate(f"location.hash = '{wrong}'")
        arrives(page, shown)


def test_the_page_says_what_the_position_is(visit: Any) -> None:
    content, page = made().content, visit(made().html(), "#30")
    told = [shown_in(content, line[0]) for line in content["story"][30]]
    shown = page.locator("#told p").all_inner_texts()
    assert all(line.startswith(words.split(" card ")[0]) for line, words in zip(shown, told, strict=True))
    assert page.locator("#told").get_attribute("aria-live") == "polite"
    assert page.locator("#lines a[aria-current]").get_attribute("href") == "#30"
    points = [row.split("\t")[1].strip() for row in page.locator("#players tr").all_inner_texts()]
    assert points == [str(number) for number in content["points"][30]]
    decisions = enumerate(content["decisions"])
    place, decision = [pair for pair in decisions if pair[1] and len(pair[1]["options"]) > 2][-2]
    page.evaluate(f"location.hash = '#{place}'")
    page.wait_for_selector(f"#lines a[aria-current][href='#{place}']")
    rows = page.locator("#options tbody tr")
    assert rows.count() == len(decision["options"])
    (played,) = page.locator("#options .played td:first-child").all_inner_texts()
    assert played.endswith("✓ played")
    assert played.split()[0] == shown_in(content, decision["options"][decision["played"]]).split()[0]
    assert page.locator("#options tbody tr.played").evaluate("one => one.rowIndex") == 1 + decision["played"]
    choice = content["thoughts"][0]["choices"][str(place)]
    chosen = [" ".join(row.locator("td").nth(1).inner_text().split()) for row in rows.all()]
    assert chosen == ["★ its choice" if number == choice else "" for number in range(rows.count())]
    assert page.locator("#curves .line").count() == 2 * 3
    first = page.locator("#swings a").first
    assert first.get_attribute("href") == f"#{content['views'][0]['moments'][0][1]}"
    first.click()
    assert at(page) == content["views"][0]["moments"][0][1]


def test_with_the_eyes_of_a_seat_other_hands_and_options_are_hidden(visit: Any) -> None:
    content, page = made().content, visit(made().html())
    own = next(i for i, player in enumerate(content["players"]) if player == 1 and i > 12)
    other = next(i for i, player in enumerate(content["players"]) if player == 2 and i > 12)
    page.locator("#view").select_option("2")
    for position, hidden in ((own, False), (other, True)):
        page.evaluate(f"location.hash = '#{position}'")
        arrives(page, position)
        assert page.locator("#options .note").count() == hidden
        assert "seen by random 1" in page.locator("#picture svg").text_content()
    story = page.locator("#lines").inner_text()
    assert "random 1 draws" in story and "random 0 draws" not in story and "random 2 is dealt" not in story


@pytest.mark.parametrize(
    "names",
    [
        ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "javascript:alert(3)"],
        ["&lt;/script&gt;&#60;b>", "]]><svg onload=alert(4)>", "'\"><iframe srcdoc='<script>alert(5)</script>'>"],
        ["x" * 1000, "سمير رحمان", "${alert(6)}`"],
    ],
)
def test_names_in_a_record_run_nothing(visit: Any, names: list[str]) -> None:
    page = visit(Replay.of([record()[0] | {"agents": names}, *record()[1:40]], thoughts=["merchant"]).html(), "#30")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    page.locator("#view").select_option("2")
    assert page.locator("script").count() == 2 and page.locator("img, iframe, object, embed").count() == 0
    shown = page.locator("#players td:first-child").all_inner_texts()
    assert all(name[:30] in words for name, words in zip(names, shown, strict=True))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_even_a_drawing_that_means_harm_runs_nothing(visit: Any, complaints: list[str]) -> None:
    content = unpacked(_packed(made().html()))
    content["parts"][0] = [
        "<script>document.title = 'hacked'</script><image href='x:' onerror=\"document.title = 'hacked'\"/>"
        "<a href=\"javascript:document.title = 'hacked'\"><rect id='trap' width='900' height='900'/></a>"
    ] * len(content["parts"][0])
    page = visit(Replay(content).html())
    page.locator("#trap").dispatch_event("click")
    page.keyboard.press("ArrowRight")
    assert page.title().startswith("Borneo")
    assert complaints and all("Content Security Policy" in one or one == "x:" for one in complaints)
    complaints.clear()


def test_cards_are_drawn_as_the_game_draws_them(visit: Any) -> None:
    content, page = made().content, visit(made().html())
    ships = [
        (place, one["options"][one["played"]])
        for place, one in enumerate(content["decisions"])
        if one and one["played"] is not None and one["options"][one["played"]][0] == "ship "
    ]
    place, pieces = ships[-1]
    number = pieces[1][1]
    *flags, spice, _ = content["cards"][number]
    page.evaluate(f"location.hash = '#{place}'")
    arrives(page, place)
    for line in ("#options .played", f"#lines a[href='#{place + 1}']"):
        card = page.locator(f"{line} .card").first
        drawn = card.evaluate("one => [...one.querySelectorAll('use')].map((use) => use.getAttribute('href')[1])")
        assert drawn == [*(flag[0] for flag in flags), spice[0]] and card.locator("b").inner_text() == str(number)
        widths = "one => [...one.querySelectorAll('use')].map((use) => use.getBoundingClientRect().width)"
        assert min(card.evaluate(widths)) > 5
    assert "limit" not in page.locator("#lines").inner_text(), "what stands on the board is not said again"


def test_options_are_in_the_order_of_probability_and_show_what_was_played(visit: Any) -> None:
    content = Replay.of(record(), thoughts=["merchant", "policy:budget=0"]).content
    shares = {int(place): given for place, given in content["thoughts"][1]["probabilities"].items()}
    played = {place: content["decisions"][place]["played"] for place in shares}
    ranks = {place: sum(one > given[played[place]] for one in given)
             for place, given in shares.items() if played[place]}  # fmt: skip
    page = visit(Replay(content).html(), viewport={"width": 1280, "height": 800})
    for place in sorted(ranks, key=ranks.__getitem__)[-2:]:  # where what was played is far down
        assert ranks[place] > 5
        page.evaluate(f"location.hash = '#{place}'")
        arrives(page, place)
        told = [int(words.split()[0]) for words in page.locator("#options td:last-child").all_inner_texts()]
        assert told == sorted(told, reverse=True) and len(told) == len(shares[place])
        assert page.locator("#options .played").count() == 1
        row, pane = (page.locator(one).bounding_box() for one in ("#options .played", "#options"))
        assert pane["y"] <= row["y"] and row["y"] + row["height"] <= pane["y"] + pane["height"]
        assert page.evaluate("scrollY") == 0, "the page stays where it is"
        assert page.locator("#options").evaluate("one => one.scrollWidth <= one.clientWidth")


def test_escape_leaves_what_is_enlarged(visit: Any) -> None:
    page = visit(made().html())
    page.keyboard.press("Escape")
    for enlarge in (lambda: page.keyboard.press("z"), lambda: page.locator("#picture").click()):
        enlarge()
        page.keyboard.press("?")
        page.keyboard.press("Escape")  # closes the help only
        assert page.locator("#zoom").get_attribute("aria-pressed") == "true"
        page.keyboard.press("Escape")
        assert page.locator("#zoom").get_attribute("aria-pressed") == "false"
        assert page.locator("#picture.large").count() == 0


def _packed(html: str) -> str:
    return html.split('"packed": "')[1].split('"')[0]


@pytest.mark.parametrize("width", [360, 900, 1600])
def test_the_page_fits_every_screen(visit: Any, width: int) -> None:
    page = visit(made().html(), "#20", viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    board = page.locator("#picture svg").bounding_box()
    assert board["width"] > 0.55 * width and board["y"] < 120
    page.locator("#zoom").click()
    assert page.locator("#zoom").get_attribute("aria-pressed") == "true"
    assert page.locator("#picture svg").bounding_box()["width"] > 2 * board["width"]


def test_the_board_is_dark_on_a_dark_page(visit: Any) -> None:
    page = visit(made().html(), "#40", color_scheme="dark")
    fills = "one => [...one.querySelectorAll('rect, path')].map((shape) => getComputedStyle(shape).fill)"
    light = {"rgb(245, 235, 211)", "rgb(252, 247, 234)", "rgb(223, 227, 207)"}  # paper, cards, and water
    assert not light & set(page.locator("#picture svg").evaluate(fills))
    page.locator("#theme").click()
    assert light <= set(page.locator("#picture svg").evaluate(fills))


def test_in_a_notebook_the_page_works_in_its_frame(visit: Any, chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "cell.html").write_text(f"<!doctype html><body>{made()._repr_html_()}</body>", encoding="utf-8")
    context = chromium.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "cell.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("[data-step=on]").click()
    assert frame.locator("#now-title").inner_text().startswith("Move 1 of")
    context.close()
    assert errors == []
