"""What of Borneo an outlook speaks of: what others do that can be a threat, and what a player has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.batch import Batch
from borneo_env.engine.state import DOUBLE, TAKE
from borneo_env.pieces import Does, Pieces, Who, filled
from borneo_env.story import facts_of

THREATENING = {  # the event of a move: a verb, and what follows it
    "attack": ("attack", "{defender} in {company}"),
    "ship": ("ship", "to {port}"),
    "contract": ("fulfil", "a contract {contract}"),
    "place": ("place", "a trader in {company}"),
    "transfer": ("transfer", "a trader to {to}"),
}


class GameEvent(NamedTuple):
    """What a move does, as far as everybody sees it."""

    pieces: Pieces  # "player 2 ships to Banda"
    has_consequence: bool  # whether it matters what comes of it


def event_of(batch: Batch, row: int, action: int) -> GameEvent | None:
    """What a move does that could be a threat; None for other moves."""
    move, player = batch.actions.move(action, batch.phase_name(row)), int(batch.player[row])
    if move.event not in THREATENING:
        return None
    verb, rest = THREATENING[move.event]
    facts = facts_of(batch.ruleset, batch.games[row], move)
    return GameEvent((Who(player), " ", Does(player, verb), " ", *filled(rest, **facts)), move.event == "ship")


def consequence_of(batch: Batch, row: int) -> Pieces:
    """What a shipment has led to."""
    return (", and its cargo is distributed" if batch.phase[row] == TAKE else ", without a distribution",)


def possessions(batch: Batch, me: int) -> dict[str, NDArray[np.float64]]:
    """What a player has in each game, in the order in which it tells most."""
    games, points = batch.games, batch.scores().astype(np.float64)
    stock = games["stock"][:, me].sum(1)
    return {
        "contracts": games["fulfilled"][:, me].sum(1).astype(np.float64),
        "points": points[:, me],
        "rivals": np.delete(points, me, 1).max(1),  # points of the best of the others
        "first": (games["ladder"][:, :, 0] == me).sum(1).astype(np.float64),  # traders on rank 1
        "spices": (stock.sum(1) + stock[:, DOUBLE]).astype(np.float64),  # that the warehouse can pay
    }
