"""What breaks off, asks much, sends slowly, or finds no room: nothing is lost, nobody else waits, and words say why."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import suppress
from html import unescape
from pathlib import Path

import httpx
import pytest
from borneo_web.server import connections
from borneo_web.server.live_game import Refused
from borneo_web.server.live_games import LiveGames
from borneo_web.server.long_work import LongWork
from borneo_web.server.process import BackgroundProcess
from borneo_web.server.serve import serve
from web_games import TINY, Person, begin, seats, served

from kontor.files import FileError

FORM = "content-type: application/x-www-form-urlencoded"
FULL = "The game cannot be saved: No space left on device."


def asked(server, names=("Anna", "r 1", "r 2")) -> Person:
    """Somebody who is asked, in a new game."""
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], names, 3)
    anna = Person(address, seats(games, name)[0])
    assert anna.wait() == "asked"
    return anna


def table_of(server, person: Person):
    return server[0].table(person.address.split("/")[2])


def raw(address: str, *pieces: str | bytes, end: bool = False) -> bytes:
    """Send bytes to a server; with `end`, no more will come. What it answers until it closes the connection."""
    with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=20) as connection:
        for piece in pieces:
            connection.sendall(piece if isinstance(piece, bytes) else piece.encode())
        if end:
            connection.shutdown(socket.SHUT_WR)
        told = b""
        with suppress(ConnectionResetError):  # closed before all was read
            while piece := connection.recv(2**16):
                told += piece
        return told


def in_a_loop(scene) -> None:
    """Run a coroutine in a thread of its own: a browser of other tests may have a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, scene).result()


# ---------------------------------------------------------------- what breaks off


@pytest.mark.parametrize("length", ["content-length: {more}", "transfer-encoding: chunked"])
@pytest.mark.parametrize("deed", ["choose", "undo", "begin", "remove", "record"])
def test_what_breaks_off_does_nothing(server, deed, length):
    """A connection that ends in the middle of `move=drop+59` must not play `drop 5`."""
    games, address = server
    anna = asked(server)
    table = table_of(server, anna)
    if deed == "undo":
        while "Take back" not in anna.page:
            anna.send(anna.moves[0])
            anna.wait()
    name = anna.address.split("/")[2]
    path, body = {
        "choose": (f"{anna.address}/choose", f"decision={anna.decision}&move={anna.moves[0].replace(' ', '+')}"),
        "undo": (f"{anna.address}/undo", f"decision={anna.decision}"),
        "begin": ("/games", "players=3&seat0=human&seat1=random&seat2=random"),
        "remove": (f"/games/{name}/remove", "sure=yes"),
        "record": ("/records", (Path(__file__).parent.parent / "golden" / "board-3.jsonl").read_text()[:9000]),
    }[deed]
    before = list(games), table.choices, json.dumps(table.game.lines), table.path.read_text()
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{FORM}\r\n{length.format(more=len(body) + 1)}\r\n\r\n"
    sent = f"{len(body):x}\r\n{body}\r\n" if "chunked" in length else body
    assert b"HTTP/1.1 303" not in raw(address, head, sent, end=True)
    for _ in range(3):
        anna.look()  # meanwhile it would have been done
    assert (list(games), table.choices, json.dumps(table.game.lines), table.path.read_text()) == before


@pytest.mark.parametrize("length", ["content-length: {exact}", "transfer-encoding: chunked"])
def test_what_is_whole_is_done_and_what_comes_after_it_is_not(server, length):
    anna = asked(server)
    table, number = table_of(server, anna), int(anna.decision)
    body = f"decision={number}&move={anna.moves[0].replace(' ', '+')}"
    head = (
        f"POST {anna.address}/choose HTTP/1.1\r\nhost: 127.0.0.1\r\n{FORM}\r\n{length.format(exact=len(body))}\r\n\r\n"
    )
    sent = f"{len(body):x}\r\n{body}\r\n0\r\n\r\n" if "chunked" in length else body
    told = raw(server[1], head, sent, "59&move=more\r\n\r\n")
    assert told.startswith(b"HTTP/1.1 303") and table.choices == number + 1
    anna.wait()
    nothing = raw(
        server[1], f"POST {anna.address}/choose HTTP/1.1\r\nhost: 127.0.0.1\r\n{FORM}\r\nconnection: close\r\n\r\n"
    )
    assert nothing.startswith(b"HTTP/1.1 422") and b"number of the decision" in nothing


# ---------------------------------------------------------------- who owns a folder, and who looks into it


def test_two_servers_have_no_folder_in_common(tmp_path):
    with served(tmp_path) as (games, _):
        games.lock.tell("the server at http://127.0.0.1:8420/")
        words = (
            rf"in use by the server at http://127.0.0.1:8420/ \(process {os.getpid()} .*; .*, or give another --folder"
        )
        with pytest.raises(FileError, match=words):
            LiveGames(tmp_path)
    with served(tmp_path):
        pass


def test_nobody_else_reads_the_keys_of_seats(tmp_path):
    """Not in a folder that was made in another way either; one that has more in it, such as a home, stays as it is."""
    old, home = tmp_path / "old", tmp_path / "home"
    for folder in (old, home):
        folder.mkdir(mode=0o755)
    (old / "game.json").write_text("{}")
    (old / f".borneo-{1:016x}").write_text("keys")
    os.utime(old / f".borneo-{1:016x}", (1, 1))
    (home / "letter").touch()
    for folder, mode in ((tmp_path / "new", 0o700), (old, 0o700), (home, 0o755)):
        with served(folder) as (games, _):
            name = games.begin(TINY, ["random"] * 3, ["a", "b", "c"], 1)
            assert stat.S_IMODE(folder.stat().st_mode) == mode
            assert stat.S_IMODE((folder / f"{name}.json").stat().st_mode) == 0o600
        assert not [path for path in folder.iterdir() if path.suffix != ".json" and path.name != "letter"]


# ---------------------------------------------------------------- who asks much


class Slow:
    """A worker whose jobs end when they are told to."""

    def __init__(self):
        self.jobs: list[Future] = []

    def submit(self, job, *arguments):
        self.jobs.append(Future())
        return self.jobs[-1]


async def tried(work: LongWork, *asked: tuple[str, str]) -> list:
    """What each gets who asks; the worker ends all jobs when everybody has asked."""
    tasks = [asyncio.ensure_future(work.do(who, key, len)) for who, key in asked]
    await asyncio.sleep(0)
    for number, job in enumerate(work._worker.jobs):
        if not job.done():
            job.set_result(number)
    found = await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0)
    return [one.status if isinstance(one, Refused) else one for one in found]


def test_the_same_is_done_once_and_nobody_takes_all_places():
    async def scene():
        worker = Slow()
        work = LongWork(worker, "The coach", most=3, each=2, kept=1)
        same = [("anna", "a"), ("anna", "a"), ("ben", "a")]
        assert await tried(work, *same, ("anna", "b"), ("anna", "c"), ("ben", "c"), ("cleo", "d")) == [
            0, 0, 0, 1, 429, 2, 503,
        ]  # fmt: skip
        assert work.find("c") == 2 and work.find("a") is None, "only the last is kept"
        assert await tried(work, ("anna", "c"), ("anna", "d"), ("anna", "e")) == [2, 3, 4]
        with work.place("anna"), work.place("anna"):
            assert await tried(work, ("anna", "f"), ("ben", "f")) == [429, 5]
        assert await tried(work, ("anna", "g")) == [6] and not work._places

    in_a_loop(scene())


def test_a_job_that_fails_is_tried_again_by_whoever_asks_next():
    async def scene():
        worker = Slow()
        work = LongWork(worker, "The coach", most=2, each=1, kept=9)
        asked = asyncio.ensure_future(work.do("anna", "a", len))
        await asyncio.sleep(0)
        worker.jobs[0].set_exception(BrokenExecutor())
        with pytest.raises(Refused, match="was interrupted: ask again"):
            await asked
        assert await tried(work, ("anna", "a")) == [1]

    in_a_loop(scene())


def test_the_coach_who_is_busy_says_so_and_other_pages_come(tmp_path, monkeypatch):
    """On the page of the table: to whoever asks for a second decision meanwhile, and to one person too many."""
    begun, go = threading.Event(), threading.Event()

    def think(batch, chosen):
        begun.set()
        go.wait()
        raise Refused(422, "Enough.")

    monkeypatch.setattr("borneo_web.server.seat_routes.advise", think)
    monkeypatch.setattr("borneo_web.server.seat_routes.MOST_QUESTIONS", 1)
    with served(tmp_path) as server, ThreadPoolExecutor(1) as people:
        anna, ben = asked(server), asked(server)
        thinking = people.submit(anna.client.get, f"{anna.address}?coach", timeout=20)
        try:
            assert begun.wait(20)
            me = Person(server[1], anna.address)
            assert me.wait() == "asked" and me.send(me.moves[0]) == 303 and me.wait() == "asked"
            for person, status, words in (
                (me, 429, "The coach is busy with what you have asked before: ask again in a moment."),
                (ben, 503, "The coach is busy: ask again in a moment."),
            ):
                answer = httpx.get(f"{server[1]}{person.address}?coach")
                assert answer.status_code == status and words in answer.text and 'id="choose"' in answer.text
            assert httpx.get(server[1]).status_code == 200
        finally:
            go.set()
        assert "The table has changed while the coach was thinking." in thinking.result().text


def test_who_asks_for_many_pictures_at_once_waits_for_himself(server, monkeypatch):
    """Another table is shown its own meanwhile."""
    anna, ben = asked(server), asked(server)
    begun, go = threading.Event(), threading.Event()
    drawing = []

    def draw(table, seat, since):
        if table is table_of(server, anna):
            drawing.append(since)
            begun.set()
            go.wait()
        return []

    monkeypatch.setattr("borneo_web.server.seat_routes.steps", draw)
    with ThreadPoolExecutor(9) as people:
        many = [people.submit(httpx.get, f"{server[1]}{anna.address}/steps", timeout=20) for _ in range(9)]
        try:
            assert begun.wait(20)
            assert ben.client.get(f"{ben.address}/steps").json() == [] and len(drawing) == 1
        finally:
            go.set()
        assert [one.result().json() for one in many] == [[]] * 9


def test_uploads_have_limits_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("borneo_web.server.replays.MOST", 0)
    with served(tmp_path) as (_, address):
        head = "POST /records HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 999\r\nconnection: close\r\n\r\n"
        told = raw(address, head, end=True)
        assert told.startswith(b"HTTP/1.1 503") and b"retry-after: " in told and b"maker of replays is busy" in told


def test_a_process_works_beside_this_one_and_is_started_again():
    process = BackgroundProcess()
    first = process.submit(os.getpid).result(20)
    assert first != os.getpid() and process.submit(os.nice, 0).result(20) > os.nice(0)
    with pytest.raises(BrokenExecutor):
        process.submit(os._exit, 1).result(20)
    assert process.submit(os.getpid).result(20) != first
    waits = process.submit(signal.pause)
    process.close()
    with pytest.raises(BrokenExecutor):
        waits.result(20)


KILLED = """
import os
from borneo_web.server.process import BackgroundProcess
from borneo_web.server.requests import read_body
process = BackgroundProcess()
print(process.submit(os.getpid).result(), flush=True)
process.submit(input)
os.kill(os.getpid(), 9)
"""


def test_no_process_outlives_a_server_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.wait(20) == -9 and int(server.stdout.readline()) != server.pid
        server.communicate(timeout=20)  # ends when all who could write there have ended


# ---------------------------------------------------------------- who sends slowly


@pytest.mark.parametrize(
    "sent", ["", "GET / HT", "POST /records HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{"]
)
def test_who_sends_nothing_more_is_left_and_who_listens_is_not(tmp_path, monkeypatch, sent):
    with served(tmp_path) as server:
        anna = asked(server)  # its connection is open, and between two requests
        with httpx.stream("GET", f"{server[1]}{anna.address}/events") as events:
            lines = events.iter_lines()
            assert next(lines) == "retry: 1000"
            monkeypatch.setattr(connections, "PATIENCE", 0.05)
            assert raw(server[1], sent) == b""  # closed, without an answer
            anna.send(anna.moves[0])
            assert [next(lines) for _ in range(5)].count("event: changed") == 2


def test_who_sends_a_byte_now_and_then_is_left(server, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.5)
    with socket.create_connection(("127.0.0.1", int(server[1].rpartition(":")[2]))) as slow:
        slow.settimeout(0.01)
        for letter in b"GET / HTTP/1.1\r\n" + b"x" * 2000:
            slow.sendall(bytes([letter]))
            try:
                assert slow.recv(10) == b""
                break
            except TimeoutError:
                continue
            except ConnectionResetError:
                break
        else:
            raise AssertionError("nobody closes it")


def test_a_crowd_of_slow_senders_keeps_nobody_out(server, monkeypatch):
    monkeypatch.setattr(connections, "MOST_UNFINISHED", 3)
    monkeypatch.setattr(connections, "MOMENT", 0.0)
    monkeypatch.setattr(connections, "PATIENCE", 1000.0)
    port = int(server[1].rpartition(":")[2])
    crowd = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(9)]
    for one in crowd:
        one.sendall(b"GET /")
    assert httpx.get(server[1]).status_code == 200
    with suppress(ConnectionResetError):
        assert crowd[0].recv(9) == b"", "the oldest has gone"
    for one in crowd:
        one.close()


# ---------------------------------------------------------------- no room


def full(*_, **__) -> None:
    raise FileError("/secret/place", "cannot be written: No space left on device")


def test_a_choice_that_cannot_be_saved_is_not_made_and_can_be_made_again(server, monkeypatch):
    """The table and its file agree before and after, for choices and for what is taken back."""
    anna = asked(server)
    table = table_of(server, anna)
    while "Take back" not in anna.page:
        assert anna.send(anna.moves[0]) == 303 and anna.wait() == "asked"
    number, move = anna.decision, anna.moves[0]
    before = json.dumps(table.game.lines), table.path.read_text(), table.choices
    page = anna.page
    for deed, moves in (("choose", [move]), ("undo", [])):
        with monkeypatch.context() as disk:
            disk.setattr("borneo_web.server.live_game.write_file", full)
            assert anna.send(*moves, decision=number, deed=deed) == 507
        assert f"{FULL} Your choice was not made: make room" in anna.problem and "/secret" not in anna.page
        assert 'id="choose"' in anna.page and anna.decision == number
        assert (json.dumps(table.game.lines), table.path.read_text(), table.choices) == before
        assert anna.look() == "asked" and anna.page == page, "and it can still be taken back"
    assert anna.send(move, decision=number) == 303
    assert anna.wait() in ("asked", "over") and json.loads(table.path.read_text())["record"] == table.game.lines


def test_a_game_whose_agents_cannot_be_saved_waits_and_goes_on(server, monkeypatch):
    monkeypatch.setattr("borneo_web.server.live_game.BETWEEN_SAVES", -1.0)
    anna = asked(server)
    table = table_of(server, anna)
    save, table.save = table.save, full
    with table.lock:
        table.game.choose(table.actions(0, [anna.moves[0]]))
        table.choices += 1
    anna.look()
    while not table.trouble:
        anna.look()
    anna.look()
    assert f"{FULL} It waits: make room" in anna.problem and "/secret" not in anna.page
    table.save = save
    assert anna.wait() == "asked" and not anna.problem and not table.trouble
    assert json.loads(table.path.read_text())["record"] == table.game.lines


def test_without_room_no_game_is_dealt_and_without_a_folder_none_is_removed(server, monkeypatch):
    games, address = server
    before = list(games)
    name = table_of(server, asked(server)).path.stem
    monkeypatch.setattr("borneo_web.server.live_game.write_file", full)
    answer = begin(address)
    assert answer.status_code == 507 and f"{FULL} No cards were dealt: make room" in unescape(answer.text)

    def fail(*_, **__):
        raise PermissionError(13, "Permission denied", "/secret/place")

    monkeypatch.setattr(Path, "unlink", fail)
    answer = httpx.post(f"{address}/games/{name}/remove")
    assert answer.status_code == 503 and "cannot be removed: Permission denied." in answer.text
    assert sorted(games) == sorted([*before, name]) and "/secret" not in answer.text


# ---------------------------------------------------------------- what is damaged


def test_a_crowd_of_damaged_games_hides_no_other(tmp_path, monkeypatch):
    with served(tmp_path) as server:
        link = asked(server).address
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / os.fsdecode(b"\xff.json")).write_text("{}")
    for number in range(20):
        (tmp_path / f"damaged{number}.json").write_text("{")
    os.utime(tmp_path / f"{link.split('/')[2]}.json", (1, 1))
    with served(tmp_path) as (_, address):
        for _ in range(2):
            page = httpx.get(address)
            assert page.status_code == 200 and link in page.text and "and 19 more that cannot be read" in page.text
            assert len(re.findall("The game cannot be read", page.text)) == 3
            monkeypatch.setattr("borneo_web.server.live_games.read_table", None)  # what is damaged is not read again
        assert httpx.get(f"{address}/game/damaged1/key").status_code == 422


def test_whatever_reading_and_showing_a_game_raises_is_told(tmp_path, monkeypatch):
    def fail(*_):
        raise IndexError("/secret/place")

    for what in ("live_games.read_table", "live_game.LiveGame.scene"):
        with served(tmp_path) as server:
            asked(server)
        with served(tmp_path) as (_, address), monkeypatch.context() as broken:
            broken.setattr(f"borneo_web.server.{what}", fail)
            page = httpx.get(address)
            assert page.status_code == 200 and "IndexError" in page.text and "/secret" not in page.text


def test_a_fault_of_ours_is_told_without_what_others_must_not_know(tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise RuntimeError("/secret/place")

    monkeypatch.setattr("borneo_web.server.start.start_page", fail)
    with served(tmp_path) as (_, address):
        answer = httpx.get(address)
    assert answer.status_code == 500 and "fault is not yours" in answer.text and "/secret" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "RuntimeError: /secret/place" in capsys.readouterr().err


def test_an_empty_host_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"--host is empty: give .* 127\.0\.0\.1"):
        serve(port=0, host="", folder=tmp_path, arena=None, training=None, open_browser=False, as_json=False)
    assert not list(tmp_path.iterdir())
