"""The legal moves of a decision as people choose among them: in words, and by what is clicked on the table."""

from __future__ import annotations

from typing import NamedTuple

from borneo_agents.human.decision import CardsDecision
from borneo_agents.human.options import options

from borneo_env.cards import COMPANIES
from borneo_env.engine.actions import Move
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import COMMIT, DEFEND
from borneo_env.pieces import Pieces, paragraph
from borneo_web.server.live_game import LiveGame


class Choice(NamedTuple):
    """A legal move."""

    move: str  # its text: "ship 17 0"
    words: Pieces  # what it is: "ship 17 rrg/b pepper to Banda"
    more: Pieces  # what it leads to
    parts: tuple[str, ...]  # what is clicked for it on the table, one after the other


class Question(NamedTuple):
    """What a person is asked."""

    words: str
    told: Pieces  # what there is to know first
    several: bool  # whether any number of the choices is one answer: the cards of a contest
    choices: list[Choice]
    verb: str = ""  # what is done with several: "attack", "defend"
    none: bool = False  # whether none of them is an answer, too


def question(table: LiveGame, seat: int) -> Question:
    """What the person who decides is asked, and may answer."""
    batch, scene, asked = table.game.batch, table.scene(seat), table.question(seat)
    several = isinstance(asked, CardsDecision)
    told = paragraph(asked.told) if isinstance(asked, CardsDecision) else ()
    choices, none = [], False
    for action, move, words in options(batch):
        if several and move.declines:
            none = True  # the answer without a card
            continue
        more = () if several else paragraph(asked.leads_to([action]))
        choices.append(Choice(move.text, words, more, parts_of(batch, move)))
    verb = {COMMIT: "attack", DEFEND: "defend"}.get(scene.g.phase, "")
    return Question(scene.question, told, several, choices, verb, none)


# What is clicked for a move, one after the other.
CLICKED = {
    "place": ["company {company}"],
    "yield": ["company {company}"],
    "contract": ["contract {contract}"],
    "pay": ["stock {player} {spice} {size}"],
    "transfer": ["trader {company} {rank}", "company {to}"],
    "attack": ["trader {company} {rank}", "trader {company} {target}"],
    "ship": ["card {card}", "port {port}"],
} | {verb: ["card {card}"] for verb in ("commit", "defend", "keep", "take", "drop")}


def parts_of(batch: Batch, move: Move) -> tuple[str, ...]:
    """What on the table a move is about, in the order in which it is clicked; declining is about nothing."""
    game, parts = batch.games[0], {"player": int(batch.player[0]), **move.parts}
    if move.event == "yield slot":  # where the beaten trader stands already
        return (f"trader {COMPANIES[game['company']]} {game['attacker_rank'] + 1}",)
    if parts.get("spice") == "joker":
        return (f"shelf {parts['player']} chest",)
    of_one_spice = ["shelf {player} {spice}"] if move.verb == "contract" and "spice" in parts else []
    return tuple(what.format(**parts) for what in [*CLICKED.get(move.event, []), *of_one_spice])
