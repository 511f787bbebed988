"""R2 A turn: contract, traders, cargo, drawing; then the player to the left."""

from __future__ import annotations

from borneo_env.engine.state import CONTRACT
from kontor.compile import rule


@rule
def begin_turn(g, player):
    g.turn = player
    g.turns += 1
    g.player = player
    g.phase = CONTRACT


@rule
def end_turn(box, g):
    begin_turn(g, (g.turn + 1) % box.players)
