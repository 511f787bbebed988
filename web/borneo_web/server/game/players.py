"""The players round the table: each opponent on a slim strip; the own hand, warehouse and contracts."""

from __future__ import annotations

from borneo_env.engine.actions import SIZES
from borneo_env.engine.state import DOUBLE, OVER, PORT, SINGLE
from borneo_env.render.board import contract_words
from borneo_env.render.scene import Scene, count, ordinal, signed
from borneo_env.render.symbols import SPICE_SYMBOLS
from borneo_web.server.game.pieces import chip, counted, face, seal, symbol
from borneo_web.server.html import Html, tag


def opponents(scene: Scene) -> list[Html]:
    """Strips of all others, in the order in which they sit; a spectator sees one of everybody."""
    seat, players = scene.seat, list(scene.players)
    after = seat + 1 if seat in players else 0
    return [_strip(scene, player) for player in players[after:] + players[:after] if player != seat]


def _strip(scene: Scene, player: int) -> Html:
    cards = scene.g.hand_size[player] if scene.g.phase != OVER else 0
    backs = (tag("i") for _ in range(cards))
    hand = tag(
        "span", *backs, cards, class_="backs", title=f"{count(cards, 'card')} in hand", data_part=f"hand {player}"
    )
    shelves = (_shelf_in_short(scene, player, spice) for spice in range(len(SPICE_SYMBOLS)))
    return tag(
        "article",
        _name(scene, player),
        tag("div", hand if scene.g.phase != OVER else None, _seals(scene, player), class_="has"),
        tag("div", *shelves, class_="shelves"),
        class_=f"strip{_marked(scene, player)}",
        id=f"player{player}",
    )


def _name(scene: Scene, player: int) -> Html:
    pirates = symbol("pirates", "has the pirate ship") if scene.g.pirates == player else None
    turn = symbol("ship", "has the turn") if scene.step is not None and scene.g.turn == player else None
    points = signed(scene.scores[player])
    return tag("h2", chip(player, scene.names[player]), tag("span", scene.names[player], class_="who"), turn, pirates,
               tag("small", _status(scene, player)),
               tag("span", points, tag("small", " points", class_="unit"), class_="points"))  # fmt: skip


def _status(scene: Scene, player: int) -> str | None:
    if scene.g.phase == OVER:
        return ordinal(scene.places[player])
    return "decides" if scene.g.player == player else None


def _marked(scene: Scene, player: int) -> str:
    """Who decides, or has won."""
    marked = player in scene.winners if scene.g.phase == OVER else scene.g.player == player
    return " marked" if marked else ""


def _shelf_in_short(scene: Scene, player: int, spice: int) -> Html:
    """What a warehouse has of one spice: what it is worth in payments; its title says what it is made of."""
    stock, name = scene.g.stock[player][spice], SPICE_SYMBOLS[spice]
    worth = _worth(stock)
    return tag("span", symbol(name), worth, class_=None if worth else "none", data_part=f"shelf {player} {name}",
               title=f"{name}: {_made_of(stock)}")  # fmt: skip


def _worth(stock: list[int]) -> int:
    return stock[SINGLE] + 2 * stock[DOUBLE] + stock[PORT]


def _made_of(stock: list[int]) -> str:
    kinds = (("single", stock[SINGLE]), ("double", stock[DOUBLE]), ("port", stock[PORT]))
    return ", ".join(count(number, kind) for kind, number in kinds if number) or "none"


def _seals(scene: Scene, player: int) -> Html:
    """The contracts a player has fulfilled."""
    kinds = scene.ruleset.tables.contracts
    done = (
        (seal(kinds[kind].points, contract_words(kind)), counted(number))
        for kind, number in enumerate(scene.g.fulfilled[player])
        if number
    )
    return tag("span", *done, class_="seals", data_part=f"seals {player}")


# ---------------------------------------------------------------- the own side of the table


def own(scene: Scene, player: int) -> Html:
    """The own name, points, contracts and warehouse: every crate can be meant (R3.3)."""
    shelves = (_shelf(scene, player, spice) for spice in range(len(SPICE_SYMBOLS)))
    return tag("section", _name(scene, player), _seals(scene, player), tag("ul", *shelves, class_="warehouse"),
               class_=f"own{_marked(scene, player)}", id=f"player{player}", aria_label="Your warehouse")  # fmt: skip


def _shelf(scene: Scene, player: int, spice: int) -> Html:
    stock, name = scene.g.stock[player][spice], SPICE_SYMBOLS[spice]
    sizes = [DOUBLE] * stock[DOUBLE] + [SINGLE] * stock[SINGLE] + [PORT] * stock[PORT]
    crates = (
        tag("i", "2" if size == DOUBLE else None, class_=f"crate {name} {SIZES[size]}",
            data_part=f"stock {player} {name} {SIZES[size]}", title=f"a {SIZES[size]} of {name}")
        for size in sizes
    )  # fmt: skip
    worth = tag("span", _worth(stock), class_="worth", title="what all of it pays") if sizes else None
    return tag("li", symbol(name, name), tag("span", *crates, class_="crates"), worth,
               data_part=f"shelf {player} {name}")  # fmt: skip


def hand(scene: Scene, player: int) -> Html:
    """The own hand; after the end there is none."""
    held = [] if scene.g.phase == OVER else scene.hands[player] or []
    cards = [face(card, scene.card(card)) for card in held] or [tag("p", "No cards in hand")]
    return tag("section", *cards, class_="hand", id="hand", aria_label="Your hand")
