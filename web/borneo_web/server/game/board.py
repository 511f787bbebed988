"""The middle of the table: the ladders of the companies, the open ports, the contracts and the piles."""

from __future__ import annotations

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, Port
from borneo_env.engine.state import AMOUNT, BOARD_SLOTS, OF_ONE_SPICE, OPEN_PORTS, slots_of
from borneo_env.render.board import contract_words
from borneo_env.render.pen import TIMES
from borneo_env.render.scene import Scene, count
from borneo_web.server.game.pieces import chip, covered, face, seal, symbol
from borneo_web.server.html import Html, tag

FEW_CRATES = 6  # cargo cards of a port that are drawn one by one


def ladders(scene: Scene) -> Html:
    """The four ladders; without a limit (R0.7) they have one slot more than the longest needs."""
    slots = min(slots_of(scene.ruleset), max(BOARD_SLOTS, 1 + max(scene.g.height)))
    ranks = (tag("li", rank) for rank in range(1, slots + 1))
    numbers = tag("div", tag("span"), tag("ol", *ranks), class_="ranks", aria_hidden="true")
    columns = (_ladder(scene, company, slots) for company in range(len(COMPANIES)))
    return tag("section", numbers, *columns, class_="ladders", id="ladders", aria_label="The ladders of the companies",
               tabindex="0" if slots > BOARD_SLOTS else None)  # fmt: skip


def _ladder(scene: Scene, company: int, slots: int) -> Html:
    name, ladder = COMPANIES[company], scene.g.ladder[company]
    chips = (
        chip(player, scene.names[player], scene.role(company, rank), f"trader {name} {rank + 1}")
        if player >= 0
        else None
        for rank, player in enumerate(ladder[:slots])
    )
    return tag("div", tag("h2", symbol(name), name), tag("ol", *(tag("li", one) for one in chips)),
               class_=f"ladder {name}", data_part=f"company {name}")  # fmt: skip


# ---------------------------------------------------------------- ports


def port(scene: Scene, place: int) -> Html:
    """A place for a port: the port and its cargo cards, or the cards that are shared out."""
    cards = [(card, scene.card(card)) for card in scene.cards_at(place)]
    card = scene.port(place)
    if card is None:
        head = tag("div", tag("h2", scene.distribution or "no port left"), class_="port-card")
        lying = [face(*one) for one in cards]
    else:
        head = _port_card(scene, place, card)
        lying = [*(covered(*one) for one in cards[:-1]), *(face(*one) for one in cards[-1:])]
    shared = " shared" if card is None and cards else ""
    cargo = tag("div", *lying, class_="cargo")
    return tag("section", head, cargo, class_=f"port{shared}", id=f"port{place}", data_part=f"port {place}")


def _port_card(scene: Scene, place: int, card: Port) -> Html:
    laid = scene.g.laid[place]
    crates = (tag("i", class_="full" if i < laid else None) for i in range(card.limit * (card.limit <= FEW_CRATES)))
    shown = zip(COMPANIES, scene.g.shown[place], strict=True)
    return tag(
        "div",
        tag("h2", symbol(card.spice, f"This port counts as {card.spice}"), card.name, class_=card.spice),
        tag("p", f"cargo {laid}/{card.limit} ", *crates, class_="limit",
            title=f"{laid} of at most {count(card.limit, 'cargo card')}: with the last of them, all are shared out"),
        tag("ul", *(_gauge(company, flags, card.monopoly) for company, flags in shown), class_="gauges"),
        class_="port-card",
    )  # fmt: skip


def _gauge(company: str, flags: int, monopoly: int) -> Html:
    """How near a company is to the monopoly: "4/6"."""
    full = f'<rect width="{min(flags, monopoly)}" height="1"/>'
    bar = Html(f'<svg viewBox="0 0 {monopoly} 1" preserveAspectRatio="none" class="{company}">{full}</svg>')
    title = f"{company} shows {count(flags, 'flag')} here; with {monopoly} it has the monopoly"
    return tag("li", symbol(company), bar, f"{flags}/{monopoly}", title=title, class_=None if flags else "none")


# ---------------------------------------------------------------- contracts and piles


def contracts(scene: Scene) -> Html:
    """The kinds of contracts, their points, and how many of each are left."""
    kinds = (_contract(scene, kind) for kind in range(len(CONTRACT_KINDS)))
    return tag("ul", *kinds, class_="contracts", id="contracts", aria_label="Contracts")


def _contract(scene: Scene, kind: int) -> Html:
    left, points = scene.g.supply[kind], scene.ruleset.tables.contracts[kind].points
    words = contract_words(kind)
    kind_of = " ".join(["chosen-kind"] * (scene.g.contract == kind) + ["spent"] * (not left)) or None
    spice = "of one spice" if OF_ONE_SPICE[kind] else "of every spice"
    title = f"{AMOUNT[kind]} {spice}: {count(points, 'point')}; {left} left"
    return tag("li", seal(points, title), tag("span", words), tag("small", f"{TIMES}{left}"), class_=kind_of,
               title=title, data_part=f"contract {CONTRACT_KINDS[kind]}")  # fmt: skip


def piles(scene: Scene) -> Html:
    """How many cards and ports are left, and where the pirate ship is."""
    found = [("draw", scene.g.draw_left), ("discards", scene.discards), ("ports", scene.g.ports_left)]
    drawn = [tag("li", tag("i", class_=f"pile {name}"), tag("strong", left), name, data_part=f"pile {name}",
                 title=f"{left} left in the pile" if name != "discards" else f"{left} discarded")
             for name, left in found]  # fmt: skip
    if scene.ruleset.blackbeard:
        holder = scene.g.pirates
        at = "at sea" if holder < 0 else chip(holder, scene.names[holder], part="pirates")
        drawn.append(tag("li", symbol("pirates"), at, title="The pirate ship", data_part="pile pirates"))
    return tag("ul", *drawn, class_="piles", id="piles", aria_label="Piles")


def ports(scene: Scene) -> list[Html]:
    """All places for ports."""
    return [port(scene, place) for place in range(OPEN_PORTS)]
