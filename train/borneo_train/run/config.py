"""Settings of a training: the options of `borneo train`, and what is kept beside a model.

They have the names of stable-baselines3, where it has any. Each class is a panel of the help, named by its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any

from borneo_agents.policy.model import USUAL_MARGIN

from borneo_env.ruleset import EDITIONS, PLAYER_COUNTS

TASKS = ("win", "contracts", "ranks")
TIED, PLAIN = NETWORKS = ("tied", "plain")
TIED_UNITS = 64  # the width of a tied network is a multiple of it
AUTO, CPU, CUDA = DEVICES = ("auto", "cpu", "cuda")
# What is not given is as it learns best on two cores, or on one large GPU.
PRESETS: dict[str, dict[str, Any]] = {
    CPU: {
        "n_envs": 1536, "n_steps": 64, "batch_size": 1536, "n_epochs": 1, "learning_rate": 2e-3, "actor": "128x2",
        "critic": "64x2", "timesteps": 4_000_000, "evaluation_games": 400,
    },
    CUDA: {
        "n_envs": 8192, "n_steps": 64, "batch_size": 8192, "n_epochs": 1, "learning_rate": 1e-3, "actor": "512x3",
        "critic": "384x3", "timesteps": 2_000_000_000, "evaluation_games": 2000,
    },
}  # fmt: skip
WORDS = {"minutes": "no limit", "workers": "one on a card"}  # for what is usual where the number says nothing
MOST_WORKERS = 512
USUAL_WORKERS = 4  # at most, if none is given; more than there are cores are never usual
SEEDS = 2**63  # seeds are below
EVAL_SEED_OFFSET = 1_000_000  # added to the seed for games of evaluations: the learner has not learnt from their deals
FROM_ONE = ("n_envs", "n_steps", "batch_size", "n_epochs", "evaluations", "evaluation_games")
# What numbers may be, and how that is said. Infinite ones, and those that are none, are in no range.
RANGES: list[tuple[tuple[str, ...], Callable[[float], bool], str]] = [
    (FROM_ONE, lambda value: 1 <= value < inf, "a number from 1"),
    (("timesteps", "minutes", "ent_coef", "margin_coef"), lambda value: 0 <= value < inf, "a number from 0"),
    (("learning_rate", "clip_range", "max_grad_norm", "target_kl"), lambda value: 0 < value < inf, "a number above 0"),
    (("opponent_share", "gamma", "gae_lambda"), lambda value: 0 <= value <= 1, "a number from 0 to 1"),
    (("workers",), lambda value: 1 <= value <= MOST_WORKERS, f"a number from 1 to {MOST_WORKERS}"),
    (("seed",), lambda value: 0 <= value < SEEDS, "a number from 0, below 2**63"),
]


@dataclass(frozen=True)
class GameSettings:
    """What is learnt"""

    task: Annotated[str, "What is learnt: win, contracts (to fulfil), or ranks (to climb)."] = "win"
    players: Annotated[str, "Player counts, all played by one policy."] = "3,4,5"
    edition: Annotated[str, "board (2008) or card (2007)."] = "board"
    timesteps: Annotated[int, "Decisions to learn from, of all seats."] = 0
    minutes: Annotated[float, "Minutes to learn for; beside --timesteps, to stop after."] = 0.0


@dataclass(frozen=True)
class OpponentSettings:
    """Who else plays"""

    opponent: Annotated[
        str, "Opponents in a share of the games: self (earlier versions), random, an agent, or a policy's folder."
    ] = "self"
    opponent_share: Annotated[float, "Share of games with them in all seats but one; the rest is self-play."] = 0.0


@dataclass(frozen=True)
class EvaluationSettings:
    """Evaluation"""

    evaluations: Annotated[int, "Evaluations, evenly spaced, after the one at the start."] = 6
    against: Annotated[str, "Agents that fill the other seats then; one curve for each."] = "random,merchant"
    evaluation_games: Annotated[int, "Games of each curve and player count then."] = 0


@dataclass(frozen=True)
class NetworkSettings:
    """The network"""

    network: Annotated[str, "tied: weights shared over companies, spices and ports; or plain."] = "tied"
    actor: Annotated[str, "Width and number of the actor's layers, such as 128x2."] = ""
    critic: Annotated[str, "Width and number of the critic's, which sees all cards."] = ""


@dataclass(frozen=True)
class PPOSettings:
    """How it is learnt"""

    n_envs: Annotated[int, "Games played side by side."] = 0
    n_steps: Annotated[int, "Decisions in each game between two updates."] = 0
    batch_size: Annotated[int, "Decisions in each step of the optimiser."] = 0
    n_epochs: Annotated[int, "Passes through each rollout."] = 0
    learning_rate: Annotated[float, "Learning rate of Adam at the start; falls linearly to a twentieth."] = 0.0
    ent_coef: Annotated[float, "Entropy bonus at the start; falls linearly to a tenth."] = 0.02
    gamma: Annotated[float, "Discount of rewards per decision."] = 0.9995
    gae_lambda: Annotated[float, "Lambda of generalised advantage estimation."] = 0.97
    clip_range: Annotated[float, "Clipping range of the probability ratio."] = 0.2
    max_grad_norm: Annotated[float, "Gradient clipping: largest norm, of actor and critic apart."] = 0.5
    target_kl: Annotated[float, "KL divergence of an update beyond which the learning rate is cut by a tenth."] = 0.02
    margin_coef: Annotated[float, "Task win: bonus for a lead of 12 points, beside a win's 1; falls to a fifth."] = (
        USUAL_MARGIN
    )


@dataclass(frozen=True)
class RunSettings:
    """Where"""

    out: Annotated[Path, "Folder for the model, its curve and checkpoints."] = Path("out/train")
    start: Annotated[str, "Folder of a policy or a training: start with its networks."] = ""
    device: Annotated[str, "cpu, cuda, or auto: cuda where there is a card."] = AUTO
    workers: Annotated[int, "Processes that learn as one, on a CPU usually one a core."] = 0
    seed: Annotated[int, "With --timesteps, on the same kind of CPU, the same seed gives the same training."] = 0


@dataclass(frozen=True)
class Settings(RunSettings, PPOSettings, NetworkSettings, EvaluationSettings, OpponentSettings, GameSettings):
    """How a learner is trained."""

    def filled(self, has_card: bool, cores: int = 1) -> Settings:
        """The same with the device's values where none were given; `cores` are those of this machine."""
        if self.device not in DEVICES:
            raise ValueError(f"--device is one of {', '.join(DEVICES)}, not {self.device!r}")
        if self.device == CUDA and not has_card:
            raise ValueError("there is no GPU that torch can use; train with --device cpu")
        device = (CUDA if has_card else CPU) if self.device == AUTO else self.device
        preset = {key: value for key, value in PRESETS[device].items() if not getattr(self, key)}
        if self.minutes:
            preset.pop("timesteps", None)
        filled = replace(self, device=device, **preset)
        return replace(filled, workers=self.workers or filled.usual_workers(cores))

    def usual_workers(self, cores: int) -> int:
        """How many processes learn if none is given: one on a card, else one for each core, with equal parts."""
        most = 1 if self.device == CUDA else min(cores, USUAL_WORKERS)
        most = min(most, self.n_envs // len(self.counts()))  # a part has games of all player counts
        return max(count for count in range(1, most + 1) if count == 1 or self.has_equal_parts(count))

    def has_equal_parts(self, workers: int) -> bool:
        """Whether games and minibatches can be divided among so many workers."""
        return self.n_envs % workers == 0 and self.batch_size % workers == 0

    def check(self) -> None:
        """Refuse settings nothing can be trained with; those of the device are filled in."""
        check_choices(self)
        check_numbers(self)
        for name in ("actor", "critic"):
            shape_of(self.network, getattr(self, name), option(name))
        if self.n_envs * self.n_steps % self.batch_size:
            raise ValueError(
                f"--n-envs {self.n_envs} times --n-steps {self.n_steps} is no multiple of --batch-size "
                f"{self.batch_size}: an update goes through the rollout in minibatches of that size"
            )
        if not self.has_equal_parts(self.workers):
            fits = max(count for count in range(1, self.workers) if self.has_equal_parts(count))
            raise ValueError(
                f"--n-envs {self.n_envs} and --batch-size {self.batch_size} cannot be divided by --workers "
                f"{self.workers}: each has an equal part, as with --workers {fits}"
            )
        if self.n_envs // self.workers < len(self.counts()):
            raise ValueError(f"--n-envs {self.n_envs} leaves a player count without games")

    def length(self) -> str:
        """Which setting says how long the training is."""
        return "timesteps" if self.timesteps else "minutes"

    def counts(self) -> list[int]:
        """The player counts."""
        return counts_of(self.players)

    def tables(self) -> list[str]:
        """The agents that fill the other seats at an evaluation, one after the other."""
        names = [name.strip() for name in self.against.split(",")]
        if len(set(names)) < len(names):
            raise ValueError(f"--against wants agents with commas between them, each once, not {self.against!r}")
        return names

    @classmethod
    def kept(cls, values: dict[str, Any], out: Path) -> Settings:
        """Settings as a file has them, each of its type."""
        settings = cls(**values | {"out": out})
        for field in fields(cls):
            value, usual = getattr(settings, field.name), field.default
            whole_for_float = type(usual) is float and type(value) is int
            if field.name != "out" and type(value) is not type(usual) and not whole_for_float:
                raise ValueError(f"the setting {field.name} cannot be {value!r}")
        return settings

    def as_dict(self) -> dict[str, Any]:
        """For the model's card, without the place it was trained in."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "out"}


def check_numbers(settings: Any, names: Collection[str] | None = None) -> None:
    """Refuse numbers out of their ranges, all that the settings have, or those named."""
    for alike, fits, words in RANGES:
        for name in alike:
            if hasattr(settings, name) and (names is None or name in names) and not fits(getattr(settings, name)):
                raise ValueError(f"{option(name)} is {words}, not {getattr(settings, name)}")


def check_choices(settings: Any) -> None:
    """Refuse words that are no choices, of those settings that are there, and player counts that are none."""
    choices: dict[str, Iterable[str]] = {"task": TASKS, "edition": EDITIONS, "network": NETWORKS}
    for name, known in choices.items():
        if getattr(settings, name, None) not in (None, *known):
            raise ValueError(f"--{name} {getattr(settings, name)!r} is not known; use one of {', '.join(known)}")
    counts = counts_of(settings.players)
    if len(set(counts)) < len(counts) or not set(counts) <= set(PLAYER_COUNTS):
        raise ValueError(f"--players wants some of 3,4,5, each once, not {settings.players!r}")


def option(name: str) -> str:
    """A setting as it is typed."""
    return "--" + name.replace("_", "-")


def usual(name: str) -> str | None:
    """The default of a setting in words, where 0 or nothing stands for it."""
    if name in WORDS:
        return WORDS[name]
    here, there = (PRESETS[device].get(name) for device in (CPU, CUDA))
    if here == there:
        return here if here is None else str(here)
    return f"{here} on a CPU, {there} on a card"


def counts_of(players: str) -> list[int]:
    """Player counts from a text such as 3,4,5."""
    try:
        return [int(part) for part in players.split(",")]
    except ValueError:
        raise ValueError(f"--players wants whole numbers with commas between them, not {players!r}") from None


def shape_of(network: str, text: str, what: str) -> tuple[int, int]:
    """Width and number of layers from a text such as 128x2."""
    width, times, depth = text.partition("x")
    if not (times and width.isdecimal() and depth.isdecimal() and int(width) and int(depth)):
        raise ValueError(f"{what} wants the width and number of layers, such as 128x2, not {text!r}")
    if network == TIED and int(width) % TIED_UNITS:
        raise ValueError(f"layers of a tied network have a multiple of {TIED_UNITS} units, not {width}")
    return int(width), int(depth)
