"""The server: a socket, the token, and what is printed before people come."""

from __future__ import annotations

import json
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from errno import EADDRNOTAVAIL
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from platformdirs import user_data_path
from starlette.types import ASGIApp

from borneo_env.console import say
from borneo_web.server.app import LOCAL_NAMES, make_app
from borneo_web.server.connections import connections
from borneo_web.server.live_games import LiveGames
from borneo_web.server.process import BackgroundProcess
from borneo_web.server.training_folder import TrainingFolder
from borneo_web.server.warm_up import warm_up
from kontor.files import FileError

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:  # whose package takes a while, and few servers need it
    from borneo_web.server.arena_folder import ArenaFolder

LOOPBACK = "127.0.0.1"
FILES_OF_OURS = 64  # open files that are no connections
THINKING = 120  # seconds for which a connection is kept while a person thinks


def serve(
    *,
    port: int,
    host: str | None,
    folder: Path | None,
    arena: Path | None,
    training: Path | None,
    open_browser: bool,
    as_json: bool,
) -> None:
    """Serve until somebody presses Ctrl-C. Addresses have keys in them, so that no request is logged."""
    if host is not None and not host.strip():
        raise ValueError(
            f"--host is empty: give a name or an address of this machine, or 0.0.0.0 for all of them; without --host "
            f"the server is at {LOOPBACK}, for this machine alone"
        )
    learnt = TrainingFolder(training) if training else None
    games = LiveGames(folder or user_data_path("borneo-env") / "web", learnt.opponents if learnt else dict)
    coach, reader = BackgroundProcess(), BackgroundProcess()
    with ExitStack() as stack:
        stack.callback(games.end)
        token = secrets.token_urlsafe(24) if host else None
        name = host or LOOPBACK
        listening = stack.enter_context(_listen(name, port))
        names, everywhere = reached_under(name, listening.getsockname()[0])
        shown = f"[{name}]" if ":" in name else name
        place = f"http://{shown}:{listening.getsockname()[1]}/"
        address = place + (f"?token={token}" if token else "")
        games.lock.tell(f"the server at {place}")
        app = make_app(
            games, coach=coach, reader=reader, token=token, names=names, everywhere=everywhere,
            arena=_arena(arena) if arena else None, training=learnt,
        )  # fmt: skip
        if as_json:
            print(json.dumps({"address": address, "folder": str(games.folder)}), flush=True)
        say(f"Borneo: {address}")
        say(f"Games are kept in {games.folder}. Ctrl-C ends the server; games go on when it is started again.")
        if everywhere:
            say(f"Other machines reach it under the addresses of this one, in place of {shown}.")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends it as Ctrl-C does
        threading.Thread(target=warm_up, daemon=True).start()
        if open_browser:
            threading.Timer(0.3, webbrowser.open, (address,)).start()
        with suppress(KeyboardInterrupt):
            Server(settings(app), games.close, coach.close, reader.close).run(sockets=[listening])


def settings(app: ASGIApp, port: int = 0) -> uvicorn.Config:
    """How uvicorn serves the application."""
    return uvicorn.Config(
        app, port=port, access_log=False, log_level="warning", server_header=False, timeout_graceful_shutdown=1,
        lifespan="off", timeout_keep_alive=THINKING, http=connections(), ws="none",
        limit_concurrency=_most_connections(),
    )  # fmt: skip


def _most_connections() -> int | None:
    """How many connections there may be: each is an open file, and some files are needed for games."""
    if sys.platform == "win32":
        return None
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if files == resource.RLIM_INFINITY else max(1, files - FILES_OF_OURS)


def reached_under(host: str, address: str) -> tuple[frozenset[str], bool]:
    """The names that requests may have for a server that listens at an address, and whether any address will do."""
    own = ip_address(address)
    return LOCAL_NAMES | {host.lower(), str(own)}, own.is_unspecified


def _arena(folder: Path) -> ArenaFolder:
    from borneo_web.server.arena_folder import ArenaFolder  # few need it, and it takes a while

    return ArenaFolder(folder)


class Server(uvicorn.Server):
    """A server that ends what its connections wait for, such as event streams, before it waits for them."""

    def __init__(self, config: uvicorn.Config, *ends: Callable[[], None]) -> None:
        super().__init__(config)
        self._ends = ends

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End it all."""
        for end in self._ends:
            end()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    """A socket at which whoever is told the address is not refused."""
    with ExitStack() as stack:
        try:
            family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            found = stack.enter_context(socket.socket(family, kind))
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(place)
            found.listen()
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            elsewhere = isinstance(error, socket.gaierror) or getattr(error, "errno", None) == EADDRNOTAVAIL
            remedy = (
                "give --host an address or a name of this machine" if elsewhere else "try --port 0, for any free one"
            )
            raise FileError(f"{host}:{port}", f"cannot be listened to: {reason}; {remedy}") from None
        stack.pop_all()
        return found
