"""The server: a socket, the token, and what is printed before people come."""

from __future__ import annotations

import json
import secrets
import socket
import threading
import webbrowser
from contextlib import suppress
from errno import EADDRNOTAVAIL
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from platformdirs import user_data_path

from borneo_env.console import say
from borneo_env.files import FileError
from borneo_web.server.app import LOCAL_NAMES, make_app
from borneo_web.server.games import Games
from borneo_web.server.rehearsal import rehearse
from borneo_web.server.training_folder import TrainingFolder

if TYPE_CHECKING:  # whose package takes a while, and few servers need it
    from borneo_web.server.arena_folder import ArenaFolder

LOOPBACK = "127.0.0.1"
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
    learnt = TrainingFolder(training) if training else None
    games = Games(folder or user_data_path("borneo-env") / "web", learnt.opponents if learnt else dict)
    token = secrets.token_urlsafe(24) if host else None
    listening = _listen(host or LOOPBACK, port)
    name = host or LOOPBACK
    names, everywhere = reached_under(name, listening.getsockname()[0])
    shown = f"[{name}]" if ":" in name else name
    address = f"http://{shown}:{listening.getsockname()[1]}/" + (f"?token={token}" if token else "")
    app = make_app(
        games, token=token, names=names, everywhere=everywhere,
        arena=_arena(arena) if arena else None, training=learnt,
    )  # fmt: skip
    if as_json:
        print(json.dumps({"address": address, "folder": str(games.folder)}), flush=True)
    say(f"Borneo: {address}")
    say(f"Games are kept in {games.folder}. Ctrl-C ends the server; games go on when it is started again.")
    if everywhere:
        say(f"Other machines reach it under the addresses of this one, in place of {shown}.")
    threading.Thread(target=rehearse, daemon=True).start()
    if open_browser:
        threading.Timer(0.3, webbrowser.open, (address,)).start()
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", server_header=False, timeout_graceful_shutdown=1, lifespan="off",
        timeout_keep_alive=THINKING,
    )  # fmt: skip
    with suppress(KeyboardInterrupt):
        Server(config, games).run(sockets=[listening])


def reached_under(host: str, address: str) -> tuple[frozenset[str], bool]:
    """The names that requests may have for a server that listens at an address, and whether any address will do."""
    own = ip_address(address)
    return LOCAL_NAMES | {host.lower(), str(own)}, own.is_unspecified


def _arena(folder: Path) -> ArenaFolder:
    from borneo_web.server.arena_folder import ArenaFolder  # few need it, and it takes a while

    return ArenaFolder(folder)


class Server(uvicorn.Server):
    """A server that ends its event streams before it waits for its connections."""

    def __init__(self, config: uvicorn.Config, games: Games) -> None:
        super().__init__(config)
        self._games = games

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._games.close()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return _listening(socket.socket(family, kind), place)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        elsewhere = isinstance(error, socket.gaierror) or getattr(error, "errno", None) == EADDRNOTAVAIL
        remedy = "give --host an address or a name of this machine" if elsewhere else "try --port 0, for any free one"
        raise FileError(f"{host}:{port}", f"cannot be listened to: {reason}; {remedy}") from None


def _listening(found: socket.socket, place: Any) -> socket.socket:
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen()  # whoever is told the address is not refused
    except BaseException:
        found.close()
        raise
    return found
