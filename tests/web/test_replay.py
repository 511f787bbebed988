"""Replays: every position, word and number of a page is that of the game, and a page for a seat tells nothing else."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from borneo_agents.scripted.valuation.win_probability import win_probability
from borneo_web import look
from borneo_web.commands.replay import replay as command
from borneo_web.replay import Replay
from borneo_web.replay.eyes import Change, Eyes, swings
from borneo_web.replay.page import STROKES, with_way_back
from borneo_web.replay.recorded import RecordedGame
from borneo_web.replay.replay import _content
from borneo_web.replay.thoughts import untracked
from playing import shown_in
from web_games import GOLDEN, unpacked

from borneo_env.agent import Views, find_agent
from borneo_env.engine.hiding import redact, resample
from borneo_env.engine.state import CARDS, HAND, NOBODY, TAKE
from borneo_env.pieces import Does, Mention, Pieces, Who, briefly, plain
from borneo_env.record import Line, RecordError, read_record, record_games, replay, write_record
from borneo_env.render import Picture, symbols
from borneo_env.ruleset import Ruleset
from borneo_env.story import deed, story

LARGEST = 1_000_000  # bytes of a page
# Whole games take seconds to draw; one with five players is drawn whole, of others the beginning.
RECORDS = {"board-3-blackbeard": 36, "card-3": 40, "card-5": 30, "board-5": None}
SHUFFLED = 5  # the seed of a game in which the discard pile is shuffled


@cache
def record_of(name: str) -> list[Line]:
    return read_record(GOLDEN / f"{name}.jsonl")[: RECORDS.get(name)]


@cache
def made(name: str, seat: int | None = None) -> Replay:
    return Replay.of(record_of(name), seat, thoughts=[])


@cache
def tiny() -> list[Line]:
    return record_games(Ruleset(players=3, tables="tiny"), 1, seed=1, agents=["random"] * 3)[0]  # type: ignore[arg-type]


def content_of(page: str) -> Any:
    """What a browser finds in a page."""
    (data,) = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page, re.DOTALL)
    return unpacked(json.loads(data)["packed"])


def rebuilt(head: str, contents: Sequence[Sequence[str]], changes: Iterable[Change], tail: str) -> Iterator[str]:
    """The drawings that parts and changes stand for: what `pictures.js` does in the browser."""
    now = [""] * len(contents)
    for change in changes:
        for part, number in zip(change[::2], change[1::2], strict=True):
            now[part] = contents[part][number]
        yield head + "".join(now) + tail


def positions(record: Sequence[Line]) -> list[tuple[np.void, Pieces, np.ndarray]]:
    """The game after each move, the move in words, and the points: from the record, without what is tested here."""
    found: list[tuple[np.void, Pieces, np.ndarray]] = []
    try:
        for moment in replay(record):
            if not found:
                found.append((moment.before, (), np.zeros(moment.batch.ruleset.players, int)))
            if moment.kind == "move":
                words = deed(moment.batch.ruleset, moment.before, moment.line["player"], moment.move)
                found.append((moment.after, words, moment.batch.scores()[0]))
            else:
                found[-1] = moment.after, found[-1][1], moment.batch.scores()[0]
    except RecordError as error:
        assert error.line == len(record) + 1, "the record is cut off"
    return found


# ---------------------------------------------------------------- what the page shows


@pytest.mark.parametrize("name", RECORDS)
def test_every_position_is_drawn_as_the_renderer_draws_it(name: str) -> None:
    content, record = content_of(made(name).html()), record_of(name)
    names = [f"{agent} {seat}" for seat, agent in enumerate(record[0]["agents"])]
    ruleset = next(iter(replay(record))).batch.ruleset
    assert [view["seat"] for view in content["views"]] == [None, *range(ruleset.players)]
    shown = positions(record)
    for view in content["views"]:
        drawn = list(rebuilt(content["head"], content["parts"], view["pictures"], content["tail"]))
        assert len(drawn) == len(shown)
        seat, every = view["seat"], 1 if len(shown) < 100 else 23  # drawing them all again takes long
        for number in range(0, len(shown), every):
            game, words, _ = shown[number]
            picture = Picture(ruleset, game, seat, plain(words, names), names)
            assert drawn[number] == picture.svg(), (seat, number)


def test_a_page_is_small() -> None:
    page = made("board-5").html()
    assert len(page.encode()) < LARGEST / 3, "a whole game of five players"
    assert "<link" not in page and "src=" not in page and "url(" not in page, "nothing is fetched"


@pytest.mark.parametrize("name", RECORDS)
def test_the_curve_of_points_is_that_of_the_engine(name: str) -> None:
    content, record = made(name).content, record_of(name)
    assert content["points"] == [scores.tolist() for _, _, scores in positions(record)]
    if "scores" in record[-1]:
        assert content["points"][-1] == record[-1]["scores"]


def test_the_win_probability_is_that_of_the_last_settled_position() -> None:
    record = record_of("board-5")
    games = np.array([game for game, _, _ in positions(record)])
    content, ruleset = made("board-5").content, RecordedGame(record).ruleset
    expected = (1000 * win_probability(ruleset, games)).round().astype(int)
    win, settled = np.array(content["views"][0]["win"]), RecordedGame(record).settled()
    assert (win[settled] == expected[settled]).all()
    taking = np.flatnonzero(games["phase"] == TAKE)
    assert len(taking) and not set(taking) & set(settled) and (win[taking] == win[taking - 1]).all()
    winners = np.array(record[-1]["places"]) == 1
    for view in content["views"]:
        assert np.abs(np.array(view["win"]).sum(1) - 1000).max() <= 3
        assert (np.array(view["win"][-1])[winners] == 1000 // winners.sum()).all()


def test_the_moments_are_the_largest_swings() -> None:
    win = np.array([[0.5, 0.5], [0.52, 0.48], [0.52, 0.48], [0.9, 0.1], [0.7, 0.3], [0.0, 1.0]])
    settled = np.array([0, 1, 3, 4, 5])
    assert swings(win, settled, finished=True) == [[1, 3, 0], [3, 4, 0]], "the end is none"
    assert swings(win, settled, finished=False)[0] == [4, 5, 0]
    assert swings(win[:1], settled[:1], finished=False) == []


@pytest.mark.parametrize("name", ["card-3", "board-5"])
def test_the_story_is_told(name: str) -> None:
    content, record = made(name).content, record_of(name)
    told: dict[bool, list[str]] = {}
    for forced in (False, True):
        told[forced] = []
        try:
            for line in story(record, forced=forced):
                told[forced].append(plain(line.pieces, content["names"], shown=briefly))
        except RecordError:
            assert "scores" not in record[-1]
    lines = [line for position in content["story"] for line in position if line[2] is None]
    shown = [(shown_in(content, pieces), kind) for pieces, kind, _ in lines]
    assert [words for words, _ in shown] == told[True][3:], "all but the opening"
    assert [words for words, kind in shown if kind != "quiet"] == told[False][3:]


def cards_in(pieces: Pieces) -> set[int]:
    return {one.number for one in pieces if isinstance(one, Mention)}


def test_a_drawn_card_is_told_to_its_player() -> None:
    record = record_games(Ruleset(players=3), 1, seed=SHUFFLED, agents=["random"] * 3)[0]
    assert any("shuffle" in line for line in record)
    game, hands, told = RecordedGame(record), [set[int]() for _ in range(3)], 0
    for position in game.positions:
        verb = "draw" if hands[0] else "are"
        now = [set(np.flatnonzero(position.game["place"][:CARDS] == HAND + player).tolist()) for player in range(3)]
        private = {told.seat: told.pieces for told in position.told if told.seat is not None}
        for player in range(3):
            kept = {card for told in position.told if told.event == "keep" and told.pieces[0] == Who(player)
                    for card in cards_in(told.pieces)}  # fmt: skip
            drawn = now[player] - hands[player] - kept
            assert drawn == cards_in(private.get(player, ()))
            assert not drawn or private[player][:3] == (Who(player), " ", Does(player, verb))
            told += len(drawn)
        hands = now
    assert told > 60, "some cards were drawn twice"


def test_jumps_lead_to_turns_contests_and_contracts() -> None:
    name = "board-5"
    content, record = made(name).content, record_of(name)
    moves = [line["move"] for line in record if "move" in line]
    fulfilled = [any("contract is fulfilled" in line[0][0] for line in told) for told in content["story"]]
    kinds = {
        "contest": [at for at, move in enumerate(moves, start=1) if move.startswith("attack")],
        "contract": [at for at, told in enumerate(fulfilled) if told],
    }
    for kind, expected in kinds.items():
        assert expected and content["jumps"][kind] == expected
    turns = [at for at, told in enumerate(content["story"], start=-1) if any(line[1] == "heading" for line in told)]
    assert content["jumps"]["turn"] == turns[: len(content["jumps"]["turn"])]
    assert [content["turns"][at + 1] for at in content["jumps"]["turn"]] == [*range(1, 1 + max(content["turns"]))]


def test_the_options_are_the_legal_moves_and_the_played_one_is_marked() -> None:
    content = Replay.of(tiny(), thoughts=[]).content
    told = [line for line in record_games(Ruleset(players=3, tables="tiny"), 1, seed=1, agents=["random"] * 3,  # type: ignore[arg-type]
                                          legal=True)[0] if "move" in line]  # fmt: skip
    assert len(content["decisions"]) == len(told) + 1 and content["decisions"][-1] is None
    for line, decision in zip(told, content["decisions"], strict=False):
        assert len(decision["options"]) == len(line["legal"])
        assert decision["played"] == line["legal"].index(line["move"])
        assert "\x1b" not in json.dumps(decision["options"]) and "\\u001b" not in json.dumps(decision["options"])
    ships = [
        d["options"][d["played"]] for line, d in zip(told, content["decisions"], strict=False) if "ship" in line["move"]
    ]
    assert [one if isinstance(one, str) else one[0] for one in ships[0]] == ["ship ", "card", " to ", "port"]


# ---------------------------------------------------------------- what agents think


def test_thoughts_are_the_answers_of_the_agents() -> None:
    names = ["merchant", "policy:budget=0"]
    record = read_record(GOLDEN / "board-3.jsonl")[:34]
    content = Replay.of(record, thoughts=names, seed=3).content
    game = RecordedGame(record)
    table = game.table(3)
    asked = [i for i, d in enumerate(content["decisions"]) if d and len(d["options"]) > 1]
    assert len(asked) > 20
    views = Views(game.ruleset, redact(game.games[asked], game.games["player"][asked]), table.mask[asked],
                  table.view(np.array(asked))[2])  # fmt: skip
    choices = find_agent(names[0]).act(views)
    shares = find_agent(names[1]).probabilities(views)  # type: ignore[attr-defined]
    assert [thought["agent"] for thought in content["thoughts"]] == names
    for row, at in enumerate(asked):
        actions = np.flatnonzero(table.mask[at])
        assert actions[content["thoughts"][0]["choices"][str(at)]] == choices[row]
        told = np.array(content["thoughts"][1]["probabilities"][str(at)]) / 1000
        assert np.abs(told - shares[row, actions]).max() < 6e-4
    assert content["thoughts"][0]["choices"].keys() == {str(at) for at in asked}
    assert Replay.of(record, thoughts=names[:1], seed=3).content["thoughts"] == content["thoughts"][:1], (
        "the same seed, the same page"
    )
    assert Replay.of(tiny(), thoughts="random").content["thoughts"][0]["agent"] == "random"


def test_without_a_word_the_policy_tells_its_thoughts_where_it_was_trained() -> None:
    agents = {
        name: [thought["agent"] for thought in Replay.of(record_of(name)[:9]).content["thoughts"]]
        for name in ("board-5", "card-3")
    }
    assert agents == {"board-5": ["merchant", "policy"], "card-3": ["merchant"]}


# ---------------------------------------------------------------- what one seat may know


@pytest.mark.parametrize("seat", [0, 2, -1])
def test_a_page_for_a_seat_is_the_same_whatever_is_hidden_from_it(seat: int) -> None:
    game, other = RecordedGame(record_of("card-3")), RecordedGame(record_of("card-3"))
    playing = game.games["player"] != NOBODY
    other.games[playing] = resample(game.games[playing], seat, np.random.default_rng(8))
    assert (other.games["place"] != game.games["place"]).any(1).sum() > 20
    agents = [] if seat < 0 else ["merchant"]
    told = [_content(one, [Eyes(one, seat)], agents, 1, untracked) for one in (game, other)]
    for name in told[0]:
        assert told[0][name] == told[1][name], name


@pytest.mark.parametrize("seat", [1, -1])
def test_a_page_for_a_seat_tells_of_no_other_hand(seat: int) -> None:
    header = record_of("card-3")[0] | {"seed": 918273645546372819}
    made = Replay.of([header, *record_of("card-3")[1:]], seat, thoughts=[])
    content = content_of(made.html())
    assert "918273645546372819" not in json.dumps(content) + made.html(), "whoever knows the seed can deal the cards"
    assert [view["seat"] for view in content["views"]] == [seat]
    private = [line for told in content["story"] for line in told if {"draws", "is"} & {*map(str, line[0])}]
    assert {line[2] for line in private} == ({seat} if seat >= 0 else set())
    for player, decision in zip(content["players"], content["decisions"], strict=True):
        assert (decision is None) == (player != seat)


# ---------------------------------------------------------------- records from strangers


HOSTILE = ["</script><script>hacked=1</script>", '<img src=x onerror="hacked=1">', "javascript:hacked=1//" + "x" * 900]


def hostile(names: Sequence[str] = HOSTILE) -> list[Line]:
    return [tiny()[0] | {"agents": list(names)}, *tiny()[1:30]]


def test_names_are_no_markup_and_long_ones_are_cut() -> None:
    made = Replay.of(hostile(), thoughts=[])
    page = made.html()
    assert "hacked" not in re.sub(r"<title>.*?</title>", "", page), "it is packed"
    (title,) = re.findall(r"<title>(.*?)</title>", page, re.DOTALL)
    assert "<" not in title and "</script><script>hacked=1" in unescape(title)
    assert max(map(len, made.content["names"])) <= 42
    assert page.count("<script") == 2


def test_the_policy_lets_a_browser_run_the_script_of_the_page_alone() -> None:
    page = Replay.of(hostile(), thoughts=[]).html()
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    assert page.index("Content-Security-Policy") < page.index("<style") < page.index("<script")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["script-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in policy and "eval(" not in script and "innerHTML" not in script


def test_a_page_from_the_disk_has_no_link_and_one_from_a_server_leads_back() -> None:
    page = Replay.of(hostile(['<b class="brand">BORNEO</b>', "b", "c"]), thoughts=[]).html()
    assert "<a " not in page.split("<main>")[0]
    served = with_way_back(page, "Back to <Mia>", "/game/x?a=1&b")
    assert re.findall(r'<a class="\w+" href="([^"]*)">(.*?)</a>', served.split("<main>")[0]) == [
        ("/", "BORNEO"),
        ("/game/x?a=1&amp;b", "← Back to &lt;Mia&gt;"),
    ]
    assert served.split("<main>")[1] == page.split("<main>")[1]


@pytest.mark.parametrize(
    ("agents", "names"),
    [
        (["Mia", "merchant", "merchant"], ["Mia", "merchant 1", "merchant 2"]),
        (["merchant 2", "merchant", "merchant"], ["merchant 2 0", "merchant 1", "merchant 2"]),
    ],
)
def test_players_are_called_by_their_names_and_told_apart(agents: list[str], names: list[str]) -> None:
    assert Replay.of(hostile(agents), thoughts=[]).content["names"] == names


@pytest.mark.parametrize("end", ["without a result", "before a shuffle"])
def test_a_record_that_breaks_off_is_shown_as_far_as_it_goes(end: str) -> None:
    record = record_games(Ruleset(players=3), 1, seed=SHUFFLED, agents=["random"] * 3)[0]
    shuffle = next(i for i, line in enumerate(record) if "shuffle" in line)
    cut = record[:shuffle] if end == "before a shuffle" else record[:30]
    game = RecordedGame(cut)
    # the last move drew cards from a pile that is told in the line after it
    assert not game.finished and len(game) == (shuffle - 1 if end == "before a shuffle" else 30)
    whole = RecordedGame(record)
    assert whole.finished and len(whole) == 1 + sum("move" in line for line in record)
    assert (game.games["place"] == whole.games["place"][: len(game)]).all()
    assert game.decisions(range(3))[-1].played is (len(cut) and None)  # type: ignore[union-attr]


def test_a_record_that_is_wrong_is_refused() -> None:
    with pytest.raises(RecordError, match="line 1: the file is empty"):
        Replay.of([])
    with pytest.raises(RecordError, match="line 2: the file ends before the first move"):
        Replay.of(tiny()[:1])
    with pytest.raises(RecordError, match="line 3: 'fly' is not legal"):
        Replay.of([*tiny()[:2], tiny()[2] | {"move": "fly"}])
    with pytest.raises(RecordError, match=r"scores: should be"):
        Replay.of([*tiny()[:-1], tiny()[-1] | {"scores": [1, 2, 3]}])


# ---------------------------------------------------------------- from Python and from the shell


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_record(tmp_path / "a.jsonl", tiny()[:20])
    out = tmp_path / "a.html"
    for _ in range(2):  # what is there is replaced, as other commands do it
        command(tmp_path / "a.jsonl", out, thoughts="none")
        assert capsys.readouterr().out.startswith(f"{out}: 20 positions, 0.0")
    assert content_of(out.read_text(encoding="utf-8"))["thoughts"] == []
    command(tmp_path / "a.jsonl", out, seat=2, thoughts="random, merchant", seed=4, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"file": str(out), "positions": 20, "bytes": out.stat().st_size}
    content = content_of(out.read_text(encoding="utf-8"))
    assert content == json.loads(json.dumps(Replay.of(tiny()[:20], 2, thoughts=["random", "merchant"], seed=4).content))


WRONG = [  # what is given in place of a record, a page and options, and what is said
    ("missing.jsonl", "a.html", {}, r"missing\.jsonl: line 1: the file cannot be read: No such file"),
    ("a.jsonl", "a.txt", {}, r"a\.txt: a replay is saved as \.html"),
    ("a.jsonl", "no/a.html", {}, r"a\.html: cannot be written: No such file"),
    ("a.jsonl", "a.html", {"thoughts": "nobody"}, r"there is no agent 'nobody'; known are"),
    ("a.jsonl", "a.html", {"thoughts": "policy"}, "trained for the board edition"),
    ("a.jsonl", "a.html", {"seat": 3}, "seat"),
    (__file__, "a.html", {}, "line 1: is not JSON"),
]


@pytest.mark.parametrize(("record", "page", "options", "words"), WRONG)
def test_mistakes_are_told_with_the_remedy(tmp_path: Path, record: str, page: str, options: Any, words: str) -> None:
    write_record(tmp_path / "a.jsonl", record_of("card-3")[:20])
    with pytest.raises(ValueError, match=words) as error:
        command(tmp_path / record, tmp_path / page, **options)
    assert not (tmp_path / "a.html").exists()
    if options.get("thoughts") == "policy":
        assert "leave it out of them to have the page without" in error.value.__notes__[0]


def test_the_board_by_night_has_the_colours_of_the_pictures() -> None:
    content = made("board-5").content
    drawn = content["head"] + "".join(drawing for part in content["parts"] for drawing in part)
    for attribute, colours in {"fill": look.NIGHT.keys() - {symbols.PAPER_SPENT}, "stroke": STROKES}.items():
        assert all(f'{attribute}="{colour}"' in drawn for colour in colours)
