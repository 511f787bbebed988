"""The games a learner plays: it has every seat of most of them, on the CPU or on a CUDA card.

In others it has one seat, and bots, who play on the CPU, have the rest: each of their steps is a decision of the
learner's. Games of several player counts lie one after the other, padded to five seats, so that one network plays them
all.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch
from borneo_agents.policy.model import LEAD, MOST_LEAD
from torch import Tensor

from borneo_env.agent import Agent, find_agent
from borneo_env.engine.actions import action_table
from borneo_env.engine.batch import Batch
from borneo_env.engine.observe import length, state_length
from borneo_env.engine.state import SEATS, slots_of
from borneo_env.engine.threads import available_cores
from borneo_env.gpu import GpuSeats
from borneo_env.ruleset import Ruleset
from borneo_env.vector import ALL_SEATS, RANDOM_SEAT, Seats
from borneo_train.on_card import as_here, padded, side_by_side
from borneo_train.settings import Settings
from borneo_train.table import Table

ARRAYS = ("observation", "mask", "seat", "reward", "done", "final_scores", "final_places")  # of Seats and GpuSeats
SOME = 256  # games in which one looks how large the values of a critic are
WHOLE_GAME = 160  # decisions that a game takes, about; see `Games.spread_out`


class Games:
    """Many games at once. All arrays have a row for each game; `play` fills them anew.

    Attributes:
        table: (games, numbers), int8: the whole table, counted from the deciding seat; it begins with what that seat
            may know, its observation. Behind it is room for a number of each seat, and some zeros.
        mask: (games, actions): what may be done.
        seat: (games,): who decides.
        reward: (games, 5): what the last decision brought each seat; with bots, what it brought the learner's.
        done: (games,): whether it ended a game; what that came to is in `points` and `places`.
        players: (games,): how many play; later seats are empty.
        with_bots: (games,): whether bots have the other seats; these games come last.
    """

    def __init__(
        self,
        sizes: dict[int, int],
        *,
        edition: str = "board",
        reward: str = "win",
        seed: int = 0,
        device: str = "cpu",
        bots: dict[int, int] | None = None,
        bot: Agent | None = None,
    ) -> None:
        """`sizes` says how many games there are of each player count, and `bots` how many more with this bot."""
        slots = slots_of(Ruleset(edition))
        kinds = [(ALL_SEATS, sizes), (RANDOM_SEAT, bots or {})]
        lots = [(seat, players, size) for seat, some in kinds for players, size in some.items() if size]
        n, self.known, self.actions = sum(size for *_, size in lots), length(slots), len(action_table(slots))
        self.device = torch.device(device)
        self.groups: list[Any] = []
        self.slices: list[slice] = []
        self._kept: dict[int, dict[str, Tensor]] = {}
        cores, shared_by = available_cores(), max(1, sum(seat != ALL_SEATS for seat, *_ in lots))
        threads = min(cores, cores // shared_by + 2)  # of each group with bots: some take longer than others
        self._threads = ThreadPoolExecutor(shared_by, thread_name_prefix="bots")
        first = 0
        for seat, players, size in lots:
            kind: Any = Table if seat != ALL_SEATS else GpuSeats if self.device.type == "cuda" else Seats
            ruleset = Ruleset(edition=edition, players=players)
            others = {} if seat == ALL_SEATS else {"opponents": bot, "threads": threads}
            self.groups.append(
                kind(size, ruleset, seat=seat, reward=reward, seed=seed, first=first, whole_table=True, **others)
            )
            self.slices.append(slice(first, first + size))
            first += size
        self.width = state_length(slots)
        self.table = self._room((n, padded(self.width + SEATS)), torch.int8)
        self.mask = self._room((n, self.actions), torch.bool)
        self.seat = self._room((n,), torch.int64)
        self.reward = self._room((n, SEATS), torch.float32)
        self.done = self._room((n,), torch.bool)
        self.points = self._room((n, SEATS), torch.float32)
        self.places = self._room((n, SEATS), torch.int8)
        self.players = torch.cat([torch.full((size,), players) for _, players, size in lots]).to(self.device)
        self.with_bots = torch.cat([torch.full((size,), seat != ALL_SEATS) for seat, _, size in lots]).to(self.device)
        self._look_at_all()

    def __len__(self) -> int:
        return len(self.seat)

    def play(self, actions: Tensor) -> None:
        """Play one legal decision in every game; bots of all player counts play at once, so that no core is idle."""
        works = [partial(self._play_group, number, actions) for number in range(len(self.groups))]
        alone = sum(not isinstance(group, Table) for group in self.groups)  # without bots; they come first
        others = [self._threads.submit(as_here(self.device, work)) for work in works[alone:]]
        side_by_side(self.device, *works[:alone])
        for thread in others:
            thread.result()

    def _play_group(self, number: int, actions: Tensor) -> None:
        group, rows = self.groups[number], self.slices[number]
        players = group.ruleset.players
        if isinstance(group, GpuSeats):
            group.step(actions[rows], check=False)
        else:
            group.step(actions[rows].cpu().numpy())
        shown = self._shown(number)
        if isinstance(group, Table):
            self.reward[rows] = 0.0
            self.reward[rows].scatter_(1, self.seat[rows, None], shown["reward"][:, None])
        else:
            self.reward[rows, :players] = shown["reward"]
        self.done[rows] = shown["done"]
        self.points[rows, :players] = shown["final_scores"].float()
        self.places[rows, :players] = shown["final_places"]
        self._look(number)

    def spread_out(self, generator: torch.Generator) -> None:
        """Play some random decisions, in some games many, in others few: else all of them would end together.

        A game that is to play few is dealt anew before them.
        """
        starts = torch.randint(WHOLE_GAME, (len(self),), generator=generator, device=self.device)
        starts = torch.where(self.with_bots, WHOLE_GAME - 1 - starts // self.players, starts)
        for played in range(WHOLE_GAME):
            self._deal(starts == played)
            self.play(self.random_actions(generator))

    def _deal(self, where: Tensor) -> None:
        for group, rows in zip(self.groups, self.slices, strict=True):
            group.reset(where=where[rows] if isinstance(group, GpuSeats) else where[rows].cpu().numpy())
        self._look_at_all()

    def random_actions(self, generator: torch.Generator) -> Tensor:
        """(games,): any legal action for each."""
        drawn = torch.rand(self.mask.shape, generator=generator, device=self.device)
        return (drawn * self.mask).argmax(1)

    def save(self, folder: Path, worker: int = 0) -> None:
        """Write the games as they stand, those of a worker, a file for each group of them."""
        for name, group in zip(self.files(worker), self.groups, strict=True):
            group.batch.save(folder / name)

    def restore(self, folder: Path, worker: int = 0) -> None:
        """Go on with saved games; others than there should be are a ValueError."""
        for name, group in zip(self.files(worker), self.groups, strict=True):
            group.go_on(Batch.load(folder / name))
        self._look_at_all()

    def files(self, worker: int = 0) -> list[str]:
        """The names of the files that the groups of a worker are written to."""
        return [file_of(group.ruleset.players, isinstance(group, Table), worker) for group in self.groups]

    def _look_at_all(self) -> None:
        for number in range(len(self.groups)):
            self._look(number)

    def _look(self, number: int) -> None:
        shown, rows = self._shown(number), self.slices[number]
        self.table[rows, : self.width] = shown["observation"]
        self.mask[rows] = shown["mask"]
        self.seat[rows] = shown["seat"]

    def _shown(self, number: int) -> dict[str, Tensor]:
        """The arrays of a group as tensors, by name; those of a card are the same memory at every step."""
        group = self.groups[number]
        if not isinstance(group, GpuSeats):
            return {name: _on_cpu(getattr(group, name)).to(self.device) for name in ARRAYS}
        if number not in self._kept:
            self._kept[number] = {name: torch.as_tensor(getattr(group, name), device=self.device) for name in ARRAYS}
        return self._kept[number]

    def _room(self, shape: Sequence[int], kind: torch.dtype) -> Tensor:
        return torch.zeros(*shape, dtype=kind, device=self.device)


def _on_cpu(array: Any) -> Tensor:
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def file_of(players: int, with_bots: bool = False, worker: int = 0) -> str:
    parts = ["games", str(players), *["bots"] * with_bots, *[f"worker-{worker}"] * (worker > 0)]
    return "-".join(parts) + ".npz"


def games_of(settings: Settings, n: int, seed: int) -> Games:
    """The games of a learner: so many, with bots in their share of them."""
    with_bots = round(n * settings.bots)
    bots = even_sizes(with_bots, settings.counts())
    return Games(
        even_sizes(n - with_bots, settings.counts()), edition=settings.edition, reward=settings.task, seed=seed,
        device=settings.device, bots=bots, bot=find_agent(settings.bot) if with_bots else None,
    )  # fmt: skip


def some_games(settings: Settings) -> Games:
    """Some games of self-play, the same for all workers."""
    games = Games(
        even_sizes(SOME, settings.counts()), edition=settings.edition, seed=settings.seed, device=settings.device
    )
    games.spread_out(torch.Generator(settings.device).manual_seed(settings.seed))
    return games


def wins(games: Games, lead: Tensor) -> Tensor:
    """(games, 5): what the decision that ended a game brought each seat: the win less par, and `lead` for a lead."""
    there = torch.arange(SEATS, device=games.device) < games.players[:, None]
    first = (games.places == 1) & there
    share = first / first.sum(1, keepdim=True).clamp(1) - 1 / games.players[:, None]
    others = (games.points.sum(1, keepdim=True) - games.points) / (games.players[:, None] - 1)
    ahead = ((games.points - others) / LEAD).clamp(-MOST_LEAD, MOST_LEAD)
    return (share + lead * ahead) * (there & games.done[:, None])


def even_sizes(n: int, counts: Sequence[int]) -> dict[int, int]:
    """So many games, spread evenly over player counts."""
    share, left = divmod(n, len(counts))
    return {count: share + (place < left) for place, count in enumerate(counts)}


def seats_in_order(seat: Tensor, players: Tensor) -> Tensor:
    """(..., 5): the seats counted from the given ones, as the table shows them; empty ones last."""
    places = torch.arange(SEATS, device=seat.device)
    turned = (seat[..., None] + places) % players[..., None]
    return torch.where(places < players[..., None], turned, places)


def seats_on_table(seat: Tensor, players: Tensor) -> Tensor:
    """(..., 5): where each seat is found when they are counted from the given ones: the reverse of `seats_in_order`."""
    places = torch.arange(SEATS, device=seat.device)
    turned = (places - seat[..., None]) % players[..., None]
    return torch.where(places < players[..., None], turned, places)
