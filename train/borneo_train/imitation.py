"""Imitation: a network learns what an agent plays, by watching it.

The agent is asked at every decision of all seats. In some games it plays them all; in the others a guest has one seat,
so that the agent is seen among strangers as well. The guest is the network itself as far as it has learnt, or another
agent. Or the agent has one seat of every game, among bots, and is asked there only. What was seen last is remembered,
and learnt from some times over: all decisions, or those of some phases, for a network that is only asked there.

Several agents have their shares of the games. The network is not told whose a game is, but may see it by the table.

Of an agent that tells probabilities, those are learnt. So a policy learns from its own search: expert iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.model import Model, ModelCard, read_model
from borneo_agents.scripted.agents import COMPILED
from borneo_agents.scripted.dispatch import Bots
from borneo_agents.statistics.intervals import Estimate, mean_estimates
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from borneo_env.agent import Agent, Views, find_agent
from borneo_env.engine.observe import layout
from borneo_env.engine.state import PHASES, SEATS, slots_of
from borneo_env.files import in_short
from borneo_env.ruleset import Ruleset
from borneo_train.actor_critic import actor_of, judged_actions, masked
from borneo_train.adam import LONGEST_STEP, adam, falling
from borneo_train.games import WHOLE_GAME, Games, even_sizes
from borneo_train.network import Dense, Tied, apply, dense, layers_of_model, prepared
from borneo_train.on_card import RecordedStep, padded
from borneo_train.opponents import drawn_by, spread
from borneo_train.settings import UNSEEN, numbers, shape
from borneo_train.telling import short

GUESTS = 0.75  # share of the games with a guest in one seat
MEMORY = 48  # rollouts that are remembered
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Lesson:
    """What is imitated, and how it is learnt."""

    agent: str  # or several, with commas between them
    guest: str = ""
    among: str = ""
    phases: str = ""
    players: str = "3,4,5"
    edition: str = "board"
    network: str = "tied"
    actor: str = "256x2"
    n_envs: int = 1536
    n_steps: int = 16
    n_epochs: int = 2
    batch_size: int = 1024
    learning_rate: float = 1e-3
    start: str = ""
    device: str = "cpu"
    seed: int = 0


class Memory:
    """The decisions that were seen last, on the device that learns."""

    def __init__(self, rows: int, games: Games, device: torch.device, soft: bool = False) -> None:
        """With `soft`, probabilities of all actions are remembered beside what was played."""
        self.table = torch.zeros(rows, padded(games.known), dtype=torch.int8, device=device)
        self.mask = torch.zeros(rows, games.actions, dtype=torch.bool, device=device)
        self.action = torch.zeros(rows, dtype=torch.int64, device=device)
        self.odds = torch.zeros(rows if soft else 0, games.actions, dtype=torch.float16, device=device)
        self.seen = 0

    def __len__(self) -> int:
        return min(self.seen, len(self.action))

    def add(self, games: Games, chosen: Tensor, action: Tensor, odds: Tensor | None = None) -> None:
        """Remember what was played in chosen games, instead of what was seen longest ago."""
        device, count = self.action.device, len(chosen)
        rows = torch.arange(self.seen, self.seen + count, device=device) % len(self.action)
        self.table[rows, : games.known] = games.table[chosen, : games.known].to(device)
        self.mask[rows], self.action[rows] = games.mask[chosen].to(device), action[chosen].to(device)
        if odds is not None:
            self.odds[rows] = odds[chosen].to(device, torch.float16)
        self.seen += count

    def at(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Tables, masks, and what is wanted there: moves, or the odds of all actions."""
        return self.table[rows], self.mask[rows], (self.odds if len(self.odds) else self.action)[rows]


class Imitator:
    """A network that learns to play as an agent does."""

    measure = "agreement"

    def __init__(self, lesson: Lesson) -> None:
        if lesson.guest and lesson.among:
            raise ValueError("--guest and --among both say who has other seats: give one of them")
        self.lesson = lesson
        self._columns = columns_of_phases(lesson)
        self._latest = 0  # decisions that were watched last
        self.device = torch.device(lesson.device)
        self.agents = [find_agent(name) for name in lesson.agent.split(",")]
        self.guest = find_agent(lesson.guest) if lesson.guest else None
        self._guest_layers = self._layers_of_guest()
        self.soft = any(map(tells_odds, self.agents))
        torch.manual_seed(lesson.seed)
        self.generator = torch.Generator().manual_seed(lesson.seed)
        self.games = self._games(lesson.seed)
        self.memory = Memory(MEMORY * lesson.n_steps * len(self.games), self.games, self.device, self.soft)
        known = self.games.known
        self.actor = actor_of(lesson.network, lesson.edition, known, *shape(lesson.actor, "--actor")).to(self.device)
        self.start = read_model(lesson.start) if lesson.start else None
        if self.start:
            begin_with(self.actor, self.start, lesson)
        self.rate = torch.tensor(lesson.learning_rate, device=self.device)
        self.optimizer = adam(self.actor, self.rate)
        self.order = torch.Generator(self.device).manual_seed(lesson.seed)
        self.lost = torch.zeros((), device=self.device)  # the sum of the losses since one last looked
        self._step = RecordedStep(self._step_now) if self.device.type == "cuda" else self._step_now

    def _games(self, seed: int) -> Games:
        sizes = even_sizes(self.lesson.n_envs, numbers(self.lesson.players, "--players"))
        bots: dict[str, Any] = {"bots": sizes, "bot": find_agent(self.lesson.among)} if self.lesson.among else {}
        games = Games({} if bots else sizes, edition=self.lesson.edition, seed=seed, **bots)
        games.spread_out(self.generator)
        return games

    @property
    def seen(self) -> int:
        """Decisions so far."""
        return self.memory.seen

    def study(self, progress: float) -> str:
        """Watch for some decisions and learn from what is remembered; returns what is told of it."""
        alike = self.watch()
        return f"{short(self.seen)} decisions, {alike:.1%} alike, loss {self.learn(progress):.2f}"

    # ------------------------------------------------------------ watching

    def watch(self) -> float:
        """Play every game on for some decisions and remember them; returns how many the network would play alike."""
        alike, before = 0, self.seen
        for moves, odds, own in self._watched(self.games):
            chosen = self._chosen(self.games)
            self.memory.add(self.games, chosen, moves, odds)
            alike += int((own == moves)[chosen].sum())
        self._latest = self.seen - before
        return alike / max(1, self._latest)

    def _chosen(self, games: Games) -> Tensor:
        """The games with a decision of a phase that is learnt."""
        return games.table[:, self._columns].any(1).nonzero()[:, 0]

    @torch.no_grad()
    def _watched(self, games: Games) -> Iterator[tuple[Tensor, Tensor | None, Tensor]]:
        """For some decisions in every game, what the agent plays, its odds, and what the network likes best."""
        with_guest = torch.zeros(len(games), dtype=torch.bool)
        if not self.lesson.among:
            with_guest[spread(len(games), GUESTS)] = True
        guests = torch.where(with_guest, torch.arange(len(games)) % games.players, -1)
        layers = self._layers()
        for _ in range(self.lesson.n_steps):
            moves, odds = self._asked(games)
            logits = masked(apply(layers, games.table.to(self.device)), games.mask.to(self.device))
            yield moves, odds, logits.argmax(1).cpu()
            theirs = (games.seat == guests).nonzero()[:, 0]
            moves[theirs] = self._guest_moves(games, theirs, logits)
            games.play(moves)

    def _layers_of_guest(self) -> list[Dense]:
        """Those of a policy that does not search; of any other guest none. One of other games is a ValueError."""
        if not isinstance(self.guest, Policy) or self.guest.searches:
            return []
        for count in numbers(self.lesson.players, "--players"):
            self.guest.check_ruleset(Ruleset(self.lesson.edition, count))
        return self._prepared([dense(layer, self.device) for layer in self.guest.model.layers])

    def _guest_moves(self, games: Games, theirs: Tensor, logits: Tensor) -> Tensor:
        """What guests play in some games; `logits` are the network's in all of them.

        A policy that does not search is asked on the device that learns.
        """
        if self.guest is None:
            logits = logits[theirs.to(self.device)]
        elif isinstance(self.guest, Policy) and self._guest_layers:
            table, mask = games.table[theirs].to(self.device), games.mask[theirs].to(self.device)
            logits = masked(apply(self._guest_layers, table), mask)
            if not self.guest.samples:
                return logits.argmax(1).cpu()
        else:
            chosen = torch.zeros(len(games), dtype=torch.bool).index_fill_(0, theirs, True)
            return torch.from_numpy(moves_of(self.guest, games, chosen.numpy()))
        chance = torch.rand(len(theirs), generator=self.generator)
        return drawn_by(logits.softmax(1).cpu(), chance)

    def _asked(self, games: Games) -> tuple[Tensor, Tensor | None]:
        """What the agent of each game would play, and the odds, if any agent tells them."""
        hosts = np.arange(len(games)) // SEATS % len(self.agents)  # guests go round the seats: see `_watched`
        moves, odds = np.zeros(len(games), np.int64), np.zeros((len(games), games.actions if self.soft else 0))
        for number, agent in enumerate(self.agents):
            own = hosts == number
            if tells_odds(agent):
                odds[own] = odds_of(agent, games, own)
                moves[own] = odds[own].argmax(1)
            else:
                moves[own] = moves_of(agent, games, own)
                if self.soft:
                    odds[own.nonzero()[0], moves[own]] = 1.0
        return torch.from_numpy(moves), torch.from_numpy(odds) if self.soft else None

    # ------------------------------------------------------------ learning

    def learn(self, progress: float) -> float:
        """Learn from what is remembered; returns the mean loss. The rate falls as the lesson goes on."""
        lesson, memory = self.lesson, self.memory
        self._set_rate(falling(lesson.learning_rate, progress))
        steps = max(1, lesson.n_epochs * self._latest // lesson.batch_size) if len(memory) else 0
        self.lost.zero_()
        for _ in range(steps):
            rows = torch.randint(len(memory), (lesson.batch_size,), generator=self.order, device=self.device)
            self._step(*memory.at(rows))
        return float(self.lost) / max(1, steps)

    def _set_rate(self, rate: float) -> None:
        self.rate.fill_(rate)
        if self.device.type != "cuda":
            self.optimizer.param_groups[0]["lr"] = rate

    def _step_now(self, table: Tensor, mask: Tensor, wanted: Tensor) -> None:
        """One step of the optimiser, on a minibatch."""
        loss = self._loss(table, mask, wanted)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self.actor.parameters(), LONGEST_STEP)
        self.optimizer.step()
        self.lost += loss.detach()

    def _loss(self, table: Tensor, mask: Tensor, wanted: Tensor) -> Tensor:
        """How little the network expects what is wanted: moves, or the odds of them."""
        if not self.soft:
            return -judged_actions(self._layers(), table, mask, wanted)[0].mean()
        own = torch.log_softmax(masked(apply(self._layers(), table), mask), 1)
        return -(wanted.float() * own).sum(1).mean()

    def _layers(self) -> list[Dense]:
        return self._prepared(self.actor.layers())

    def _prepared(self, layers: list[Dense]) -> list[Dense]:
        """Layers as the device wants them."""
        return prepared(layers, torch.bfloat16) if self.device.type == "cuda" else layers

    # ------------------------------------------------------------ what came of it

    def measured(self) -> Estimate:
        """How many decisions of games it has not seen the network would play like the agent, with the interval."""
        games = self._games(self.lesson.seed + UNSEEN)
        for _ in range(WHOLE_GAME // self.lesson.n_steps):  # else it would be asked about what random players do
            for _ in self._watched(games):
                pass
        alike, asked = np.zeros((2, len(games), 1))
        for moves, _, own in self._watched(games):
            chosen = self._chosen(games)
            alike[chosen, 0] += (own == moves)[chosen].numpy()
            asked[chosen, 0] += 1
        return mean_estimates(alike, asked, np.random.default_rng(self.lesson.seed), (0.0, 1.0))[0]

    @torch.no_grad()
    def model(self, command: str, software: dict[str, str]) -> Model:
        """A policy that plays as the agent does, as far as it has learnt that.

        What began as a policy, and has learnt from one, goes on to search with the other networks of the first.
        """
        lesson, expert = self.lesson, len(self.agents) == 1 and isinstance(self.agents[0], Policy)
        before = self.start if expert else None
        card = ModelCard(
            edition=lesson.edition,
            players=numbers(lesson.players, "--players"),
            task=before.card.task if before else f"imitate {lesson.agent}",
            steps=self.seen,
            seed=lesson.seed,
            command=command,
            settings=(before.card.settings if before else {}) | asdict(lesson),
            software=software,
        )
        layers = layers_of_model(self.actor.layers())
        return replace(before, card=card, layers=layers) if before else Model(card, layers)


def columns_of_phases(lesson: Lesson) -> list[int]:
    """The numbers of a table that say whether a phase is on whose decisions are learnt."""
    known = PHASES[:-1]  # nobody decides when a game is over
    names = lesson.phases.split(",") if lesson.phases else known
    if unknown := set(names) - set(known):
        raise ValueError(f"--phases are some of {','.join(known)}, not {in_short(', '.join(sorted(unknown)))}")
    [start] = [block.start for block in layout(slots_of(Ruleset(lesson.edition))) if block.name == "phase"]
    return [start + PHASES.index(name) for name in names]


def begin_with(actor: Tied, model: Model, lesson: Lesson) -> None:
    """Let an actor begin with what that of a policy has learnt."""
    try:
        if model.card.edition != lesson.edition:
            raise ValueError(f"it has learnt the {model.card.edition} edition: give --edition of it")
        actor.take(model.layers)
    except ValueError as error:
        raise ValueError(f"--start {lesson.start}: cannot begin with it: {error}") from None


def tells_odds(agent: Any) -> bool:
    return hasattr(agent, "probabilities")


def odds_of(agent: Any, games: Games, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(chosen games, actions): the probability that an agent gives to each action."""
    rows = [np.flatnonzero(chosen[part]) for part in games.slices]
    views = [Views(group.ruleset, *group.batch.view(own)) for group, own in zip(games.groups, rows, strict=True)]
    return np.concatenate([agent.probabilities(seen) for seen in views])


def moves_of(agent: Agent, games: Games, chosen: NDArray[np.bool_] | None = None) -> Ints:
    """What an agent would play in each game, or in those that are chosen; nothing is played."""
    kind = COMPILED.get(type(agent))
    found = []
    for group, part in zip(games.groups, games.slices, strict=True):
        batch, rows = group.batch, np.arange(len(group)) if chosen is None else np.flatnonzero(chosen[part])
        if kind is None:
            found.append(agent.act(Views(group.ruleset, *batch.view(rows))))
        else:
            found.append(Bots(batch).choose(np.full((len(group), group.ruleset.players), kind, np.int8), rows))
    return np.concatenate(found)
