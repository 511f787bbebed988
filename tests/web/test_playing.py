"""Games over HTTP: played to the end, shared by people, saved and continued, and no lie is believed."""

from __future__ import annotations

import json
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import httpx
import numpy as np
import pytest
from borneo_agents.human.decision import RULES
from borneo_agents.policy.threats import Outlook, Threat
from borneo_web.server.coach import _difference, advise
from borneo_web.server.game.choices import parts_of
from borneo_web.server.live_game import LiveGame, Refused, SteppedGame
from borneo_web.server.live_games import LiveGames, read_table
from borneo_web.server.seat_view import news, pieces
from playing import told_to
from web_games import TINY, Person, begin, seats, served, table_at

from borneo_env import Batch, resample
from borneo_env.engine.loops import NO_ACTION
from borneo_env.pieces import Who
from borneo_env.record import verify
from borneo_env.ruleset import Ruleset

HUMANS = ["human", "human", "random"]


def new_table(games: LiveGames, seats_taken=HUMANS, names=("Anna", "Ben", "random 2"), seed=3, ruleset=TINY) -> str:
    return games.begin(ruleset, seats_taken, names, seed)


def people(server, name: str) -> dict[int, Person]:
    games, address = server
    return {seat: Person(address, link) for seat, link in seats(games, name).items()}


# ---------------------------------------------------------------- whole games


@pytest.mark.parametrize("edition", ["board", "card"])
def test_a_whole_game_is_played_by_forms(server, edition):
    _games, address = server
    answer = begin(address, edition=edition, seat1="merchant", name0="Anna")
    assert answer.status_code == 303
    anna, rng = Person(address, answer.headers["location"]), random.Random(1)
    while anna.wait() != "over":
        assert anna.client.get(f"{anna.address}/record").status_code == 409
        anna.choose(rng)
    assert "The game is over" in anna.page
    record = [json.loads(line) for line in anna.client.get(f"{anna.address}/record").text.splitlines()]
    assert verify(record).player[0] == -1
    assert record[0]["agents"] == ["Anna", "merchant", "random"] and record[0]["ruleset"]["edition"] == edition


def test_a_choice_is_taken_back_while_nobody_has_learnt_of_it(server):
    games, _ = server
    name = new_table(games, ["human", "random", "random"], ["Anna", "r 1", "r 2"])
    anna, rng = people(server, name)[0], random.Random(2)
    anna.wait()
    while "Take back" not in anna.page:
        anna.choose(rng)
        assert anna.wait() == "asked"
    lines = len(games.table(name).game.lines)
    decision = anna.decision
    assert anna.send(deed="undo") == 303
    anna.wait()
    assert len(games.table(name).game.lines) < lines
    assert anna.decision != decision
    assert anna.send(anna.moves[0], decision=decision) == 409  # the number of a decision never comes again


def test_what_the_others_did_is_told_until_the_turn_ends(tmp_path):
    """Everything since the end of the last turn, at each decision of the next one."""
    game = SteppedGame(Ruleset("board", 3), ["human", "merchant", "merchant"], 3)
    table, rng = LiveGame.set_up(game, ["Anna", "m 1", "m 2"], tmp_path / "x.json"), random.Random(1)
    first: dict[int, list[str]] = {}  # what was told at the first decision of each turn
    while True:
        game.advance()
        told = news(table, 0)
        if game.over:
            break
        if game.batch.games["turn"][0] == 0 and game.batch.phase_name() != "place":
            turns = sum(line.endswith(": you") for line in told_to(game, 0))
            before = first.setdefault(turns, told)
            assert told[: len(before)] == before and any("M 1 ships" in line for line in told[: len(before)])
        table.choose(0, table.choices, [rng.choice(game.batch.legal_moves())])
    assert len(first) > 5 and "Result:" in told[-4]


# ---------------------------------------------------------------- lies


def test_lies_are_refused_and_change_nothing(server):
    games, address = server
    name = new_table(games)
    everybody = people(server, name)
    everybody[0].wait()
    table = games.table(name)
    asked = table.game.player
    decides, other, watcher = everybody[asked], everybody[1 - asked], everybody[-1]
    for person in everybody.values():
        person.look()
    before, number, move = json.dumps(table.game.lines), decides.decision, decides.moves[0]
    for person, moves, decision, status, words in (
        (other, [move], number, 409, "not your decision"),
        (watcher, [move], number, 403, "Who watches cannot play"),
        (decides, ["ship 1 0"], number, 422, "is not legal now"),
        (decides, ["<b>"], number, 422, "is not legal now"),
        (decides, [], number, 422, "Choose one"),
        (decides, [move, decides.moves[1]], number, 422, "Choose one"),
        (decides, [move], str(int(number) + 1), 409, "played already"),
        (decides, [move], "-1", 422, "number of the decision"),
        (decides, [move], "٣", 422, "number of the decision"),
    ):
        assert person.send(*moves, decision=decision) == status and words in person.problem
    assert decides.send(decision=number, deed="undo") == 409 and "nothing that could be taken back" in decides.problem
    for wrong in (f"/game/{name}/{'A' * 32}", f"/game/000000000000/{table.keys[0]}", f"/game/{name}/", "/game/..%2f/x"):
        assert httpx.get(address + wrong).status_code == 404
        assert httpx.post(f"{address}{wrong}/choose", data={"decision": number, "move": move}).status_code == 404
    for body, kind, status in (
        ("move=" + "x" * 9000, "application/x-www-form-urlencoded", 413),
        ("{}", "application/json", 415),
        ("a=%ff", "application/x-www-form-urlencoded", 400),
        ("&".join(["a=1"] * 40), "application/x-www-form-urlencoded", 400),
    ):
        sent = httpx.post(f"{address}{decides.address}/choose", content=body, headers={"content-type": kind})
        assert sent.status_code == status
    assert httpx.get(f"{address}{decides.address}/choose").status_code == 405
    assert json.dumps(table.game.lines) == before and table.choices == int(number)
    assert decides.send(move, decision=number) == 303


def test_two_clicks_at_once_play_once(server):
    games, _ = server
    name = new_table(games)
    everybody = people(server, name)
    while True:
        seat = games.table(name).game.player
        if seat in (0, 1) and everybody[seat].look() == "asked":
            person = everybody[seat]
            break
    number, move = person.decision, person.moves[0]
    gate = threading.Barrier(8)

    def click(_: int) -> int:
        mine = Person(str(person.client.base_url), person.address)
        mine.look()
        gate.wait()
        return mine.send(move, decision=number)

    with ThreadPoolExecutor(8) as clicks:
        statuses = list(clicks.map(click, range(8)))
    assert sorted(statuses) == [303] + [409] * 7
    assert games.table(name).choices == int(number) + 1


# ---------------------------------------------------------------- saved games


def test_saved_games_go_on_in_a_new_server(tmp_path):
    rng = random.Random(3)
    with served(tmp_path) as (games, address):
        name = new_table(games, ["human", "merchant", "random"], ["Anna", "merchant 1", "random 2"])
        links = seats(games, name)
        anna = Person(address, links[0])
        for _ in range(3):
            assert anna.wait() == "asked"
            anna.choose(rng)
        assert anna.wait() == "asked"
        number, moves, told = anna.decision, anna.moves, anna.client.get(f"{links[0]}/story").text
    (tmp_path / "broken.json").write_text("{")
    with served(tmp_path) as (games, address):
        again = Person(address, links[0])
        assert again.wait() == "asked"
        assert (again.decision, again.moves) == (number, moves)
        assert again.client.get(f"{links[0]}/story").text == told
        listed = httpx.get(address).text
        assert links[0] in listed and "cannot be read" in listed
        assert again.send(moves[0], decision=number) == 303
        assert again.send(moves[0], decision=number) == 409
        while again.wait() != "over":
            again.choose(rng)
        assert (tmp_path / f"{name}.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("next", {}), ("next", []), ("names", ["a"]), ("keys", {"0": "short"}), ("choices", -1), ("record", [])],
)
def test_a_saved_game_with_a_wrong_field_is_refused_with_its_name(tmp_path, field, wrong):
    with served(tmp_path) as (games, _):
        name = new_table(games)
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: wrong}))
    with pytest.raises(ValueError, match=field):
        read_table(path)


def test_the_same_people_play_again(server):
    """Whoever asks first deals for all: the others find their seats in the same game."""
    games, _ = server
    name = new_table(games)
    everybody, rng = people(server, name), random.Random(1)
    anna, ben, watcher = everybody[0], everybody[1], everybody[-1]
    assert anna.client.post(f"{anna.address}/again").status_code == 409
    while not games.table(name).game.over:
        for person in (anna, ben):
            if person.look() == "asked":
                person.choose(rng)
    assert watcher.client.post(f"{watcher.address}/again").status_code == 403
    assert anna.look() == "over" and "Play again" in anna.page and "To the next game" not in anna.page
    links = [person.client.post(f"{person.address}/again").headers["location"] for person in (anna, ben, ben, watcher)]
    before, after = games.table(name), games.table(links[0].split("/")[2])
    assert links == [after.address(seat) for seat in (0, 1, 1, -1)] and before is not after
    assert (after.game.seats, after.game.names) == (before.game.seats, before.game.names)
    assert after.game.lines[0]["seed"] != before.game.lines[0]["seed"]
    assert ben.look() == "over" and "To the next game" in ben.page
    games.remove(after.path.stem)
    other = anna.client.post(f"{anna.address}/again").headers["location"]
    assert other.split("/")[2] in games and other != links[0]


def test_the_start_page_reads_few_of_many_games(tmp_path):
    with served(tmp_path) as (games, _):
        names = [new_table(games, seed=seed) for seed in range(8)]
    with served(tmp_path) as (games, address):
        page = httpx.get(address).text
        assert "and 2 older" in page and page.count("Anna plays") == 6
        assert sum(table is not None for table in games._tables.values()) == 6
        assert httpx.get(f"{address}/?all").text.count("Anna plays") == len(names)


# ---------------------------------------------------------------- words and pictures


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


HOSTILE = ["<script>alert()</script>", '"><img src=x onerror=a>', "card 99 [x]", "player 1 is", "a\x00\nb\u202e"]


def test_hostile_names_are_only_names(tmp_path):
    with served(tmp_path) as (games, address):
        named = {f"name{seat}": name for seat, name in enumerate(HOSTILE)}
        sitting = {f"seat{seat}": "human" for seat in range(5)}
        lobby = begin(address, players="5", **named, **sitting).headers["location"]
        (name,) = games
        links = seats(games, name)
        for link in (*links.values(), f"{links[0]}/story", f"{links[1]}/steps", "/", lobby):
            answer = httpx.get(address + link)
            shown = answer.json() if link.endswith("/steps") else [{"told": [answer.text], "pieces": []}]
            found = Elements("".join(html for step in shown for html in step["told"] + step["pieces"]))
            scripts = [attributes for tag, attributes in found.found if tag == "script"]
            assert all(str(attributes.get("src")).startswith("/static/") for attributes in scripts)
            assert not any(key.startswith("on") for _, attributes in found.found for key in attributes)
            assert not any(tag in ("img", "iframe") for tag, _ in found.found)
        listed = Elements(httpx.get(address).text).text
        assert all(shown in listed for shown in (*HOSTILE[:4], "a  b"))


@pytest.mark.parametrize("edition", ["board", "card"])
def test_every_option_can_be_clicked_on_the_table(tmp_path, edition):
    """Every legal move but those that decline is about something that is drawn, and no two about the same."""
    rng = random.Random(5)
    game = SteppedGame(Ruleset(edition, 3, blackbeard=edition == "board"), ["human", "random", "random"], 2)
    table = LiveGame.set_up(game, ["Anna", "r 1", "r 2"], tmp_path / "x.json")
    verbs = set()
    for _ in range(400):
        if game.over:
            break
        phase = game.batch.phase_name()
        moves = [game.batch.actions.move(action, phase) for action in np.flatnonzero(game.batch.mask[0]).tolist()]
        drawn = "".join(piece for place in pieces(table.scene(game.player)).values() for piece in place)
        ways = [parts_of(game.batch, move) for move in moves]
        clicked = [parts for parts in ways if parts]
        assert len(set(clicked)) == len(clicked) >= len(moves) - 1
        for part in {part for parts in clicked for part in parts}:
            assert f'data-part="{part}"' in drawn, (part, moves)
        verbs |= {move.verb for move in moves}
        move = rng.choice([move for move in moves if not move.text.endswith(" none")] or moves)
        game.play(game.batch.actions.action(move.text, phase))
    assert verbs >= {"place", "ship", "take", "traders", "transfer", "attack", "commit", "defend", "contract", "pay"}


def test_a_contest_draws_its_cards_in_its_words(tmp_path):
    with served(tmp_path) as (games, address):
        table = table_at(games, "defend", Ruleset("board", 3))
        page = httpx.get(address + table.address(0)).text
        told = re.search(r'<p class="told">(.*?)</p>', page)[1]
        assert told.count('class="card"') == len(table.scene(0).sides[0].cards) > 0
        assert 'data-several="defend" data-none' in page and 'id="strengths"' in page


def test_the_coach_advises_and_changes_nothing(server, hasty):
    games, address = server
    for edition, coach in (("board", "policy"), ("card", "merchant")):
        answer = begin(address, edition=edition)
        anna = Person(address, answer.headers["location"])
        anna.wait()
        table = games.table(anna.address.split("/")[2])
        before = table.game.batch.games.tobytes()
        advised = anna.client.get(f"{anna.address}?coach=yes", timeout=120).text
        assert f"“{coach}” would do this" in advised
        assert ("to win · plays it with" in advised) == ("together have 100 %" in advised) == (coach == "policy")
        assert ("or what it fears" in advised) == (coach == "merchant")
        assert table.game.batch.games.tobytes() == before


def outlook(value: float, threat: Threat | None = None, **had: float) -> Outlook:
    """Where a choice leads if all of 256 playouts end in much the same way."""
    wobble = np.linspace(-0.01, 0.01, 256)
    return Outlook(value + wobble, {what: number + wobble for what, number in had.items()}, threat)


def test_the_coach_says_why_and_what_it_fears_and_how_the_choice_compares(server, monkeypatch):
    """Fears are about players: the page has their names. The best, the second and what is chosen are looked at."""
    games, address = server
    anna = Person(address, begin(address, name0="Anna").headers["location"])
    anna.wait()
    best = advise(games.table(anna.address.split("/")[2]).batch()).answers[0].actions[0]
    chosen = next(move for move in anna.moves if anna.moves.index(move) != best)
    first = outlook(0.2, Threat((Who(2), " attacks ", Who(0), " in red"), 0.123, 0.31), points=5.0, rivals=3.0)
    second = outlook(0.1, points=4.0, rivals=3.0)
    found = iter([first, second, second])
    monkeypatch.setattr("borneo_agents.policy.agent.outlook_of", lambda model, views, actions: next(found, "too many"))
    asked = {"coach": "yes", "decision": anna.decision, "move": chosen}
    answer = anna.client.get(anna.address, params=asked, timeout=120).text
    (kept,) = re.findall(r'value="([^"]+)"[^>]* checked', answer)
    assert kept == chosen, "without a script, too, what was chosen stays so"
    advised = Elements(answer).text
    assert "53% to win" in advised and "43% to win" in advised and advised.count("Your choice") == 1
    assert "Why: by your next turn you have 1.0 points more than with the second." in advised
    told = "Beside the first: wins 10 games in 100 fewer than the first; by your next turn you have 1.0 points fewer"
    assert told in advised
    told = "It fears: random 2 attacks you in red. That costs you 0.12 of a win, and happens in 31% of the games"
    assert told in advised and advised.count("It fears:") == 1 and "it imagines 256 games" in advised
    monkeypatch.setattr("borneo_agents.policy.agent.outlook_of", lambda model, views, actions: outlook(0.1))
    advised = Elements(anna.client.get(f"{anna.address}?coach=yes", timeout=120).text).text
    assert "It fears nothing in particular" in advised and "as good as the first" in advised
    assert "Your choice" not in advised


def test_a_difference_that_may_be_chance_is_no_reason():
    noise = np.random.default_rng(1).normal(0, 1, (2, 256))
    assert _difference(noise[0], noise[1]) == 0
    assert _difference(noise[0] + 1, noise[1]) == pytest.approx(1, abs=0.3)


def test_a_coach_that_fails_says_so_and_can_be_asked_again(server, monkeypatch, capfd):
    _games, address = server
    anna = Person(address, begin(address).headers["location"])
    anna.wait()

    def broken(name):
        raise RuntimeError("/a/path/of/the/server")

    monkeypatch.setattr("borneo_web.server.coach._agent", broken)
    answer = anna.client.get(f"{anna.address}?coach=yes")
    anna.page = answer.text
    assert answer.status_code == 200 and anna.problem.startswith("The coach has no answer (RuntimeError).")
    assert "/a/path" not in anna.page and "/a/path" in capfd.readouterr().err
    assert "Ask again" in anna.page and anna.moves


@pytest.mark.parametrize("phase", ["place", "commit", "defend", "ship"])
def test_the_coach_knows_what_the_seat_may_know(phase, hasty):
    """Its advice is the same, to the last digit, when all that is hidden is dealt anew."""
    batch = Batch(1, Ruleset("board", 3), seed=5, finished="hold", skip_forced=False)
    while batch.phase_name() != phase or batch.forced()[0] != NO_ACTION:
        batch.play_random(1)
    chosen = [int(np.flatnonzero(batch.mask[0])[-1])] if phase in ("place", "ship") else []
    advice = advise(batch.copy(), chosen)
    assert advice.coach == "policy" and len(advice.answers) > 1 and advice.answers[1].win is not None
    other = batch.copy()
    other.games[0] = resample(batch.games[0], int(batch.player[0]), np.random.default_rng(1))
    other.refresh()
    assert not np.array_equal(other.games["place"], batch.games["place"])
    assert advise(other, chosen) == advice


def test_the_rules_of_every_decision_are_one_click_away(server):
    rules = httpx.get(f"{server[1]}/rules").text
    for names in RULES.values():
        assert all(f'id="{name}"' in rules for name in names)
    _games, _ = server
    anna = Person(server[1], begin(server[1]).headers["location"])
    anna.wait()
    assert all(f'href="/rules#{name}"' in anna.page for name in RULES["place"])


def test_an_agent_that_fails_is_told_and_nothing_is_lost(server, monkeypatch):
    games, _address = server
    name = new_table(games, ["human", "random", "random"], ["Anna", "r 1", "r 2"])
    anna = people(server, name)[0]
    anna.wait()
    table = games.table(name)

    class Broken:
        def act(self, views):
            raise RuntimeError("<oh>")

    table.game.agents = dict.fromkeys(table.game.agents, Broken())
    while not table.trouble:
        anna.look()
        if anna.moves:
            anna.send(anna.moves[0])
    anna.look()
    assert "The game cannot go on: r" in anna.problem and "<oh>" in anna.problem
    with pytest.raises(Refused, match="cannot go on"):
        table.choose(0, table.choices, ["place red"])
