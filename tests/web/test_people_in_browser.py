"""The start page, the lobby and the coach clicked in Chromium, as people use them."""

from __future__ import annotations

import pytest
from web_games import TINY, page_in, seats, served

COACH = "**/*coach=yes*"
pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium):
    with page_in(chromium, 1280, 900, console=False) as opened:  # answers that fail are errors there
        yield opened


@pytest.fixture
def server(tmp_path):
    with served(tmp_path) as found:
        yield found


def test_two_people_meet_in_the_lobby(page, server):
    page.goto(server[1])
    page.fill("[name=name0]", "Mia")
    page.select_option("[name=seat1]", "human")
    page.fill("[name=name1]", "Ben")
    page.click("text=Deal the cards")
    page.wait_for_selector("#lobby")
    page.click("[data-copy=link1]")
    page.wait_for_selector("[data-copy=link1]:has-text('Copied')")
    ben = page.context.new_page()
    ben.goto(page.input_value("#link1"))
    page.bring_to_front()
    page.wait_for_selector(".came[data-seat='1']:has-text('is at the table')")
    assert page.inner_text(".came[data-seat='0']") == "has not come yet"
    page.click("text=Sit down as Mia")
    page.wait_for_selector("#main")


def test_a_coach_that_does_not_answer_says_so_and_what_is_chosen_stays(page, server):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["Mia", "r 1", "r 2"], 3)
    page.goto(address + seats(games, name)[0])
    page.wait_for_selector("#main[data-state=asked]")
    page.check("input[name=move] >> nth=1")
    move, asked = page.input_value("input[name=move]:checked"), []
    busy = "<p class=problem>The coach is busy.</p>"
    page.route(COACH, lambda route: (asked.append(route.request.url), route.fulfill(status=503, body=busy)))
    page.click("text=Ask the coach")
    page.wait_for_selector("#refused:has-text('The coach is busy.')")
    assert f"move={move.replace(' ', '+')}" in asked[0] and "decision=" in asked[0]
    page.unroute(COACH)
    page.route(COACH, lambda route: route.abort())
    page.click("text=Ask again")
    page.wait_for_selector("#refused:has-text('The server does not answer.')")
    assert page.is_checked(f"input[name=move][value='{move}']") and page.is_enabled("text=Ask again")
