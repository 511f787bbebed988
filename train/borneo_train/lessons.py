"""Lessons: before a learner plays for itself, it can copy a scripted bot (behaviour cloning)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from borneo_agents.merchant import Merchant
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from torch.nn import functional

from borneo_env.agent import Views
from borneo_train.buffer import LeanBuffer
from borneo_train.vec_env import BorneoVecEnv


def teach(learner: MaskablePPO, games: BorneoVecEnv, steps: int, tell: Callable[[int, float], None]) -> None:
    """Let the learner copy the merchant for so many decisions: the actor its moves, the critic what came of them.

    `tell` is told the steps so far and how often the learner would have played the merchant's move.
    """
    buffer = learner.rollout_buffer
    assert isinstance(buffer, LeanBuffer)
    teacher = Merchant()
    observations = games.reset()
    starts = np.ones(games.num_envs, np.bool_)
    nothing = torch.zeros(games.num_envs)
    for done in range(buffer.buffer_size * games.num_envs, steps + 1, buffer.buffer_size * games.num_envs):
        buffer.reset()
        while not buffer.full:
            masks, actions = games.action_masks(), merchants_actions(games, teacher)
            new_observations, rewards, dones, _ = games.step(actions)
            buffer.add(observations, actions[:, None], rewards, starts, nothing, nothing, masks)
            observations, starts = new_observations, dones
        with torch.no_grad():
            last = learner.policy.predict_values(torch.from_numpy(observations).to(learner.device))
        buffer.gae_lambda = 1.0  # what came of it, not what an unlearned critic makes of it
        buffer.compute_returns_and_advantage(last, starts)
        buffer.gae_lambda = learner.gae_lambda
        for _ in range(learner.n_epochs):
            agreed = copy(learner, buffer)
        tell(done, agreed)


def merchants_actions(games: BorneoVecEnv, teacher: Merchant) -> NDArray[np.int64]:
    """(games,): what the merchant would play in every learner's place."""
    tables = games.tables
    views = [Views(table.ruleset, *table.batch.view(np.arange(len(table)))) for table in tables]
    return np.concatenate([teacher.act(view) for view in views])


def copy(learner: MaskablePPO, buffer: LeanBuffer) -> float:
    """Learn from one rollout of the merchant's decisions; returns how often the learner agreed with them."""
    policy, agreed = learner.policy, []
    policy.set_training_mode(True)
    for sample in buffer.get(learner.batch_size):
        features = policy.extract_features(sample.observations)
        latent_actor, latent_critic = policy.mlp_extractor(features)
        logits = policy.action_net(latent_actor).masked_fill(~sample.action_masks, -torch.inf)
        actions = sample.actions.long().flatten()
        values = policy.value_net(latent_critic).flatten()
        loss = functional.cross_entropy(logits, actions) + functional.mse_loss(values, sample.returns)
        policy.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), learner.max_grad_norm)
        policy.optimizer.step()
        agreed.append((logits.argmax(1) == actions).float().mean())
    return float(torch.stack(agreed).mean())
