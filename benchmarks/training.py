"""How fast learners learn: `python benchmarks/training.py`. Prints the decisions learnt from in a second.

Our own learner, MaskablePPO on BorneoVecEnv, and as their peer the set-up of PettingZoo's tutorial for
stable-baselines3: one game of Connect Four and MaskablePPO as it comes. Rounds of all learners alternate, so that other
work on the machine slows all of them down. The first rounds (compilation, the start of torch) are not counted.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import gymnasium
import numpy as np
import torch
import typer
from borneo_train.run.config import Settings
from borneo_train.run.learner import create_learner
from borneo_train.vec_env import BorneoVecEnv
from numpy.typing import NDArray
from pettingzoo.utils import BaseWrapper
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.wrappers import ActionMasker

PEER = "tutorial, Connect Four"
WARM_UP = 2  # rounds of playing and learning before the clock starts
REPEATS = 5  # the median of so many rounds counts


@dataclass
class Contender:
    """A learner, and the decisions a second of each round."""

    who: str
    games: int
    learn: Callable[[], int]  # plays and learns for one round; returns the decisions learnt from
    rates: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """Play and learn for one round."""
        began = time.perf_counter()
        decisions = self.learn()
        self.rates.append(decisions / (time.perf_counter() - began))


def borneo(network: str, seed: int) -> Contender:
    """`borneo train` as it comes, but for evaluations and checkpoints."""
    learner = create_learner(Settings(network=network, seed=seed).filled(torch.cuda.is_available()))

    def learn() -> int:
        learner.collect()
        learner.update()
        return learner.rollout.action.numel()

    return Contender(f"borneo train, {network}", len(learner.games), learn)


def with_sb3(name: str, learner: MaskablePPO) -> Contender:
    """A learner of stable-baselines3."""
    round_of = learner.n_steps * learner.n_envs

    def learn() -> int:
        learner.learn(round_of, reset_num_timesteps=False)
        return round_of

    return Contender(name, learner.n_envs, learn)


def vec_env(seed: int) -> Contender:
    """MaskablePPO on our games, against merchants."""
    games = BorneoVecEnv(1536, "merchant", seed=seed)
    settings: dict[str, Any] = {"n_steps": 16, "batch_size": 1536, "n_epochs": 2}
    return with_sb3("MaskablePPO, BorneoVecEnv", MaskablePPO("MlpPolicy", games, seed=seed, **settings))


class OneSeat(BaseWrapper, gymnasium.Env):  # type: ignore[misc]  # PettingZoo has no types
    """A PettingZoo game as the tutorial gives it to a learner: whoever's turn it is, the learner decides."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        anybody = game.possible_agents[0]
        self.observation_space = game.observation_space(anybody)["observation"]
        self.action_space = game.action_space(anybody)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return self.observe(self.agent_selection), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        super().step(action)
        told: tuple[Any, float, bool, bool, dict[str, Any]] = self.last()
        return told

    def observe(self, agent: str) -> Any:
        return super().observe(agent)["observation"]

    def mask(self) -> NDArray[np.int8]:
        legal: NDArray[np.int8] = super().observe(self.agent_selection)["action_mask"]
        return legal


def tutorial(seed: int) -> Contender:
    """The peer: the tutorial's learner, which has all settings from sb3-contrib."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of the peer's own modules
        module = importlib.import_module("pettingzoo.classic.connect_four_v3")
    seat = OneSeat(module.env())
    masked = ActionMasker(seat, lambda _: seat.mask())
    return with_sb3(PEER, MaskablePPO(MaskableActorCriticPolicy, masked, seed=seed))


def measure(contenders: list[Contender]) -> None:
    """Warm up, then measure a round of each in turn."""
    console = Console(stderr=True)
    for contender in track(contenders * WARM_UP, "warming up", console=console):
        contender.learn()
    for contender in track(contenders * REPEATS, "measuring", console=console):
        contender.measure()


def main(
    seed: Annotated[int, typer.Option(help="Seed of games and networks.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how fast learners learn, beside PettingZoo's tutorial."""
    if not importlib.util.find_spec("pygame"):
        raise typer.BadParameter("the peer needs pygame; `make bench` installs it")
    contenders = [borneo("tied", seed), borneo("plain", seed), vec_env(seed), tutorial(seed)]
    measure(contenders)
    rates = [statistics.median(contender.rates) for contender in contenders]
    ratios = [rate / rates[-1] for rate in rates]
    if as_json:
        names = ("who", "games", "decisions_per_second", "ratio")
        rows = zip((one.who for one in contenders), (one.games for one in contenders), rates, ratios, strict=True)
        print(json.dumps({"seed": seed, "measured": [dict(zip(names, row, strict=True)) for row in rows]}))
        return
    table = Table(Column("learner", no_wrap=True), title="training from end to end")
    for heading in ("games", "decisions/s", "ratio"):
        table.add_column(heading, justify="right")
    for one, rate, ratio in zip(contenders, rates, ratios, strict=True):
        table.add_row(one.who, f"{one.games:,}", f"{rate:,.0f}", f"{ratio:.1f} x")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
