"""Appraisal: the critic of a policy learns what tables are worth when the turns of others begin.

A search asks it whenever a turn has begun. A training with bots asks it only where the learner decides, and at others'
turns it is far off then. So the policy plays whole games among bots. Where its own turn begins, its critic stays as it
was. Where another's does, it learns what it thinks at the policy's next turn, or what the game has come to before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from borneo_agents.policy.fears import outcomes, shown_to_critic
from borneo_agents.policy.inference import compiled_network, outputs_of
from borneo_agents.policy.model import Model, critic_length, read_model
from borneo_agents.policy.network import Layers, drawn_actions
from borneo_agents.statistics.intervals import Estimate, mean_estimates
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from borneo_env.agent import Views, find_agent
from borneo_env.console import err
from borneo_env.engine.batch import Batch
from borneo_env.engine.threads import available_cores
from borneo_env.ruleset import Ruleset
from borneo_train.actor_critic import critic_of
from borneo_train.adam import EPSILON, LONGEST_STEP, falling
from borneo_train.games import even_sizes
from borneo_train.network import apply, layers_of_model
from borneo_train.settings import UNSEEN
from borneo_train.telling import in_percent, short

MEMORY = 16  # rounds of games that are remembered
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Appraisal:
    """What is learnt, and how."""

    policy: str
    others: str = ""
    shippers: str = ""
    among: str = "merchant"
    network: str = "tied"
    n_envs: int = 512
    n_epochs: int = 2
    batch_size: int = 2048
    learning_rate: float = 4e-4
    device: str = "cpu"
    seed: int = 0


class Tables(NamedTuple):
    """Tables where turns have begun, one after the other."""

    shown: NDArray[np.int8]  # (tables, numbers): what a critic looks at
    place: Ints  # (tables,): where the policy sits, counted from the one whose turn it is
    worth: NDArray[np.float32]  # (tables,): to the policy
    game: Ints  # (tables,)

    def some(self, rows: Ints) -> Tables:
        return Tables(self.shown[rows], self.place[rows], self.worth[rows], self.game[rows])


def joined(lots: Sequence[Tables]) -> Tables:
    return Tables(*map(np.concatenate, zip(*lots, strict=True)))


class Appraiser:
    """A critic that learns the worth of others' turns."""

    measure = "error of a value"

    def __init__(self, lesson: Appraisal) -> None:
        self.lesson = lesson
        self.policy = with_others(read_model(lesson.policy), lesson)
        self.bot = find_agent(lesson.among)
        assert self.policy.critic is not None
        self._actor, self._before = compiled_network(self.policy.own), compiled_network(self.policy.critic)
        torch.manual_seed(lesson.seed)
        self.device = torch.device(lesson.device)
        width, depth = len(self.policy.critic[0].weights), len(self.policy.critic) - 1
        self.critic = critic_of(lesson.network, self.policy.card.edition, width, depth).to(self.device)
        with torch.no_grad():
            self.critic.take(self.policy.critic)
        self.optimizer = torch.optim.Adam(self.critic.parameters(), lr=lesson.learning_rate, eps=EPSILON)
        self.generator = np.random.default_rng(lesson.seed)
        self.memory: deque[Tables] = deque(maxlen=MEMORY)
        self.rounds = self.seen = 0

    def study(self, progress: float) -> str:
        """Play a round of games and learn from what is remembered; returns what is told of it."""
        tables = self.play(self.lesson.seed, self.rounds * self.lesson.n_envs)
        off = float(np.abs(self.values(tables) - tables.worth).mean())  # of games it has not learnt from
        self.memory.append(tables)
        self.rounds += 1
        self.seen += len(tables.worth)
        self.learn(progress)
        return f"{short(self.seen)} tables, off by {off:.1%} of a win"

    # ------------------------------------------------------------ playing

    def play(self, seed: int, first: int) -> Tables:
        """A round of games of all player counts, from their beginnings to their ends."""
        card = self.policy.card
        sizes = even_sizes(self.lesson.n_envs, card.players)
        rounds = [
            self._play(Batch(size, Ruleset(card.edition, players), seed=seed, first=first, finished="hold"))
            for players, size in sizes.items()
            if size
        ]
        games = np.cumsum([0, *sizes.values()])
        rounds = [found._replace(game=found.game + start) for found, start in zip(rounds, games[:-1], strict=True)]
        return joined(rounds)

    def _play(self, batch: Batch) -> Tables:
        me = np.arange(len(batch)) % batch.ruleset.players
        turn = np.full(len(batch), -1)
        found = []
        while len(rows := np.flatnonzero(batch.player >= 0)):
            now = batch.games["turn"][rows]
            begun, turn[rows] = rows[now != turn[rows]], now
            if len(begun):
                found.append(self._look(batch, begun, me))
            batch.step(self._moves(batch, rows, me), rows)
        ends = outcomes(batch, self.policy.per_lead)[np.arange(len(batch)), me]
        return joined(worth_of_others(found, ends))

    def _moves(self, batch: Batch, rows: Ints, me: Ints) -> NDArray[np.int64]:
        """What is played in some games: by the policy's actor, drawn, and by bots."""
        moves, own = np.empty(len(rows), np.int64), batch.player[rows] == me[rows]
        if own.any():
            shown, mask, dice = batch.look(rows[own])
            moves[own] = drawn_actions(outputs_of(self._actor, shown, available_cores()), mask, dice)
        if not own.all():
            moves[~own] = self.bot.act(Views(batch.ruleset, *batch.view(rows[~own])))
        return moves

    def _look(self, batch: Batch, rows: Ints, me: Ints) -> Tables:
        """The tables of some games; their worth is what the critic thought of them before it learnt."""
        tables, places = shown_to_critic(self.policy, batch, me)
        shown, place = tables[rows], places[rows]
        worth = outputs_of(self._before, shown, available_cores())[np.arange(len(rows)), place]
        return Tables(shown, place, worth, rows)

    # ------------------------------------------------------------ learning

    def learn(self, progress: float) -> None:
        """Learn from what is remembered. The rate falls as the lesson goes on."""
        lesson = self.lesson
        self.optimizer.param_groups[0]["lr"] = falling(lesson.learning_rate, progress)
        for _ in range(max(1, lesson.n_epochs * len(self.memory[-1].worth) // lesson.batch_size)):
            tables = self.memory[self.generator.integers(len(self.memory))]
            rows = self.generator.integers(len(tables.worth), size=lesson.batch_size)
            loss = self._loss(tables.some(rows))
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            clip_grad_norm_(self.critic.parameters(), LONGEST_STEP)
            self.optimizer.step()

    def _loss(self, tables: Tables) -> Tensor:
        values = apply(self.critic.layers(), torch.from_numpy(tables.shown).to(self.device).float())
        own = values.gather(1, torch.from_numpy(tables.place).to(self.device)[:, None])[:, 0]
        return (own - torch.from_numpy(tables.worth).to(self.device)).square().mean()

    # ------------------------------------------------------------ what came of it

    def values(self, tables: Tables) -> NDArray[np.float32]:
        """What the critic thinks of tables by now."""
        found = outputs_of(compiled_network(self._layers()), tables.shown, available_cores())
        values: NDArray[np.float32] = found[np.arange(len(found)), tables.place]
        return values

    def measured(self) -> Estimate:
        """How far values of unseen games at others' turns are off, in wins, with the interval."""
        tables = self.play(self.lesson.seed + UNSEEN, 0)
        tables = tables.some(np.flatnonzero(tables.place > 0))
        before = outputs_of(self._before, tables.shown, available_cores())[np.arange(len(tables.place)), tables.place]
        err.print(f"before the lesson it was off by {in_percent(self._error(tables, before))} of a win")
        return self._error(tables, self.values(tables))

    def _error(self, tables: Tables, values: NDArray[np.float32]) -> Estimate:
        """How far values are off in the mean, with the interval."""
        off = np.abs(values - tables.worth)
        sums, counts = (np.bincount(tables.game, each)[:, None].astype(float) for each in (off, np.ones(len(off))))
        return mean_estimates(sums, counts, np.random.default_rng(self.lesson.seed), None)[0]

    def model(self, command: str, software: dict[str, str]) -> Model:
        """The policy with what its critic has learnt; all else is as it was."""
        before = self.policy.card
        card = replace(
            before,
            command=f"{command}, of the policy that comes of: {before.command}",
            settings=before.settings | {"appraisal": asdict(self.lesson)},
            strength=[],
            software=software,
        )
        return replace(self.policy, card=card, critic=self._layers())

    @torch.no_grad()
    def _layers(self) -> Layers:
        return layers_of_model(self.critic.layers())


def worth_of_others(found: list[Tables], ends: NDArray[np.float64]) -> list[Tables]:
    """Tables with what they are worth at others' turns: as much as at the policy's next one, or at the end."""
    later, known = ends.astype(np.float32), []
    for tables in reversed(found):
        worth = np.where(tables.place == 0, tables.worth, later[tables.game])
        later[tables.game] = worth
        known.append(tables._replace(worth=worth))
    return known[::-1]


def copy_for(model: Model, lesson: Appraisal, folder: str) -> Layers:
    """The actor of a policy that plays as the others do."""
    other = read_model(folder)
    if other.card.edition != model.card.edition:
        raise ValueError(f"{folder} plays the {other.card.edition} edition, and {lesson.policy} another")
    return other.layers


def with_others(model: Model, lesson: Appraisal) -> Model:
    """The policy with a model of the others, its own or a given one; a policy that cannot learn is a ValueError."""
    if model.critic is None or model.card.task != "win":
        raise ValueError(f"{lesson.policy} has no critic of the task win: it does not search")
    if len(model.critic[0].weights[0]) < critic_length(model.card.edition):
        raise ValueError(f"{lesson.policy} has a critic that cannot see who is a stranger")
    if lesson.others:
        model = replace(model, others=copy_for(model, lesson, lesson.others))
    if lesson.shippers:
        model = replace(model, shippers=copy_for(model, lesson, lesson.shippers))
    if model.others is None:
        raise ValueError(
            f"{lesson.policy} takes the others for its like, whose turns its critic knows: give --others, "
            "the folder of a policy that plays as they do (see `borneo imitate`)"
        )
    return model
