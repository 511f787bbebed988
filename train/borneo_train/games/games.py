"""The games of a learner, every seat of them, on the CPU or on a CUDA card.

Games of several player counts lie one after the other, padded to five seats, so that one network plays them all. Games
with opponents come last. They are on the CPU where the opponents are agents, which play there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from borneo_agents.policy.model import MARGIN, MOST_MARGIN
from torch import Tensor

from borneo_env.engine.actions import action_table
from borneo_env.engine.batch import Batch
from borneo_env.engine.observe import state_length
from borneo_env.engine.state import SEATS, slots_of
from borneo_env.gpu import GpuSeats
from borneo_env.ruleset import Ruleset
from borneo_env.vector import ALL_SEATS, Seats
from borneo_train.networks.mlp import aligned

ARRAYS = ("observation", "mask", "seat", "reward", "done", "final_scores", "final_places")  # of Seats and GpuSeats
WHOLE_GAME = 160  # decisions of a game, about; see `LearnerGames.stagger`
WIN = "win"  # the task whose reward is made here
GAMES, SAVED = "games.", "games.npz"  # how names of saved games begin; the file of a group


class LearnerGames:
    """Many games at once. All arrays have a row for each game; `play` fills them anew.

    Attributes:
        state: (games, numbers), int8: the whole state, counted from the deciding seat; it begins with what that seat
            may know, its observation. Behind it are a flag for each seat, for opponents, and some zeros.
        mask: (games, actions): the legal actions.
        seat: (games,): who decides.
        reward: (games, 5): what the last decision brought each seat.
        done: (games,): whether it ended a game; the result is in `points` and `places`.
        players: (games,): how many play; later seats are empty.
        has_seat: (games, 5): whether a seat is not empty.
        with_opponents: which games have opponents; they come last.
    """

    def __init__(
        self,
        sizes: dict[int, int],
        opponent_sizes: dict[int, int] | None = None,
        *,
        opponents_on_cpu: bool = False,
        edition: str = "board",
        task: str = WIN,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        """Sizes are how many games there are of each player count: of self-play, and with opponents."""
        slots = slots_of(Ruleset(edition))
        self.task, self.device, self.actions = task, torch.device(device), len(action_table(slots))
        self.groups: list[Any] = []
        self.slices: list[slice] = []
        n, kind = 0, Seats if device == "cpu" else GpuSeats
        with_opponents = [(*one, Seats if opponents_on_cpu else kind) for one in (opponent_sizes or {}).items()]
        for players, size, made in [*((*one, kind) for one in sizes.items()), *with_opponents]:
            if size:
                ruleset = Ruleset(edition=edition, players=players)
                about: dict[str, Any] = {"seat": ALL_SEATS, "reward": task, "seed": seed, "whole_table": True}
                self.groups.append(made(size, ruleset, first=n, **about))
                self.slices.append(slice(n, n + size))
                n += size
        self.on_card = all(isinstance(group, GpuSeats) for group in self.groups)
        self.with_opponents = slice(sum(sizes.values()), n)
        self.width = state_length(slots)
        self.state = self._zeros(torch.int8, n, aligned(self.width + SEATS))
        self.mask = self._zeros(torch.bool, n, self.actions)
        self.seat = self._zeros(torch.int64, n)
        self.reward = self._zeros(torch.float32, n, SEATS)
        self.done = self._zeros(torch.bool, n)
        self.points = self._zeros(torch.float32, n, SEATS)
        self.places = self._zeros(torch.int8, n, SEATS)
        counts = [torch.full((len(group),), group.ruleset.players) for group in self.groups]
        self.players = torch.cat(counts).to(self.device)
        self.has_seat = torch.arange(SEATS, device=self.device) < self.players[:, None]
        self._views: dict[int, dict[str, Tensor]] = {}
        self._look_at_all()

    def __len__(self) -> int:
        return len(self.seat)

    def play(self, actions: Tensor, margin_coef: Tensor | float = 0.0) -> None:
        """Play one legal decision in every game."""
        for number, (group, rows) in enumerate(zip(self.groups, self.slices, strict=True)):
            if isinstance(group, GpuSeats):
                group.step(actions[rows], check=False)
            else:
                group.step(actions[rows].cpu().numpy())
            players, arrays = group.ruleset.players, self._arrays(number)
            self.reward[rows, :players] = arrays["reward"]
            self.done[rows] = arrays["done"]
            self.points[rows, :players] = arrays["final_scores"].float()
            self.places[rows, :players] = arrays["final_places"]
            self._look(number)
        if self.task == WIN:
            self.reward[:] = self._win_reward(margin_coef)

    def _win_reward(self, margin_coef: Tensor | float) -> Tensor:
        """(games, 5): for the decision that ended a game the win less par, and a bonus for the score margin."""
        first = (self.places == 1) & self.has_seat
        win = first / first.sum(1, keepdim=True).clamp(1) - 1 / self.players[:, None]
        others = (self.points.sum(1, keepdim=True) - self.points) / (self.players[:, None] - 1)
        margin = ((self.points - others) / MARGIN).clamp(-MOST_MARGIN, MOST_MARGIN)
        return (win + margin_coef * margin) * (self.has_seat & self.done[:, None])

    def stagger(self, generator: torch.Generator) -> None:
        """Play random decisions, many in some games, few in others: else all games would end together."""
        starts = torch.randint(WHOLE_GAME, (len(self),), generator=generator, device=self.device)
        for played in range(WHOLE_GAME):
            for group, rows in zip(self.groups, self.slices, strict=True):
                where = (starts == played)[rows]
                group.reset(where=where if isinstance(group, GpuSeats) else where.cpu().numpy())
            self._look_at_all()
            self.play(self.random_actions(generator))

    def random_actions(self, generator: torch.Generator) -> Tensor:
        """(games,): any legal action for each."""
        drawn = torch.rand(self.mask.shape, generator=generator, device=self.device)
        return (drawn * self.mask).argmax(1)

    def tensors(self) -> dict[str, Tensor]:
        """The games as they stand: the file of each group, as bytes."""
        found = {}
        with TemporaryDirectory() as folder:
            for number, group in enumerate(self.groups):
                group.batch.save(file := Path(folder) / SAVED)
                found[f"{GAMES}{number}"] = torch.from_numpy(np.fromfile(file, np.uint8))
        return found

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on with saved games; others than there should be are a ValueError."""
        if len(tensors) != len(self.groups):
            raise ValueError(f"it has {len(tensors)} files of games, not {len(self.groups)}")
        with TemporaryDirectory() as folder:
            for number, group in enumerate(self.groups):
                file = Path(folder) / SAVED
                file.write_bytes(tensors[f"{GAMES}{number}"].numpy().tobytes())
                group.go_on(Batch.load(file))
        self._look_at_all()

    def _look_at_all(self) -> None:
        for number in range(len(self.groups)):
            self._look(number)

    def _look(self, number: int) -> None:
        arrays, rows = self._arrays(number), self.slices[number]
        self.state[rows, : self.width] = arrays["observation"]
        self.mask[rows] = arrays["mask"]
        self.seat[rows] = arrays["seat"]

    def _arrays(self, number: int) -> dict[str, Tensor]:
        """The arrays of a group as tensors; those of a card are the same memory at every step."""
        group = self.groups[number]
        if not isinstance(group, GpuSeats):
            return {name: _tensor(getattr(group, name)).to(self.device) for name in ARRAYS}
        if number not in self._views:
            self._views[number] = {name: torch.as_tensor(getattr(group, name), device=self.device) for name in ARRAYS}
        return self._views[number]

    def _zeros(self, kind: torch.dtype, *shape: int) -> Tensor:
        return torch.zeros(*shape, dtype=kind, device=self.device)


def _tensor(array: Any) -> Tensor:
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def even_sizes(n: int, counts: Sequence[int]) -> dict[int, int]:
    """So many games, spread evenly over player counts."""
    share, left = divmod(n, len(counts))
    return {count: share + (place < left) for place, count in enumerate(counts)}


def from_decider(values: Tensor, seat: Tensor, players: Tensor) -> Tensor:
    """(..., 5): values by seat, in the order that begins with the deciding seat; empty seats last."""
    return _turned(values, seat, 1, players)


def by_seat(values: Tensor, seat: Tensor, players: Tensor) -> Tensor:
    """(..., 5): values counted from the deciding seat, in the order of the seats: the reverse of `from_decider`."""
    return _turned(values, seat, -1, players)


def _turned(values: Tensor, seat: Tensor, direction: int, players: Tensor) -> Tensor:
    order, players = torch.arange(SEATS, device=seat.device), players.expand_as(seat)[..., None]
    turned = (order + direction * seat[..., None]) % players
    return values.gather(-1, torch.where(order < players, turned, order))
