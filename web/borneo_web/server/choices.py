"""The legal moves of a decision as people choose among them: in words, and by what is clicked on the table."""

from __future__ import annotations

from typing import NamedTuple

from borneo_agents.human.contest import CardsDecision, decision
from borneo_agents.human.options import options

from borneo_env.cards import COMPANIES
from borneo_env.engine.actions import PASS
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import COMMIT, DEFEND
from borneo_web.server.table import Table


class Choice(NamedTuple):
    """A legal move."""

    move: str  # its text: "ship 17 0"
    words: str  # what it is: "ship 17 rrg/b pepper to Banda"
    more: str  # what it leads to
    parts: tuple[str, ...]  # what is clicked for it on the table, one after the other


class Question(NamedTuple):
    """What a person is asked."""

    words: str
    told: list[str]  # what there is to know first
    several: bool  # whether any number of the choices is one answer: the cards of a contest
    choices: list[Choice]
    verb: str = ""  # what is done with several: "attack", "defend"
    none: bool = False  # whether none of them is an answer, too


def question(table: Table, seat: int) -> Question:
    """What the person who decides is asked, and may answer."""
    batch, scene = table.game.batch, table.scene(seat)
    asked = decision(batch, scene)
    several = isinstance(asked, CardsDecision)
    told = asked.told if isinstance(asked, CardsDecision) else []
    choices, none = [], False
    for action, words in options(batch):
        move = batch.actions.text(action, batch.phase_name())
        if several and action == PASS:
            none = True  # the answer without a card
            continue
        more = "" if several else asked.words([action]).removeprefix(words + ".").strip()
        choices.append(Choice(move, words, more, parts_of(batch, move)))
    verb = {COMMIT: "attack", DEFEND: "defend"}.get(scene.g.phase, "")
    return Question(scene.question, [" ".join(told)] if told else [], several, choices, verb, none)


def parts_of(batch: Batch, move: str) -> tuple[str, ...]:
    """What on the table a move is about, in the order in which it is clicked; declining is about nothing."""
    verb, *words = move.split()
    game, player = batch.games[0], int(batch.player[0])
    if words[-1] in ("none", "done"):
        return ()
    if verb == "ship":
        return f"card {words[0]}", f"port {words[1]}"
    if verb == "transfer":
        return f"trader {words[0]} {words[1]}", f"company {words[2]}"
    if verb == "attack":
        return f"trader {words[0]} {words[1]}", f"trader {words[0]} {words[2]}"
    if verb == "contract":
        return (f"contract {words[0]}", *(f"shelf {player} {spice}" for spice in words[1:]))
    if verb == "pay":
        return (f"shelf {player} chest",) if words == ["joker"] else (f"stock {player} {words[0]} {words[1]}",)
    if verb == "yield" and words == ["slot"]:  # where the beaten trader stands already
        return (f"trader {COMPANIES[game['company']]} {game['attacker_rank'] + 1}",)
    return (f"company {words[0]}" if verb in ("place", "yield") else f"card {words[0]}",)
