"""Practice: a learner plays its games, and every option it considers is tried before it decides.

Trials tell what each option leads to by merchants' play (see `borneo_agents.trials`), so the learner need not find out by
what it happened to do: it raises the odds of what turned out better than its average, in one step for all options of a
decision. A single trial depends on luck and on secrets; the network, which is told neither, learns their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from borneo_train.buffer import order_of
from borneo_train.network import TablePolicy, policy_of
from borneo_train.vec_env import BorneoVecEnv

CONSIDERED = 0.01  # odds of an option that is tried


class Round(NamedTuple):
    """Decisions of the learner with what came of their trials."""

    observations: torch.Tensor  # (n, numbers) int8
    masks: torch.Tensor  # (n, actions) bool
    gains: torch.Tensor  # (n, actions): how much more than expected each option brought; 0 where it was not tried


def practise(
    learner: MaskablePPO, games: BorneoVecEnv, steps: int, turns: int, tell: Callable[[int, float], None]
) -> None:
    """Play so many decisions, and learn from the trials after each round; `tell` is told the decisions so far."""
    shown = games.reset()
    done = 0
    while done < steps:
        parts = []
        for _ in range(learner.n_steps):
            part, actions = consider(learner, games, shown, turns)
            parts.append(part)
            shown, *_ = games.step(actions)
            done += len(actions)
        whole = Round(*(torch.cat(same) for same in zip(*parts, strict=True)))
        for group in learner.policy.optimizer.param_groups:
            group["lr"] = learner.lr_schedule(1 - done / steps)
        learn(learner, whole)
        tell(min(done, steps), float(whole.gains.abs().mean()))


@torch.no_grad()
def consider(
    learner: MaskablePPO, games: BorneoVecEnv, shown: NDArray[np.int8], turns: int
) -> tuple[Round, NDArray[np.int64]]:
    """Try the options that are likely in every game, and draw an action."""
    policy = policy_of(learner)
    policy.set_training_mode(False)
    observations = torch.from_numpy(shown).to(learner.device)
    masks = torch.from_numpy(games.action_masks()).to(learner.device)
    odds = torch.softmax(liked(policy, observations, masks), 1)
    tried = odds >= CONSIDERED
    worth = torch.from_numpy(games.worth(tried.cpu().numpy(), turns)).to(learner.device)
    weights = odds * tried
    expected = (weights * worth).sum(1, keepdim=True) / weights.sum(1, keepdim=True)
    actions = torch.multinomial(odds, 1).squeeze(1)
    return Round(observations, masks, (worth - expected) * tried), actions.cpu().numpy()


def learn(learner: MaskablePPO, whole: Round) -> None:
    """Learn from each decision as often as there are epochs."""
    policy = policy_of(learner)
    policy.set_training_mode(True)
    usual = whole.gains[whole.gains != 0].std()
    for _ in range(learner.n_epochs):
        order = torch.randperm(len(whole.gains), generator=order_of(learner)).to(learner.device)
        for chosen in torch.split(order, learner.batch_size or len(order)):
            observations, masks, gains = (part[chosen] for part in whole)
            logs = torch.log_softmax(liked(policy, observations, masks), 1)
            odds = logs.exp()
            undecided = -(odds * logs.masked_fill(~masks, 0)).sum(1).mean()
            loss = -(odds * gains).sum(1).mean() / usual - learner.ent_coef * undecided
            policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(policy.parameters(), learner.max_grad_norm)
            policy.optimizer.step()


def liked(policy: TablePolicy, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """How much the actor likes every action, -inf for those that are not legal."""
    features = policy.extract_features(observations)
    assert isinstance(features, torch.Tensor)
    return policy.logits(features, policy.mlp_extractor.forward_actor(features)).masked_fill(~masks, -torch.inf)
