"""Games to watch: replays of finished games, records that are sent, folders of arenas and trainings."""

from __future__ import annotations

import json
import random
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path

import httpx
import pytest
from borneo_agents.arena import play_arena
from borneo_agents.arena.report.replays import write_replays
from borneo_agents.policy.agent import SHIPPED
from borneo_agents.policy.model import FORMAT
from borneo_agents.statistics.intervals import Estimate
from borneo_web.server.arena_folder import ArenaFolder
from borneo_web.server.training_folder import TrainingFolder
from web_games import GOLDEN, TINY, Person, begin, seats, served, unpacked

from borneo_env.engine.state import SPECTATOR
from borneo_env.record import LARGEST_FILE, record_games, write_record
from kontor.files import FileError

BEGINNING = b"".join(
    (GOLDEN / "board-3.jsonl").read_bytes().splitlines(keepends=True)[:40]
)  # a whole game takes longer
SCRIPT = re.compile(r"<script(?: type=\"application/json\" id=\"content\")?>(.*?)</script>", re.DOTALL)


def content(page: str):
    return unpacked(json.loads(re.search(r'id="content">(.*?)</script>', page)[1])["packed"])


def send(address: str, body: bytes | str, **headers: str) -> httpx.Response:
    return httpx.post(f"{address}/records", content=body, headers=headers, timeout=30)


# ---------------------------------------------------------------- replays


def test_a_finished_game_has_a_replay_for_everybody_and_a_running_one_for_nobody(server):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["Anna", "random 1", "random 2"], 3)
    links, rng = seats(games, name), random.Random(1)
    anna = Person(address, links[0])
    while anna.wait() != "over":
        assert httpx.get(f"{address}{links[0]}/replay").status_code == 409
        anna.choose(rng)
    assert f'href="{links[0]}/replay"' in anna.page
    replays = [httpx.get(f"{address}{links[seat]}/replay", timeout=30) for seat in (0, SPECTATOR)]
    assert [replay.status_code for replay in replays] == [200, 200]
    shown = content(replays[0].text)
    assert shown["names"] == ["Anna", "random 1", "random 2"]
    for replay, seat in zip(replays, (0, SPECTATOR), strict=True):
        assert f'<a class="back" href="{links[seat]}">← Back to the table</a>' in replay.text
    assert links[0] not in replays[1].text, "who watches does not get the key of a seat"
    assert shown["points"][-1] == games.table(name).record[-1]["scores"]
    assert f'href="{links[SPECTATOR]}/replay"' in httpx.get(address).text
    assert httpx.get(f"{address}/game/{name}/{'A' * 32}/replay").status_code == 404


def test_of_all_scripts_the_one_in_a_replay_runs(server):
    _, address = server
    answer = replay_of(address, BEGINNING)
    script = SCRIPT.findall(answer.text)[-1]
    (policy,) = answer.headers.get_list("content-security-policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["script-src"] == f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    assert rules["default-src"] == rules["frame-ancestors"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy and "'self'" not in policy


def replay_of(address: str, record: bytes) -> httpx.Response:
    return httpx.get(address + send(address, record).json()["address"])


# ---------------------------------------------------------------- records that are sent


def test_a_record_that_is_sent_is_replayed_as_far_as_it_goes(server):
    _, address = server
    (record,) = record_games(TINY, 1, seed=1, agents=["random"] * 3)
    lines = [json.dumps(line).encode() + b"\n" for line in record]
    pages = [replay_of(address, b"".join(part)).text for part in (lines, lines[:20])]
    assert all('<a class="back" href="/">← Back to the start</a>' in page for page in pages)
    whole, part = map(content, pages)
    assert whole["finished"] and not part["finished"]
    assert len(part["turns"]) == 20 - sum("shuffle" in line for line in record[:20])


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 422, "line 1: the file is empty"),
        (b"\xff\xfe", 422, "is not text in UTF-8"),
        (b"{}", 422, "line 1"),
        (b"[1]\n", 422, "is not a JSON object"),
        (b"{" * 100_000, 422, "is not JSON"),
        (b"x" * (LARGEST_FILE + 1), 413, "at most 5,000,000 bytes"),
    ],
)
def test_what_is_no_record_is_refused(server, body, status, words):
    answer = send(server[1], body)
    assert answer.status_code == status and words in answer.text


def test_a_record_that_lies_or_names_scripts_does_no_harm(server):
    _, address = server
    head, *lines = (GOLDEN / "board-3.jsonl").read_text().splitlines()
    lie = json.loads(lines[0]) | {"move": "<script>alert(1)</script>"}
    answer = send(address, "\n".join([head, json.dumps(lie), *lines[1:]]))
    assert answer.status_code == 422 and "line 2" in answer.text and "<script>alert" not in answer.text
    hostile = json.dumps(json.loads(head) | {"agents": ["</script><script>alert(1)</script>"] * 3})
    page = replay_of(address, "\n".join([hostile, *lines[:20]]).encode()).text
    assert len(SCRIPT.findall(page)) == 2 and "<script>alert" not in page


def test_only_own_pages_send_records_and_others_do_not_guess_them(server):
    _, address = server
    assert send(address, BEGINNING, origin="http://evil.example").status_code == 403
    assert len(send(address, BEGINNING).json()["address"]) > len("/records/") + 15
    assert httpx.get(f"{address}/records/nothing").status_code == 404


# ---------------------------------------------------------------- an arena


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    play_arena(["merchant", "random"], TINY, games=6, seed=1, out=folder, records=True, jobs=0)
    return folder


def test_an_arena_shows_standings_games_and_replays(arena, tmp_path):
    with served(tmp_path, arena=ArenaFolder(arena)) as (_, address):
        assert 'href="/arena"' in httpx.get(address).text
        page = httpx.get(f"{address}/arena").text
        results = json.loads((arena / "results.json").read_text())
        order = [row["agent"] for row in results["standings"]]
        assert re.findall(r"<tr><td>(\w+)</td><td>[\d.]+", page) == order
        estimate = Estimate(**results["standings"][0]["win_share"]).words(".1f", 0.01)  # never more than there can be
        assert "<td>{} <small>{}</small></td>".format(*estimate.split(" ", 1)) in page
        games = [int(number) for number in re.findall(r'href="/arena/(\d+)"', page)]
        assert games == list(range(results["games"]))
        answer = httpx.get(f"{address}/arena/4", timeout=30)
        shown = content(answer.text)
        record = [json.loads(line) for line in (arena / "records" / "game0000004.jsonl").read_text().splitlines()]
        assert shown["points"][-1] == record[-1]["scores"]
        assert '<a class="back" href="/arena?from=0#game4">← Back to the arena</a>' in answer.text
        assert 'id="game4"' in page
        for wrong in ("999", "-1", "4.jsonl", "..%2f..%2fsettings", "٤"):
            assert httpx.get(f"{address}/arena/{wrong}").status_code == 404


def test_games_of_a_large_arena_come_in_pages(arena, tmp_path, monkeypatch):
    for module in ("library", "library_page"):
        monkeypatch.setattr(f"borneo_web.server.{module}.GAMES_ON_A_PAGE", 4)
    with served(tmp_path, arena=ArenaFolder(arena)) as (_, address):
        found, link = [], "/arena"
        while link:
            page = httpx.get(address + link).text
            found += re.findall(r'href="/arena/(\d+)"', page)
            later = re.search(r'href="(/arena\?from=\d+)">Later', page)
            link = later and later[1]
    assert found == [str(number) for number in range(6)]


def test_an_arena_that_still_plays_shows_its_records(arena, tmp_path):
    (tmp_path / "run" / "records" / "unfinished").mkdir(parents=True)
    golden = [json.loads(line) for line in (GOLDEN / "board-3.jsonl").read_text().splitlines()]
    write_record(tmp_path / "run" / "records" / "unfinished" / "game0000002.jsonl", golden[:30])
    with served(tmp_path / "games", arena=ArenaFolder(tmp_path / "run")) as (_, address):
        page = httpx.get(f"{address}/arena").text
        assert "when all games are played" in page and re.findall(r'href="/arena/(\d+)"', page) == ["2"]
        assert not content(httpx.get(f"{address}/arena/2", timeout=30).text)["finished"]


@pytest.mark.soak
def test_the_report_of_an_arena_links_a_replay_of_every_recorded_game(tmp_path):
    result = play_arena(["merchant", "random"], TINY, games=6, seed=1, out=tmp_path, records=True, jobs=0)
    assert "replays/" not in (tmp_path / "report.html").read_text()
    write_replays(tmp_path, lambda records: records[:3])  # somebody stops it
    write_replays(tmp_path)
    result.write(tmp_path)
    links = re.findall(r'<a href="([^"]+)">game (\d+)</a>', (tmp_path / "report.html").read_text())
    assert [int(number) for _, number in links] == list(range(6))
    for link, number in links:
        shown = content((tmp_path / link).read_text())
        assert shown["points"][-1] == result.outcomes["scores"][int(number)].tolist()
    play_arena(["merchant", "random"], TINY, games=6, seed=2, out=tmp_path, fresh=True, jobs=0)
    assert not (tmp_path / "replays").exists(), "pages of other games must not stay"


NO_FOLDERS = {  # what neither an arena nor a training writes
    "results.json": [
        "{", "[]", '{"standings": [{"agent": "<b>"}]}', '{"standings": 3}',
        '{"standings": [{"agent": "a", "seats": 3, "win_share": {"value": 1' + "0" * 400 + "}}]}",
    ],
    "games.csv": [
        "game\n1\n", "game,fault,agent 0\nx,,a\n", "game,fault,agent 0,score 0,place 0\n1,,a,1,1,and,more\n",
        "game,fault," + ",".join(f"agent {i},score {i},place {i}" for i in range(2000)) + "\n1,",
    ],
    "curve.jsonl": [
        "{", "3\n", '{"steps": 1, "strength": [{}]}\n', '{"steps": 1e999, "strength": []}\n',
        '{"steps": 1' + "0" * 400 + ', "strength": [{"measure": "m", "against": "a", "players": 3, "value": 1, '
        '"low": null, "high": null}]}\n',
    ],
}  # fmt: skip


@pytest.mark.parametrize("file", NO_FOLDERS)
def test_a_damaged_folder_is_told_and_nothing_breaks(tmp_path, file):
    (tmp_path / "run" / "records").mkdir(parents=True)
    (tmp_path / "run" / "curve.jsonl").touch()
    looked_at = {"arena": ArenaFolder(tmp_path / "run"), "training": TrainingFolder(tmp_path / "run")}
    with served(tmp_path / "games", **looked_at) as (_, address):
        for text in NO_FOLDERS[file]:
            (tmp_path / "run" / file).write_text(text)
            answer = httpx.get(f"{address}/{'training' if file == 'curve.jsonl' else 'arena'}")
            assert answer.status_code == 422 and "it holds no" in answer.text, text
            assert str(tmp_path) not in answer.text


def test_folders_need_the_token_and_must_be_what_they_are_said_to_be(arena, tmp_path):
    with served(tmp_path, token="a-long-token", arena=ArenaFolder(arena)) as (_, address):
        for path in ("/arena", "/arena/1", "/training", "/records/x"):
            assert httpx.get(address + path).status_code == 403
        assert send(address, b"{}").status_code == 403
    with served(tmp_path) as (_, address):
        assert [httpx.get(address + path).status_code for path in ("/arena", "/arena/1", "/training")] == [404] * 3
    for kind in (ArenaFolder, TrainingFolder):
        with pytest.raises(FileError, match="is no folder of"):
            kind(tmp_path)


# ---------------------------------------------------------------- a training


@pytest.fixture
def training(tmp_path):
    """A folder as `borneo train` leaves it, with the shipped policy as its best model."""
    folder = tmp_path / "training"
    (folder / "best").mkdir(parents=True)
    for file in SHIPPED.iterdir():
        if file.suffix in (".json", ".safetensors"):
            (folder / "best" / file.name).write_bytes(file.read_bytes())
    measured = {"measure": "win share", "against": "random", "players": 4, "games": 100, "seed": 1}
    entries = [
        {"steps": steps, "seconds": 1.0, "strength": [measured | {"value": value, "low": value / 2, "high": None}]}
        for steps, value in ((0, 0.25), (1000, 0.5), (2000, 0.75))
    ]
    (folder / "curve.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return folder


def test_a_training_shows_its_curve_and_its_models_play(training, tmp_path):
    found = TrainingFolder(training)
    with served(tmp_path / "games", opponents=found.opponents, training=found) as (games, address):
        page = httpx.get(f"{address}/training").text
        assert "0.750 <small>above 0.375</small>" in page and "3 random" in page
        assert '<option value="policy best" data-games=' in httpx.get(address).text
        answer = begin(address, seat1="policy best", seat2="random")
        anna = Person(address, answer.headers["location"])
        anna.wait()
        table = games.table(anna.address.split("/")[2])
        assert table.game.seats[1] == f"policy:{training}/best" and table.game.names[1] == "policy best 1"
        assert str(training) not in anna.page


def test_the_curve_is_the_picture_that_the_training_has_drawn(training, tmp_path):
    with served(tmp_path / "games", training=TrainingFolder(training)) as (_, address):
        for content, status in ((None, 404), (b"<script>", 404), (b"\x89PNG\r\n\x1a\nlines", 200)):
            if content:
                (training / "curve.png").write_bytes(content)
            answer = httpx.get(f"{address}/training/curve.png")
            assert answer.status_code == status
            assert ('src="/training/curve.png"' in httpx.get(f"{address}/training").text) == (status == 200)
        assert answer.content == content and answer.headers["content-type"] == "image/png"


def copied(folder: Path, model: Path, **changes) -> None:
    """A model in another folder, with another card."""
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes())
    card = json.loads((model / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps(card | changes))


def test_the_models_of_all_checkpoints_are_opponents(training, tmp_path):
    checkpoints = training / "checkpoints"
    copied(checkpoints / "000000001000", training / "best", steps=1000, players=[4, 5])
    copied(checkpoints / "000000003000", training / "best", steps=3000, format="borneo-policy/1")
    for other in ("somebody's", "000000004000"):  # no name of a checkpoint; one that holds no model
        (checkpoints / other).mkdir()
        (checkpoints / other / "card.json").write_text("{}")
    found = TrainingFolder(training)
    with served(tmp_path / "games", opponents=found.opponents, training=found) as (games, address):
        page = httpx.get(f"{address}/training").text
        assert re.findall(r">(policy [^<]*)<", page) == ["policy best", "policy at 1,000", "policy at 3,000"]
        assert "policy at 1,000</a></td><td>1,000</td><td>0.500</td>" in page
        assert f"reads &#x27;{FORMAT}&#x27;" in page and str(training) not in page
        link = unescape(re.search(r'href="(/[?][^"]*at[+]1[^"]*)"', page)[1])
        start = httpx.get(address + link).text
        assert 'name="players" value="4" checked' in start and start.count('value="policy at 1,000" selected') == 4
        assert "policy at 3,000" not in start
        copied(checkpoints / "000000005000", training / "best", steps=5000)  # the training goes on
        assert httpx.get(address).text.count('value="policy at 5,000"') == 5
        four = {"players": "4", "seat1": "policy at 1,000", "seat3": "random"}
        assert begin(address, **four).status_code == 303
        assert begin(address, **four | {"players": "3"}).status_code == 422
        assert begin(address, seat1="policy at 3,000").status_code == 422
        (name,) = games
        assert games.table(name).game.seats[1] == f"policy:{checkpoints / '000000001000'}"


# ---------------------------------------------------------------- games that are refused or removed


def test_a_game_is_removed_with_its_file(tmp_path):
    with served(tmp_path) as (games, address):
        name, other = (games.begin(TINY, ["human", "random", "random"], ["A", "b", "c"], 1) for _ in range(2))
        link, path = seats(games, name)[0], games.table(name).path
        anna = Person(address, link)
        anna.wait()
        decision, move = anna.decision, anna.moves[0]
        assert httpx.post(f"{address}/games/{name}/remove", headers={"origin": "http://x.example"}).status_code == 403
        assert httpx.get(f"{address}/games/{name}/remove").status_code == 405
        assert path.exists()
        assert httpx.post(f"{address}/games/{name}/remove").status_code == 303
        assert not path.exists() and list(games) == [other]
        assert httpx.get(address + link).status_code == 404
        assert anna.client.post(f"{link}/choose", data={"decision": decision, "move": move}).status_code == 404
        for wrong in (name, "..%2fx", "nothing"):
            assert httpx.post(f"{address}/games/{wrong}/remove").status_code == 404
    assert list(tmp_path.glob("*.json")) == [tmp_path / f"{other}.json"]
