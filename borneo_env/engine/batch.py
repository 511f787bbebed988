"""Batch: many games of Borneo, stepped together on all cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_env.engine.game import BORNEO
from borneo_env.engine.rules.setup import deal
from borneo_env.engine.state import CARDS
from borneo_env.ruleset import Ruleset
from kontor.compile import attributes, entry
from kontor.engine import batch
from kontor.engine.arguments import checked_game, checked_number, checked_pile
from kontor.engine.batch import GAMES_PER_THREAD, IllegalMove, fresh_seed
from kontor.engine.batch_file import BatchFileError

__all__ = ["GAMES_PER_THREAD", "Batch", "BatchFileError", "IllegalMove", "fresh_seed"]


@entry
def deal_stacked_games(boxes, games):  # type: ignore[no-untyped-def]
    """Deal from the piles as they lie."""
    for i in range(len(games)):
        deal(boxes[0], games[i])


class Batch(batch.Batch):
    __doc__ = (batch.Batch.__doc__ or "").replace("one ruleset", "one ruleset of Borneo")
    plays = BORNEO
    ruleset: Ruleset

    def deal_stacked(self, game: int, start: int, draw: ArrayLike, ports: ArrayLike) -> None:
        """Deal one game from piles stacked by hand, top first: three cards to player 0, three to player 1, ..."""
        game, players = checked_game(game, self._size), self.ruleset.players
        start = checked_number(start, 0, players - 1, f"the start player is from 0 to {players - 1}")
        cards = checked_pile(draw, CARDS, "cargo cards")
        port_cards = checked_pile(ports, int(self._box["ports"][0]), "ports in play")
        record = self._games[game : game + 1]
        streams, number = record["rng"].copy(), record["number"].copy()
        record[:] = self._blank
        record["rng"], record["number"], record["start"] = streams, number, start
        record["draw"] = cards[::-1]
        record["port_pile"][0, : len(port_cards)] = CARDS + port_cards[::-1]
        deal_stacked_games(attributes(self._box), attributes(record))
        self._loops.refresh_games(*self._arrays[:3], *(array[game : game + 1] for array in self._arrays[3:]))

    def contracts(self) -> NDArray[np.int8]:
        """(games, players): how many contracts each player has fulfilled."""
        contracts: NDArray[Any] = self.games["fulfilled"][:, : self.ruleset.players].sum(2, dtype=np.int8)
        return contracts
