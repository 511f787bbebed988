"""Observer: what a player knows, as OpenSpiel asks for it: as texts and as tensors, with or without a memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from kontor.chance import kind_of
from kontor.fields import SPECTATOR
from kontor.layout import explain, length
from kontor.ruleset import Ruleset


class Observer:
    """Observations are those of the environments, as float32.

    With perfect recall they are information states: as a text the seat and all that it has seen; as a tensor the seat
    (one-hot), the observation and, for games that have some, the codes of all events that the player has seen, each as
    one number, 0 behind the last. Without private information they are a spectator's.
    """

    def __init__(self, ruleset: Ruleset, kind: Any, parameters: dict[str, Any] | None) -> None:
        game, self._layout = ruleset.game, ruleset.game.layout(ruleset)
        if parameters:
            raise ValueError(f"observations of {game.title} take no parameters, not {parameters}")
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise ValueError(f"observations of {game.title} have what everybody sees, and one player's secrets or none")
        self._sees_a_hand = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._remembers = kind.perfect_recall
        self._seats = np.arange(game.seats)
        sizes = {"observation": length(self._layout)}
        if self._remembers:
            sizes = {"seat": game.seats, **sizes}
            if kind_of(game).has_codes:
                bounds = game.bounds_of(ruleset)
                sizes["events"] = bounds.decisions + bounds.draws
        self.tensor = np.zeros(sum(sizes.values()), np.float32)
        parts = np.split(self.tensor, np.cumsum(list(sizes.values()))[:-1])
        self.dict = dict(zip(sizes, parts, strict=True))

    def set_from(self, state: Any, player: int) -> None:
        """Write what a player knows into the tensor."""
        seat = player if self._sees_a_hand else SPECTATOR
        state.table.observe(seat, self.dict["observation"])
        if self._remembers:
            self.dict["seat"][:] = self._seats == seat
        if "events" in self.dict:
            codes = [1 + code for code in state.table.codes(seat)]
            self.dict["events"][:] = 0
            self.dict["events"][: len(codes)] = codes

    def string_from(self, state: Any, player: int) -> str:
        """What a player knows, as a text."""
        seat = player if self._sees_a_hand else SPECTATOR
        name = f"seat {seat}" if seat >= 0 else "spectator"
        if self._remembers:
            return "; ".join([name, *state.table.told(seat)])
        state.table.observe(seat, self.dict["observation"])
        return f"{name}\n{explain(self._layout, self.dict['observation'])}"
