"""The lobby of a game: the link of every seat, to be sent to who sits there, and who has come."""

from __future__ import annotations

from ipaddress import ip_address

from borneo_agents.human.game import HUMAN
from starlette.datastructures import URL

from borneo_env.engine.state import SPECTATOR
from borneo_web.server.html import Html, tag
from borneo_web.server.live_game import LiveGame
from borneo_web.server.page import sheet, sheets_page

ONLY_HERE = (
    "These links lead to this machine only. For people elsewhere, start the server with --host and open this page "
    "under the address that it prints."
)


def lobby_page(table: LiveGame, base: URL) -> Html:
    """Where the one who has dealt finds the links of all seats.

    Arguments:
        base: the address under which the server was asked, so that links lead where the one who asks has come from.
    """
    names = table.game.names
    agents = [name for name, kind in zip(names, table.game.seats, strict=True) if kind != HUMAN]
    seats = [_seat(table, seat, base) for seat in (*table.game.humans, SPECTATOR)]
    also = f" {' and '.join(agents)} {'is' if len(agents) == 1 else 'are'} played by the server." if agents else ""
    words = (
        "Send each person their own link, and nobody another's: whoever has it sees that hand. Then sit down yourself. "
        f"Nobody need wait here.{also}"
    )
    return sheets_page(
        "Waiting for the others" if not table.game.over else "Who has played",
        sheet(
            ", ".join(names),
            tag("p", words),
            tag("ul", *seats, class_="lobby", id="lobby"),
            tag("p", ONLY_HERE, class_="hint") if _is_local(base) else None,
        ),
        script="lobby.js",
    )


def _seat(table: LiveGame, seat: int, base: URL) -> Html:
    """The link of a seat, or of watching."""
    name = "Whoever watches" if seat == SPECTATOR else table.game.names[seat]
    address = table.address(seat)
    chip = None if seat == SPECTATOR else tag("span", seat, class_=f"trader player{seat}", aria_hidden="true")
    go = "Watch" if seat == SPECTATOR else f"Sit down as {name}"
    return tag(
        "li",
        tag("span", chip, tag("b", name), tag("span", _came(table, seat), class_="came", data_seat=seat), class_="who"),
        tag("input", value=f"{str(base).rstrip('/')}{address}", readonly=True, id=f"link{seat}",
            aria_label=f"Link: {name}"),
        tag("button", "Copy", type="button", hidden=True, data_copy=f"link{seat}", aria_label=f"Copy the link: {name}"),
        tag("a", go, href=address, class_="do" if seat != SPECTATOR else None),
    )  # fmt: skip


def _came(table: LiveGame, seat: int) -> str:
    """Whether somebody sits there, as far as open pages tell."""
    if seat == SPECTATOR:
        return {0: "nobody now", 1: "1 watches"}.get(table.here[seat], f"{table.here[seat]} watch")
    return "is at the table" if table.here[seat] else "was here" if seat in table.here else "has not come yet"


def _is_local(base: URL) -> bool:
    host = base.hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
