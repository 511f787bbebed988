"""What is under way: a contest, a payment, a distribution, traders to be placed, or where in a turn the game is."""

from __future__ import annotations

from borneo_env.cards import COMPANIES, SPICES
from borneo_env.engine.state import LAST_CONTRACT, PAY, PLACE, TAKE
from borneo_env.render.board import contract_words
from borneo_env.render.pen import TIMES
from borneo_env.render.scene import STEPS, Scene, Side, count
from borneo_web.server.game.pieces import chip, counted, covered, seal, symbol
from borneo_web.server.html import Html, tag


def underway(scene: Scene) -> Html:
    """What is under way, for everybody to see."""
    name, drawn = ("contest", _contest) if scene.contest else KINDS.get(scene.g.phase, ("course", _course))
    return tag("section", *drawn(scene), class_=f"underway {name}", id="underway", aria_label="Under way")


def _course(scene: Scene) -> list[Html]:
    """The phases of a turn (R2), and whose turn it is."""
    if scene.step is None:
        return []
    player = scene.g.turn
    steps = (tag("li", step, class_="now" if step == scene.step else None) for step in STEPS)
    return [chip(player, scene.names[player]), tag("ol", *steps)]


def _placing(scene: Scene) -> list[Html]:
    """The traders not yet placed."""
    placed = [player for ladder in scene.g.ladder for player in ladder]
    left = {player: scene.ruleset.traders - placed.count(player) for player in scene.players}
    chips = ((chip(player, scene.names[player]), counted(n)) for player, n in left.items() if n)
    return [tag("span", "Still to be placed:"), tag("span", *chips, class_="chips")]


def _payment(scene: Scene) -> list[Html]:
    """The contract that is paid, and what is still owed for it."""
    kind = scene.g.contract
    owed = ((symbol(SPICES[i], SPICES[i]), f"{TIMES}{amount} ") for i, amount in enumerate(scene.g.owed) if amount)
    points = scene.ruleset.tables.contracts[kind].points
    return [seal(points, count(points, "point")), tag("span", contract_words(kind), ", still owed:"),
            tag("span", *owed, class_="owed")]  # fmt: skip


def _contest(scene: Scene) -> list[Html]:
    """Attack and defence, and their strengths between them (R4.6)."""
    attacker, defender = scene.sides
    attack, defence = scene.g.strength
    bonus = f" + {scene.bonus}" if scene.bonus else ""
    title = f"{count(attack, 'flag')} against {defence}" + (f", and {scene.bonus} for traders between" if bonus else "")
    strengths = tag("p", symbol(COMPANIES[scene.g.company]), f"{attack} : {defence}{bonus}", class_="strengths",
                    title=title, id="strengths")  # fmt: skip
    return [_side(scene, attacker), strengths, _side(scene, defender)]


def _side(scene: Scene, side: Side) -> Html:
    name = scene.names[side.player]
    cards = [covered(card, scene.card(card)) for card in side.cards]
    played = cards or [tag("p", count(side.played, "card") if side.played else "no cards")]
    return tag("div", tag("h2", chip(side.player, name), name), tag("p", f"{side.deed} {side.origin}".strip()),
               tag("div", *played, class_="played"), class_="fighter")  # fmt: skip


def _distribution(scene: Scene) -> list[Html]:
    """The traders who will choose cargo cards, in their order."""
    coming = (
        tag("li", chip(player, scene.names[player]), symbol(COMPANIES[company]), rank + 1)
        for company, rank, player in scene.traders_to_come
    )
    return [tag("span", "Cards are taken in this order:"), tag("ol", *coming)]


def _last_contracts(scene: Scene) -> list[Html]:
    """The players whose last contract is still to come (R8.5)."""
    chips = (chip(player, scene.names[player]) for player in scene.last_contracts_to_come)
    return [tag("span", "Last contracts to come:"), tag("span", *chips, class_="chips")]


KINDS = {
    PLACE: ("placing", _placing),
    PAY: ("payment", _payment),
    TAKE: ("distribution", _distribution),
    LAST_CONTRACT: ("contracts-to-come", _last_contracts),
}
