"""warm_up: a game that nobody sees, so that the first person need not wait for machine code to be loaded."""

from __future__ import annotations

from pathlib import Path

from borneo_agents.human.game import HUMAN

from borneo_env.ruleset import Ruleset
from borneo_web.server.live_game import LiveGame, SteppedGame
from borneo_web.server.seat_view import steps
from borneo_web.server.table_page import table_page

DECISIONS = 12  # of the person, who takes the first option


def warm_up() -> None:
    """Play the beginning of a game against merchants, and make its pages. Nothing is saved."""
    game = SteppedGame(Ruleset(), [HUMAN, *["merchant"] * (Ruleset().players - 1)], 0)
    table = LiveGame.set_up(game, game.names, Path("unsaved.json"))
    for _ in range(DECISIONS):
        game.advance()
        if game.over:
            return
        table_page(table, 0)
        steps(table, 0, max(0, len(game.told) - 3))
        game.choose([game.batch.actions.action(game.batch.legal_moves()[0], game.batch.phase_name())])
