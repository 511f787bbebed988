"""Lessons: before a learner plays for itself, it can copy the merchant (behaviour cloning).

Merchants play whole games against each other. The actor learns their moves in every seat, the critic what came of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from borneo_agents.policy.lookahead import lookahead_in_batch
from borneo_agents.scripted.dispatch import MERCHANT, Bots
from sb3_contrib import MaskablePPO
from torch.nn import functional

from borneo_env.engine.batch import Batch
from borneo_env.engine.state import copy_games
from borneo_env.rewards import Reward
from borneo_env.ruleset import Ruleset
from borneo_train.buffer import order_of
from borneo_train.network import policy_of


class Lesson(NamedTuple):
    """Decisions of merchants."""

    observations: torch.Tensor  # (n, numbers) int8
    masks: torch.Tensor  # (n, actions) bool
    actions: torch.Tensor  # (n,)
    returns: torch.Tensor  # (n,): the reward from there to the end of the game


def teach(
    learner: MaskablePPO, lessons: Iterator[Lesson], steps: int, rate: float, tell: Callable[[int, float], None]
) -> None:
    """Let the learner copy so many decisions, at a learning rate that falls to nothing.

    `tell` is told the decisions so far, and how often the learner would have decided like the merchant.
    """
    done = 0
    while done < steps:
        lesson = next(lessons)
        for group in learner.policy.optimizer.param_groups:
            group["lr"] = rate * (1 - done / steps)
        agreed = learn(learner, lesson)
        done += len(lesson.actions)
        tell(min(done, steps), agreed)


def learn(learner: MaskablePPO, lesson: Lesson) -> float:
    """Learn from each decision once; returns how often the learner agreed before."""
    policy = policy_of(learner)
    policy.set_training_mode(True)
    agreed = torch.zeros((), device=learner.device)
    order = torch.randperm(len(lesson.actions), generator=order_of(learner)).to(learner.device)
    for chosen in torch.split(order, learner.batch_size or len(order)):
        observations, masks, actions, returns = (part[chosen] for part in lesson)
        features = policy.extract_features(observations)
        assert isinstance(features, torch.Tensor)
        latent_actor, latent_critic = policy.mlp_extractor(features)
        logits = policy.logits(features, latent_actor, masks).masked_fill(~masks, -torch.inf)
        values = policy.value_net(latent_critic).flatten()
        loss = learner.vf_coef * functional.mse_loss(values, returns)
        if not policy.lookahead:  # who is told the merchant's move need not learn it
            loss = loss + functional.cross_entropy(logits, actions)
        policy.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(policy.parameters(), learner.max_grad_norm)
        policy.optimizer.step()
        agreed += (logits.argmax(1) == actions).sum()
    return float(agreed / len(lesson.actions))


def lessons(
    rulesets: Sequence[Ruleset],
    games: int,
    *,
    reward: Reward,
    whole_table: bool,
    lookahead: bool = False,
    seed: int,
    device: torch.device,
) -> Iterator[Lesson]:
    """Lessons without end, each of so many games, shared evenly among the rulesets."""
    size = max(1, games // len(rulesets))
    first = 0
    while True:
        batches = [Batch(size, ruleset, seed=seed, first=first, finished="hold") for ruleset in rulesets]
        parts = [lesson(batch, reward, whole_table, lookahead, device) for batch in batches]
        yield Lesson(*(torch.cat(same) for same in zip(*parts, strict=True)))
        first += size


def lesson(batch: Batch, reward: Reward, whole_table: bool, lookahead: bool, device: torch.device) -> Lesson:
    """Play the games of a batch to their ends by merchants, and keep every decision."""
    bots = Bots(batch)
    kinds = np.full((len(batch), batch.ruleset.players), MERCHANT, np.int8)
    seen: list[list[torch.Tensor]] = []
    told, before = [], []
    while len(rows := np.flatnonzero(batch.player >= 0)):
        seats = batch.player.astype(np.int64)
        numbers = batch.state(seats) if whole_table else batch.observe(seats)
        chosen = bots.choose(kinds, rows)
        shown = np.concatenate([numbers[rows], lookahead_in_batch(batch, rows)], 1) if lookahead else numbers[rows]
        seen.append([torch.from_numpy(part).to(device) for part in (shown, batch.mask[rows], chosen)])
        told.append((rows, seats[rows]))
        before.append(copy_games(batch.games, rows))
        batch.step(chosen, rows)
    rows, seats = (np.concatenate(parts) for parts in zip(*told, strict=True))
    worth = reward(batch.ruleset, np.concatenate(before), copy_games(batch.games, rows))
    returns = torch.from_numpy(worth[np.arange(len(rows)), seats].astype(np.float32)).to(device)
    observations, masks, actions = map(torch.cat, zip(*seen, strict=True))
    return Lesson(observations, masks, actions, returns)
