"""Behaviour cloning: a network learns what an agent plays, by watching games.

The agent is asked at every decision of all seats. In most games a roll-in policy has one seat, so that the agent is
asked about positions that others lead to (DAgger, Ross et al. 2011, arXiv:1011.0686): the network itself as far as it
has learnt, or another agent. The newest decisions are kept, and learnt from some times over.

If the agent has probabilities, they are the target (cross entropy). So a large policy is distilled into a smaller one
(Hinton et al. 2015, arXiv:1503.02531), and a policy learns from its own search (expert iteration, Anthony et al. 2017,
arXiv:1705.08439).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.model import Model, ModelCard, read_model
from borneo_agents.statistics.intervals import Estimate, mean_estimates
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from borneo_env.agent import find_agent
from borneo_train.games.games import WHOLE_GAME, LearnerGames, even_sizes
from borneo_train.games.opponents import actions_of, views_of
from borneo_train.networks.actor_critic import actor_of, adam
from borneo_train.networks.cuda_graphs import graphed
from borneo_train.networks.mlp import Dense, aligned, apply, prepared, to_model
from borneo_train.networks.sampling import categorical, masked
from borneo_train.run.config import EVAL_SEED_OFFSET, counts_of, shape_of
from borneo_train.run.learner import software
from borneo_train.run.progress import short
from borneo_train.supervised.config import BCConfig

ROLL_IN_SHARE = 0.75  # of the games, in which the roll-in policy has a seat
REPLAY_SIZE = 48  # rollouts that are kept
LR_END = 0.02  # part of the learning rate that is left at the end
MAX_GRAD_NORM = 1.0


class ReplayBuffer:
    """The newest decisions, on the device that learns: states, masks, and the targets."""

    def __init__(self, rows: int, numbers: int, actions: int, device: torch.device, soft: bool) -> None:
        """Targets are actions or, if they are soft, a probability for each action."""
        self.state = torch.zeros(rows, numbers, dtype=torch.int8, device=device)
        self.mask = torch.zeros(rows, actions, dtype=torch.bool, device=device)
        self.target = torch.zeros(rows, dtype=torch.int64, device=device)
        if soft:
            self.target = torch.zeros(rows, actions, dtype=torch.float16, device=device)
        self.seen = 0

    def __len__(self) -> int:
        return min(self.seen, len(self.mask))

    def add(self, games: LearnerGames, probs: Tensor) -> None:
        """Keep a decision of every game, instead of the oldest ones."""
        device = self.mask.device
        rows = torch.arange(self.seen, self.seen + len(games), device=device) % len(self.mask)
        self.state[rows] = games.state[:, : self.state.shape[1]].to(device)
        self.mask[rows] = games.mask.to(device)
        target = probs if self.target.dim() == 2 else probs.argmax(1)
        self.target[rows] = target.to(device, self.target.dtype)
        self.seen += len(games)


class BehaviourCloning:
    """A network that learns to play as an agent does."""

    measure = "agreement"

    def __init__(self, config: BCConfig) -> None:
        self.config = config
        self.device = torch.device(config.device)
        self.agents: list[Any] = [find_agent(name) for name in config.agent.split(",")]
        self.roll_in = find_agent(config.roll_in) if config.roll_in else None
        self.teacher = self.agents[0].model if len(self.agents) == 1 and isinstance(self.agents[0], Policy) else None
        if config.rollouts and not self.teacher:
            raise ValueError("--rollouts is for one policy, such as: borneo imitate policy:FOLDER:budget=0 --rollouts")
        torch.manual_seed(config.seed)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.games = self._games(config.seed)
        size = shape_of(config.network, config.actor, "--actor")
        self.actor = actor_of(config.network, config.edition, *size).to(self.device)
        self.start = read_model(config.start) if config.start else None
        if self.start:
            try:
                if self.start.card.edition != config.edition:
                    raise ValueError(f"it has learnt the {self.start.card.edition} edition: give --edition of it")
                self.actor.load_layers(self.start.layers)
            except ValueError as error:
                raise ValueError(f"--start {config.start}: cannot start with it: {error}") from None
        soft = any(hasattr(agent, "probabilities") for agent in self.agents)
        rows, numbers = REPLAY_SIZE * config.n_steps * len(self.games), aligned(len(self.actor.inputs))
        self.replay = ReplayBuffer(rows, numbers, self.games.actions, self.device, soft)
        self.learning_rate = torch.tensor(config.learning_rate, device=self.device)
        self.optimizer = adam(self.actor, self.learning_rate)
        self.loss = torch.zeros((), device=self.device)  # the sum of an update
        self._train_step = graphed(self._train_step_now, self.device.type == "cuda")

    def _games(self, seed: int) -> LearnerGames:
        sizes = even_sizes(self.config.n_envs, counts_of(self.config.players))
        games = LearnerGames(sizes, edition=self.config.edition, seed=seed)
        games.stagger(self.generator)
        return games

    def update(self, progress: float) -> str:
        """Watch some decisions and learn from those that are kept; returns a line for the bar."""
        agreement = self.watch()
        return f"{short(self.replay.seen)} decisions, {agreement:.1%} agreement, loss {self.learn(progress):.2f}"

    # ------------------------------------------------------------ watching

    def watch(self) -> float:
        """Play every game on for some decisions and keep them; returns how many the network would play alike."""
        shares = []
        for probs, agrees in self._watched(self.games):
            self.replay.add(self.games, probs)
            shares.append(agrees.mean())
        return float(np.mean(shares))

    @torch.no_grad()
    def _watched(self, games: LearnerGames) -> Iterator[tuple[Tensor, NDArray[np.bool_]]]:
        """For some decisions in every game, the agent's probabilities, and where the network agrees with it."""
        number = torch.arange(len(games))
        has_roll_in = number * ROLL_IN_SHARE % 1 < ROLL_IN_SHARE  # spread evenly
        roll_in_seat = torch.where(has_roll_in, number % games.players, -1)
        layers = self._layers()
        for _ in range(self.config.n_steps):
            probs = self._probabilities(games)
            action = probs.argmax(1)
            logits = masked(apply(layers, games.state.to(self.device)), games.mask.to(self.device)).cpu()
            yield probs, (logits.argmax(1) == action).numpy()
            at = games.seat == roll_in_seat
            if self.roll_in is None:
                u = torch.rand(len(games), generator=self.generator)
                action = torch.where(at, categorical(logits.softmax(1), u), action)
            else:
                action[at] = torch.from_numpy(actions_of(self.roll_in, games, at.numpy()))
            games.play(action)

    def _probabilities(self, games: LearnerGames) -> Tensor:
        """(games, actions): the probabilities of the agent of each game; of several, each has a share of the games."""
        number = np.arange(len(games)) // max(counts_of(self.config.players)) % len(self.agents)
        probs = np.zeros((len(games), games.actions), np.float32)
        for own, agent in enumerate(self.agents):
            where = number == own
            if hasattr(agent, "probabilities"):
                probs[where] = np.concatenate([agent.probabilities(views) for views in views_of(games, where)])
            else:
                probs[where.nonzero()[0], actions_of(agent, games, where)] = 1.0
        return torch.from_numpy(probs)

    # ------------------------------------------------------------ learning

    def learn(self, progress: float) -> float:
        """Learn from the decisions that are kept; returns the mean loss."""
        config = self.config
        self.learning_rate.fill_(config.learning_rate * (1 - (1 - LR_END) * progress))
        steps = max(1, config.n_epochs * config.n_steps * len(self.games) // config.batch_size)
        self.loss.zero_()
        for _ in range(steps):
            rows = torch.randint(len(self.replay), (config.batch_size,), generator=self.generator).to(self.device)
            self._train_step(self.replay.state[rows], self.replay.mask[rows], self.replay.target[rows])
        return float(self.loss) / steps

    def _train_step_now(self, state: Tensor, mask: Tensor, target: Tensor) -> None:
        log_probs = torch.log_softmax(masked(apply(self._layers(), state), mask), 1)
        if target.dim() == 1:
            loss = -log_probs.gather(1, target[:, None]).mean()
        else:
            loss = -(target.float() * log_probs).sum(1).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self.actor.parameters(), MAX_GRAD_NORM)
        self.optimizer.step()
        self.loss += loss.detach()

    def _layers(self) -> list[Dense]:
        return prepared(self.actor.layers(), self.device)

    # ------------------------------------------------------------ what came of it

    def measured(self) -> Estimate:
        """The share of decisions in unseen games at which the network plays like the agent, with its interval."""
        games = self._games(self.config.seed + EVAL_SEED_OFFSET)
        for _ in range(WHOLE_GAME // self.config.n_steps):  # else positions of random play would count
            for _ in self._watched(games):
                pass
        agreed = np.sum([agrees for _, agrees in self._watched(games)], 0, dtype=float)[:, None]
        asked, rng = np.full_like(agreed, self.config.n_steps), np.random.default_rng(self.config.seed)
        return mean_estimates(agreed, asked, rng, (0.0, 1.0))[0]

    @torch.no_grad()
    def model(self, command: str) -> Model:
        """A policy that plays as the agent does, as far as it has learnt that.

        If it learnt from a policy, and started as one, it keeps the other networks of its start, and searches. If it
        learnt rollouts, it is that policy, in whose searches the network plays on.
        """
        config, layers = self.config, to_model(self.actor.layers())
        if config.rollouts and self.teacher:
            card = replace(self.teacher.card, command=f"{self.teacher.card.command}; the rollout network: {command}")
            return replace(self.teacher, card=card, rollout=layers)
        before = self.start if self.teacher else None
        settings = (before.card.settings if before else {}) | asdict(config)
        card = ModelCard(
            edition=config.edition, players=counts_of(config.players), steps=self.replay.seen, seed=config.seed,
            task=before.card.task if before else f"imitate {config.agent}", command=command, settings=settings,
            software=software(),
        )  # fmt: skip
        return replace(before, card=card, layers=layers) if before else Model(card, layers)
