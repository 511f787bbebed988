"""A learner from the settings of a training: its games, opponents and networks."""

from __future__ import annotations

import platform
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from borneo_agents.policy.model import CARD, Model, ModelCard, read_model

from borneo_train.distributed.process_group import SINGLE, ProcessGroup
from borneo_train.games.games import LearnerGames, even_sizes
from borneo_train.games.opponents import Opponents, player_of, plays_on_cpu
from borneo_train.networks.actor_critic import Networks
from borneo_train.ppo import PPO
from borneo_train.run.config import SEEDS, Settings, shape_of
from kontor.files import on_one_line

WORKER_SEED_STEP = 2**40 + 0x9E3779B1  # between the seeds of two workers; torch looks at 32 bits of a seed on a CPU
LAST = "last"  # the folder of a training's newest policy
SOFTWARE = ("borneo-env", "numpy", "numba", "torch")


def create_learner(settings: Settings, group: ProcessGroup = SINGLE, resuming: bool = False) -> PPO:
    """A new learner; one that is resuming needs no networks of --start."""
    counts, device = settings.counts(), torch.device(settings.device)
    seed = (settings.seed + group.rank * WORKER_SEED_STEP) % SEEDS
    torch.manual_seed(settings.seed)
    sizes = [shape_of(settings.network, getattr(settings, name), f"--{name}") for name in ("actor", "critic")]
    networks = Networks(settings.network, settings.edition, *sizes).to(device)
    if settings.start and not resuming:
        load_start(networks, settings)
    n = settings.n_envs // group.size
    with_opponents = round(n * settings.opponent_share)
    games = LearnerGames(
        even_sizes(n - with_opponents, counts), even_sizes(with_opponents, counts),
        opponents_on_cpu=plays_on_cpu(settings.opponent), edition=settings.edition, task=settings.task, seed=seed,
        device=settings.device,
    )  # fmt: skip
    player = player_of(settings.opponent, networks, settings.edition, device) if with_opponents else None
    learner = PPO(settings, games, networks, Opponents(games, player), seed, group)
    if settings.start and not resuming:
        learner.updates = 1  # else the first update would choose a scale of returns that the critic does not know
    return learner


def load_start(networks: Networks, settings: Settings) -> None:
    """Load the networks of --start, the folder of a policy or a training."""
    folder = Path(settings.start)
    try:
        newest = folder if (folder / CARD).exists() else folder / LAST
        if not (newest / CARD).exists():
            raise ValueError("there is no policy, and no training that has made one")
        networks.load_model(read_model(newest), settings.edition)
    except Exception as error:  # a damaged file can raise nearly anything
        reason = on_one_line(str(error) or type(error).__name__)
        raise ValueError(f"--start {folder}: cannot start with it: {reason}") from error


def software() -> dict[str, str]:
    """The versions of what trains."""
    return {name: version(name) for name in SOFTWARE} | {"python": platform.python_version()}


def model_of(learner: PPO, settings: Settings, command: str) -> Model:
    """The policy of a learner as it is now."""
    card = ModelCard(
        edition=settings.edition, players=settings.counts(), task=settings.task, steps=learner.decisions,
        seed=settings.seed, command=command, settings=settings.as_dict(), software=software(),
    )  # fmt: skip
    actor, critic = learner.networks.layers_of_model(float(learner.return_scale))
    return Model(card, actor, critic)


def with_strength(model: Model, strength: list[dict[str, Any]]) -> Model:
    """The same with measurements on its card."""
    return replace(model, card=replace(model.card, strength=strength))
