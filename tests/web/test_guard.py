"""Who may ask for what: hosts, origins, tokens, headers, paths, and what the command prints and does not print."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest
from borneo_web.commands import web
from borneo_web.server.html import Html, join, tag
from borneo_web.server.request_guard import RequestGuard
from borneo_web.server.serve import _listen, reached_under
from web_games import TINY, Person, begin, seats, served

from kontor.files import FileError

PLAY = """
import sys
from pathlib import Path
from borneo_web.commands.web import web
web(port=0, host=None, folder=Path(sys.argv[1]), as_json=True)
"""


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200), ("127.0.0.1:99", 200), ("localhost:8420", 200), ("[::1]:8420", 200), ("LOCALHOST", 200),
        ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost.evil.example:8420", 421), ("", 421),
        ("192.168.1.7:8420", 421), ("[::1", 200),
    ],
)  # fmt: skip
def test_only_names_of_this_machine_lead_here(server, host, status):
    assert httpx.get(server[1], headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("host", "listening", "known", "unknown"),
    [
        ("127.0.0.1", "127.0.0.1", ("127.0.0.1:8420", "localhost"), ("192.168.1.7", "evil.example")),
        ("192.168.1.7", "192.168.1.7", ("192.168.1.7:8420",), ("192.168.1.8", "8.8.8.8", "evil.example")),
        ("Table.example", "10.0.0.3", ("table.example:8420", "10.0.0.3"), ("10.0.0.4", "evil.example")),
        ("0.0.0.0", "0.0.0.0", ("192.168.1.7:8420", "10.0.0.3"), ("table.example",)),
        ("::", "::", ("[fd00::7]:8420", "10.0.0.3"), ("table.example",)),
    ],
)  # fmt: skip
def test_a_server_is_reached_under_the_host_it_was_started_for(host, listening, known, unknown):
    guard = RequestGuard(None, *reached_under(host, listening))
    for names, status in ((known, None), (unknown, 421)):
        for name in names:
            refusal = guard._refusal({"headers": [(b"host", name.encode())], "method": "GET"})
            assert (refusal and refusal[0]) == status, name


@pytest.mark.parametrize(
    ("port", "host", "words"),
    [(65_535, "nosuch.invalid", "give --host"), (0, "8.8.8.8", "give --host"), (None, "127.0.0.1", "try --port 0")],
)
def test_an_address_that_cannot_be_listened_to_is_told_with_the_remedy(port, host, words):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(FileError, match=f"cannot be listened to: .*; {words}"):
            _listen(host, taken.getsockname()[1] if port is None else port)


def test_nobody_is_told_where_games_are_kept(tmp_path):
    """By a game that cannot be read, which no key leads to."""
    (tmp_path / "abcdef.json").write_text('{"format": "borneo-web/1", "record": 3}')
    with served(tmp_path) as (_, address):
        assert "cannot be read: it holds no record" in httpx.get(address).text
        answer = httpx.get(f"{address}/game/abcdef/key")
        assert answer.status_code == 422 and "start page says why" in answer.text and "record" not in answer.text


def test_forms_of_other_sites_do_nothing(server):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["A", "b", "c"], 1)
    anna = Person(address, seats(games, name)[0])
    anna.wait()
    number, move, table = anna.decision, anna.moves[0], games.table(name)
    for headers in (
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": address.replace("http", "https")},
        {"origin": address + "1"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    ):  # fmt: skip
        before = list(games)
        assert anna.send(move, decision=number, **headers) == 403
        assert httpx.post(f"{address}/games", data={"players": "3"}, headers=headers).status_code == 403
        assert list(games) == before
    assert table.choices == int(number)
    assert anna.send(move, decision=number, origin=address) == 303


def test_a_token_guards_the_start_page_and_a_seat_needs_only_its_key(tmp_path):
    with served(tmp_path, token="a-long-token") as (games, address):
        assert httpx.get(address).status_code == 403
        assert httpx.get(f"{address}/?token=a-long-tokem").status_code == 403
        assert begin(address).status_code == 403 and not list(games)
        with httpx.Client(base_url=address) as host:
            entered = host.get("/?token=a-long-token")
            assert entered.status_code == 303 and entered.headers["location"] == "/"
            cookie = entered.headers["set-cookie"].lower()
            assert "httponly" in cookie and "samesite=strict" in cookie
            assert host.get("/").status_code == 200
            fields = {"players": "3", "seat1": "random", "seat2": "random"}
            link = host.post("/games", data=fields).headers["location"]
        assert httpx.get(address + link).status_code == 200


def test_every_answer_has_strict_headers(server):
    games, address = server
    name = games.begin(TINY, ["human", "random", "random"], ["A", "b", "c"], 1)
    link = seats(games, name)[0]
    for path in ("/", "/rules", link, f"{link}/steps", f"{link}/record", "/static/play.js", "/nothing", "/game/x/y"):
        answer = httpx.get(address + path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert not re.search(
            r"<script(?!( type=\"module\")? src=\"/static/)|\sstyle=|\son\w+=|javascript:", answer.text
        )
        assert "server" not in answer.headers or "uvicorn" in answer.headers["server"]


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e%2fapp.py", "/static/app.py", "/static//etc/passwd"]
)
def test_no_path_of_a_request_leads_to_a_file(server, path):
    assert httpx.get(server[1] + path).status_code == 404


def test_the_command_prints_its_address_and_logs_no_key(tmp_path):
    command = [sys.executable, "-c", PLAY, str(tmp_path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **pipes, env=os.environ | {"COLUMNS": "300"})
    try:
        assert process.stderr is not None
        address = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())[0]
        link = begin(address).headers["location"]
        for path in (link, f"{link}/nothing", link[:-1]):
            httpx.get(address + path, timeout=30)
        httpx.post(f"{address}{link}/choose", data={"decision": "0", "move": "x"}, timeout=30)
        process.send_signal(signal.SIGINT)
        told = "".join(process.communicate(timeout=20))
    finally:
        process.kill()  # or whatever went wrong would be waited for without end
        process.wait()
    assert link.split("/")[-1] not in told and link.split("/")[2] not in told
    assert json.loads(told.splitlines()[0]) == {"address": f"{address}/", "folder": str(tmp_path)}
    assert str(tmp_path) in told and "Traceback" not in told


def test_without_the_extra_the_command_says_which_to_install():
    told = web.missing(ModuleNotFoundError("No module named 'starlette'", name="starlette"))
    assert isinstance(told, ValueError) and "pip install '.[web]'" in str(told)
    other = ModuleNotFoundError("No module named 'numpy'", name="numpy")
    assert web.missing(other) is other


def test_html_escapes_whatever_is_not_html():
    assert tag("p", "<b>", 3, None, [Html("<i></i>"), "&"], title='"') == '<p title="&quot;">&lt;b&gt;3<i></i>&amp;</p>'
    assert tag("input", checked=True, hidden=False, data_part="x") == '<input checked data-part="x">'
    assert join("a", ["b", Html("<br>")]) == "ab<br>"
