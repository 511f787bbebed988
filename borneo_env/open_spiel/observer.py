"""Observer: what a player knows, as OpenSpiel asks for it: as texts and as tensors, with or without a memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from borneo_env.engine.observe import explain, length
from borneo_env.engine.state import SEATS, SPECTATOR, slots_of
from borneo_env.ruleset import Ruleset


class Observer:
    """Observations are those of the environments, as float32.

    With perfect recall they are information states: the seat (one-hot), the observation, and the codes of all events
    that the player has seen, each as one number, 0 behind the last. Without private information they are a spectator's.
    """

    def __init__(self, ruleset: Ruleset, kind: Any, parameters: dict[str, Any] | None, most_seen: int) -> None:
        if parameters:
            raise ValueError(f"observations of Borneo take no parameters, not {parameters}")
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise ValueError("observations of Borneo have what everybody sees, and one player's secrets or none")
        self._sees_a_hand = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._remembers = kind.perfect_recall
        sizes = {"observation": length(slots_of(ruleset))}
        if self._remembers:
            sizes = {"seat": SEATS, **sizes, "events": most_seen}
        self.tensor = np.zeros(sum(sizes.values()), np.float32)
        parts = np.split(self.tensor, np.cumsum(list(sizes.values()))[:-1])
        self.dict = dict(zip(sizes, parts, strict=True))

    def set_from(self, state: Any, player: int) -> None:
        """Write what a player knows into the tensor."""
        seat = player if self._sees_a_hand else SPECTATOR
        state.table.observe(seat, self.dict["observation"])
        if self._remembers:
            codes = [1 + event.code for event in state.table.seen(seat)]
            self.dict["events"][:] = 0
            self.dict["events"][: len(codes)] = codes
            self.dict["seat"][:] = np.arange(SEATS) == seat

    def string_from(self, state: Any, player: int) -> str:
        """What a player knows, as a text."""
        seat, table = player if self._sees_a_hand else SPECTATOR, state.table
        name = f"seat {seat}" if seat >= 0 else "spectator"
        if self._remembers:
            begun = [table.begun_with(seat).hex()] if table.begun_at is not None else []
            return "; ".join([name, *begun, *(event.text for event in table.seen(seat))])
        table.observe(seat, self.dict["observation"])
        return f"{name}\n{explain(self.dict['observation'])}"
