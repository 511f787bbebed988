"""How fast `borneo train` learns: `python benchmarks/training.py`. Prints steps a second, and how long the games take.

The peer is the set-up of PettingZoo's tutorial for stable-baselines3: one game of Connect Four and MaskablePPO as it
comes. Rounds of all learners alternate, so that other work on the machine slows all of them down. Nothing is
evaluated or saved; the first rounds (compilation, the start of torch) are not counted.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import numpy as np
import typer
from borneo_train.ppo import Training
from borneo_train.settings import LAPTOP, Settings
from numpy.typing import NDArray
from pettingzoo.utils import BaseWrapper
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

OPPONENTS = ("merchant", "self", "league")
PEER = "tutorial, Connect Four"
WARM_UP = 2  # rounds of playing and learning before the clock starts
REPEATS = 3  # the median of so many rounds counts
ASKED = ("step", "env_method")  # what a learner calls of its games: the latter for the masks
NEVER = 10**12  # steps


@dataclass(frozen=True)
class Measurement:
    who: str
    games: int
    steps_per_second: float
    ratio: float  # to the peer
    environment_share: float  # of the time for rollouts: rules, masks, observations, scripted opponents
    opponents_share: float  # of the same, of opponents that are networks


class Stopwatch:
    """Adds up the time that objects spend in some of their methods."""

    def __init__(self, owners: Iterable[object], *methods: str) -> None:
        self._seconds = 0.0
        for owner in owners:
            for name in methods:
                setattr(owner, name, self._timed(getattr(owner, name)))

    def read(self) -> float:
        """The seconds since it was last read."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                self._seconds += time.perf_counter() - began

        return timed


class Contender:
    """A learner, and what was measured of it: (steps a second, environment's share, opponents' share) of each round."""

    def __init__(
        self, who: str, learner: MaskablePPO, callback: BaseCallback | None = None, opponents: Iterable[object] = ()
    ) -> None:
        self.who, self.learner, self._callback = who, learner, callback
        self._rollouts = Stopwatch([learner], "collect_rollouts")
        self._games = Stopwatch([learner.env], *ASKED)
        self._opponents = Stopwatch(opponents, "choose")
        self._rounds: list[tuple[float, float, float]] = []

    def warm_up(self) -> None:
        for _ in range(WARM_UP):
            self.measure()
        self._rounds.clear()

    def measure(self) -> None:
        """Play and learn for one round."""
        steps = self.learner.n_steps * self.learner.n_envs
        began = time.perf_counter()
        self.learner.learn(steps, self._callback, reset_num_timesteps=False)
        seconds = time.perf_counter() - began
        rollouts, games, opponents = self._rollouts.read(), self._games.read(), self._opponents.read()
        self._rounds.append((steps / seconds, (games - opponents) / rollouts, opponents / rollouts))

    def result(self, peer: Contender) -> Measurement:
        """The medians."""
        rate, *shares = map(statistics.median, zip(*self._rounds, strict=True))
        beside = statistics.median(rate for rate, *_ in peer._rounds)
        return Measurement(self.who, self.learner.n_envs, rate, rate / beside, *shares)


def borneo(opponents: str, folder: Path, seed: int) -> Contender:
    """`borneo train` with the laptop preset, but for evaluations and checkpoints."""
    settings = Settings(opponents=opponents, preset=LAPTOP, seed=seed, out=folder / opponents)
    training = Training.begun(settings, "benchmarks/training.py")
    training.next_evaluation = training.next_checkpoint = NEVER
    training.learner.set_logger(configure(str(training.folder / "tensorboard"), ["tensorboard"]))
    return Contender(f"borneo, {opponents}", training.learner, training, training.games.networks)


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
    return Contender(PEER, MaskablePPO(MaskableActorCriticPolicy, masked, seed=seed))


def measure(contenders: list[Contender]) -> None:
    """Warm up, then measure a round of each in turn."""
    console = Console(stderr=True)
    for contender in track(contenders, "warming up", console=console):
        contender.warm_up()
    for contender in track(contenders * REPEATS, "measuring", console=console):
        contender.measure()


def print_table(results: list[Measurement]) -> None:
    table = Table(Column("learner", no_wrap=True), title="training from end to end; shares of the time for rollouts")
    for heading in ("games", "steps/s", "ratio", "environment", "networks"):
        table.add_column(heading, justify="right")
    for one in results:
        shares = (f"{share:.0%}" for share in (one.environment_share, one.opponents_share))
        table.add_row(one.who, f"{one.games:,}", f"{one.steps_per_second:,.0f}", f"{one.ratio:.1f} x", *shares)
    Console().print(table)


def main(
    seed: Annotated[int, typer.Option(help="Seed of games and networks.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how fast `borneo train` learns, beside PettingZoo's tutorial."""
    if not importlib.util.find_spec("pygame"):
        raise typer.BadParameter("the peer needs pygame; `make bench` installs it")
    with tempfile.TemporaryDirectory() as folder:
        contenders = [borneo(opponents, Path(folder), seed) for opponents in OPPONENTS] + [tutorial(seed)]
        measure(contenders)
        for contender in contenders:
            contender.learner.logger.close()
    results = [contender.result(contenders[-1]) for contender in contenders]
    if as_json:
        print(json.dumps({"seed": seed, "measured": [asdict(one) for one in results]}))
    else:
        print_table(results)


if __name__ == "__main__":
    typer.run(main)
