"""Ways in: what the game is about, a new game and its lobby, names, the list of games, and the rules for people."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest
from borneo_web.server.game.guide import ABOUT, rules_page
from borneo_web.server.game.legend import MEANINGS, legend
from borneo_web.server.live_game import LiveGame, SteppedGame
from borneo_web.server.lobby import lobby_page
from borneo_web.server.opponents import opponents
from borneo_web.server.start import names_of
from starlette.datastructures import URL
from web_games import TINY, Person, begin, seats, served

from borneo_env.engine.state import SPECTATOR
from borneo_env.render.legend import signs
from borneo_env.rulebook import rules

TWO = {"seat1": "human", "name0": "Mia", "name1": "Ben"}


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("kinds", "given", "names"),
    [
        (["human", "merchant", "merchant"], ["Mia", "", ""], ["Mia", "merchant 1", "merchant 2"]),
        (["human", "human", "random"], ["", "Ben", ""], ["person", "Ben", "random 2"]),
        (["human", "human", "human"], ["", "Mia", "mia"], ["person", "Mia 1", "mia 2"]),
        (["human", "merchant", "human"], ["merchant 1", "", "Mia 0"], ["merchant 1 0", "merchant 1", "Mia 0"]),
        (["human", "human", "human"], ["Mia", "Mia", "Mia 1"], ["Mia 0", "Mia 1 1", "Mia 1 2"]),
    ],
)
def test_people_are_called_as_they_say_and_told_apart(tmp_path, kinds, given, names):
    assert names_of(kinds, given) == names
    assert len({name.casefold() for name in names}) == len(names)


def test_a_record_has_the_names_of_people_and_the_kinds_of_agents(tmp_path):
    game = SteppedGame(TINY, ["random"] * 3, 3)
    game.advance()
    for names, recorded in (
        (["random 0", "random 1", "random 2"], ["random", "random", "random"]),
        (["Mia 0", "Mia 1", "random 2"], ["Mia", "Mia", "random"]),
        (["Mia 0", "Ben", "random 2"], ["Mia 0", "Ben", "random"]),
    ):
        game.seats = ["random" if name.startswith("random") else "human" for name in names]
        assert LiveGame.set_up(game, names, tmp_path / "x.json").record[0]["agents"] == recorded


# ---------------------------------------------------------------- a new game


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"seed": "12a"}, "A seed is a whole number of at most 18 digits, or nothing."),
        ({"name1": "Benjamin" * 4}, "A name has at most 24 characters"),
        ({"seat2": "nobody"}, "There is no agent"),
        ({"seed": "-1"}, "A seed is"),
        ({"players": "6"}, "Players: three, four, five."),
        ({"edition": "chess"}, "Edition: board (2008), card (2007)."),
        ({"seat2": "policy:/etc"}, "There is no agent"),
        ({"seat2": "os:system"}, "There is no agent"),
        ({"edition": "card", "seat2": "policy"}, "policy cannot play this game: it was trained for the board edition."),
        ({"edition": "card", "blackbeard": "yes"}, "is a variant of the board edition (R9.2)."),
        ({"traders": "4", "players": "4", "seat3": "random"}, "3 players"),
    ],
)
def test_a_wrong_form_comes_back_as_it_was_filled_in_with_the_reason(server, wrong, reason):
    games, address = server
    before = list(games)
    filled = TWO | {"players": "3", "seat2": "random", "seed": "77"} | wrong
    answer = begin(address, **filled)
    assert answer.status_code == 422 and list(games) == before
    page = answer.text
    problem = re.search(r'class="problem" role="alert">([^<]*)<', page)[1]
    assert reason in unescape(problem)
    for field in ("name0", "name1", "seed"):
        assert re.search(rf'name="{field}"[^>]*value="{filled[field]}"', page)
    for field, usual, values in (("edition", "board", ("board", "card")), ("players", "3", ("3", "4", "5"))):
        value = filled[field] if filled.get(field) in values else usual
        assert f'name="{field}" value="{value}" checked' in page
    assert ('name="traders" value="4" checked' in page) == ("traders" in wrong)
    chosen = [re.search(r'value="([^"]*)" selected', part)[1] for part in page.split("<select")[1:]]
    wanted = filled["seat2"] if filled["seat2"] in ("random", "policy") else "normal"
    assert chosen[:3] == ["human", "human", wanted]


def test_the_start_page_says_what_the_game_is_about_until_somebody_has_played(tmp_path):
    with served(tmp_path) as (games, address):
        page = httpx.get(address).text
        assert "<details open" in page and all(line in unescape(page) for line in ABOUT) and len(ABOUT) == 5
        games.begin(TINY, ["random"] * 3, ["r 0", "r 1", "r 2"], 1)
        page = httpx.get(address).text
        assert "<details class" in page and ABOUT[0] in page


def test_policies_are_offered_for_the_games_they_were_trained_for(server, tmp_path):
    (tmp_path / "card.json").write_text("{}")
    known = {one.name: one for one in opponents({"policy broken": f"policy:{tmp_path}"})}
    assert "policy broken" not in known, "nobody can play against it"
    assert known["policy"].only == "board edition" and ("card", 3) not in known["policy"].games
    assert known["merchant"].only == ""
    page = httpx.get(server[1]).text
    assert "policy: trained, strongest (board edition)" in page
    assert page.count('value="policy" data-games="board-3 board-4 board-5"') == 5


# ---------------------------------------------------------------- the lobby


def test_who_deals_for_several_people_finds_all_links_and_who_has_come(server):
    games, address = server
    lobby = address + begin(address, **TWO).headers["location"]
    (name,) = re.findall("/games/([0-9a-f]+)$", lobby)
    links = seats(games, name)
    page = httpx.get(lobby).text
    assert re.findall('<input value="([^"]+)"', page) == [address + links[seat] for seat in (0, 1, SPECTATOR)]
    assert page.count("has not come yet") == 2 and f'href="{links[0]}"' in page and "Sit down as Ben" in page
    assert "lead to this machine only" in page
    assert f'href="/games/{name}"' in httpx.get(address).text
    with httpx.stream("GET", f"{address}{links[1]}/events") as events:
        lines = events.iter_lines()  # which closes the stream when nobody has it any more
        next(lines)
        assert re.findall('class="came" data-seat="1">([^<]+)<', httpx.get(lobby).text) == ["is at the table"]
    while "was here" not in (page := httpx.get(lobby).text):
        pass
    assert page.count("has not come yet") == 1
    assert httpx.get(f"{address}/games/000000000000").status_code == 404


def test_a_lobby_elsewhere_says_nothing_of_this_machine(tmp_path):
    table = LiveGame.set_up(
        SteppedGame(TINY, ["human", "human", "random"], 1), ["Mia", "Ben", "r 2"], tmp_path / "x.json"
    )
    page = lobby_page(table, URL("http://192.168.1.7:8420/"))
    assert f"http://192.168.1.7:8420{table.address(0)}" in page and "this machine only" not in page


def test_the_lobby_is_behind_the_door(tmp_path):
    with served(tmp_path, token="a-long-token") as (games, address):
        name = games.begin(TINY, ["human", "human", "random"], ["Mia", "Ben", "r 2"], 1)
        refused = httpx.get(f"{address}/games/{name}")
        assert refused.status_code == 403 and not any(key in refused.text for key in games.table(name).keys.values())
        with httpx.Client(base_url=address) as host:
            host.get("/?token=a-long-token")
            assert games.table(name).keys[1] in host.get(f"/games/{name}").text


# ---------------------------------------------------------------- the list of games


def test_games_in_the_list_say_who_has_won_or_who_is_waited_for(tmp_path):
    with served(tmp_path) as (games, address):
        games.begin(TINY, ["human", "human", "human"], ["Mia", "Ben", "Ida"], 3)
        over = games.begin(TINY, ["random"] * 3, ["Ann", "Bob", "Cid"], 3)
        Person(address, seats(games, over)[SPECTATOR]).wait()
        table = games.table(over)
        won = " and ".join(table.game.names[seat] for seat in table.scene(SPECTATOR).winners)
        page = httpx.get(address).text
        assert re.search(rf"over, {won} won · \d\d \w+ 20\d\d, \d\d:\d\d<", page)
        assert re.search(r"(Mia|Ben|Ida) decides · \d\d \w+ 20\d\d, \d\d:\d\d<", page)
        table.path.unlink()
        assert re.search(rf"over, {won} won<", httpx.get(address).text), "a file that has gone has no date"


# ---------------------------------------------------------------- the rules for people


def test_the_rules_begin_with_a_page_for_people_and_have_every_rule_below(server):
    page = rules_page()
    assert page.index("Your turn") < page.index("At a port") < page.index("A contest") < page.index("R0.1")
    assert all(f'id="{rule}"' in page for rule in rules())
    for anchor in re.findall('<a href="#([^"]+)"', page):
        assert f'id="{anchor}"' in page
    here = re.search(r"shows (\d) flags: (\d)/(\d)", page)
    assert here[1] == here[2] and f">{here[2]}/{here[3]}<" in page, "the words are about the picture"
    assert "$" not in page
    assert httpx.get(f"{server[1]}/rules").text == page


def test_the_legend_explains_every_sign_and_nothing_else():
    words = [words for kind in signs(blackbeard=True) for _, words in kind.entries]
    assert set(MEANINGS) <= set(words)
    drawn = unescape(legend(blackbeard=True))
    assert all(MEANINGS.get(word, word) in drawn for word in words)
    assert "4/6: four flags of the company are visible there, of the six for a monopoly." in drawn
    assert "the pirate ship" in drawn and "the pirate ship" not in legend(blackbeard=False)


def test_the_table_has_the_legend_and_names_its_cards(server):
    person = Person(server[1], begin(server[1]).headers["location"])
    person.wait()
    assert "What the signs mean" in person.page
    assert re.search(r'title="card \d+: \w+ \w+ \w+, below \w+; \w+', person.page)
