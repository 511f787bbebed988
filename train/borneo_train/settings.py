"""Settings of a training, with a sentence for each: the options of `borneo train`, and what is kept beside a model.

They go by the names that stable-baselines3 has for them, where it has any.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any

from borneo_agents.policy.model import USUAL_LEAD
from typer import Option

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
# What numbers may be. Infinite ones, and those that are none, are in no range.
FROM_ONE = ("n_envs", "n_steps", "batch_size", "n_epochs", "evaluations", "evaluation_games")
FROM_ZERO = ("timesteps", "minutes", "ent_coef", "lead")
ABOVE_ZERO = ("learning_rate", "clip_range", "max_grad_norm", "target_kl")
UP_TO_ONE = ("frozen", "bots", "gamma", "gae_lambda")
MOST_WORKERS = 512
USUAL_WORKERS = 4  # at most, if nobody says how many; more than there are cores are never usual
SEEDS = 2**63  # seeds are below: those of games in which a learner is measured are a little higher
UNSEEN = 1_000_000  # added to the seed for games in which a learner is measured: it has not learnt from their deals


def panel(title: str) -> Callable[..., Any]:
    """Makes the options of one panel of the help, each from its sentence."""

    def option(sentence: str, *names: str, metavar: str | None = None) -> Any:
        return Option(*names, help=sentence, rich_help_panel=title, metavar=metavar)

    return option


learnt, others, measured = panel("What is learnt"), panel("Who else plays"), panel("Evaluation")
layers, updates, where = panel("The network"), panel("How it is learnt"), panel("Where")


# fmt: off
@dataclass(frozen=True)
class Settings:
    """How a learner is trained."""

    task: Annotated[str, learnt("What is learnt: win, contracts (to fulfil), or ranks (to climb).")] = "win"
    players: Annotated[str, learnt("Player counts, all played by one policy.")] = "3,4,5"
    edition: Annotated[str, learnt("board (2008) or card (2007).")] = "board"
    timesteps: Annotated[int, learnt("Decisions to learn from, of all seats.")] = 0
    minutes: Annotated[float, learnt("Minutes to learn for; beside --timesteps, to stop after.")] = 0.0

    frozen: Annotated[float, others("Share of games with an earlier version of the learner in the other seats.")] = 0.0
    opponent: Annotated[str, others("Who has those seats instead: random, or a policy's folder, in searches too.")] = ""
    bots: Annotated[float, others("Share of games with scripted bots there.")] = 0.0
    bot: Annotated[str, others("Which bot that is.")] = "merchant"

    evaluations: Annotated[int, measured("How often the learner is measured, evenly, after its beginning.")] = 6
    against: Annotated[str, measured("Who fills the tables then: agents, one curve for each.")] = "random,merchant"
    evaluation_games: Annotated[int, measured("Games of each curve and player count then.")] = 0

    network: Annotated[str, layers("tied: what it learns of a company holds for all; or plain.")] = "tied"
    actor: Annotated[str, layers("Width and number of the policy's layers, such as 128x2.")] = ""
    critic: Annotated[str, layers("Width and number of the critic's, which sees all cards.")] = ""
    quick: Annotated[str, layers("Width and layers of two smaller ones that learn beside them, for searches.")] = ""

    n_envs: Annotated[int, updates("Games played side by side.")] = 0
    n_steps: Annotated[int, updates("Decisions in each game between two updates.")] = 0
    batch_size: Annotated[int, updates("Decisions in each step of the optimiser.")] = 0
    n_epochs: Annotated[int, updates("How often each decision is learnt from.")] = 0
    learning_rate: Annotated[float, updates("Of Adam, at first; falls to a twentieth.")] = 0.0
    ent_coef: Annotated[float, updates("What being undecided is worth, at first; falls to a tenth.")] = 0.02
    gamma: Annotated[float, updates("What a reward counts one decision earlier.")] = 0.9995
    gae_lambda: Annotated[float, updates("How far advantages look beyond the critic.")] = 0.97
    clip_range: Annotated[float, updates("How far one update may change the odds of an action.")] = 0.2
    max_grad_norm: Annotated[float, updates("Longer gradients are cut, those of actor and critic apart.")] = 0.5
    target_kl: Annotated[float, updates("An update that goes further makes the next ones smaller.")] = 0.02
    lead: Annotated[float, updates("Task win: what 12 points ahead count beside a win; falls to a fifth.")] = USUAL_LEAD

    out: Annotated[Path, where("Folder for the model, its curve and checkpoints.")] = Path("out/train")
    start: Annotated[str, where("Folder of another training or a policy, to begin with what it has learnt.")] = ""
    device: Annotated[str, where("cpu, cuda, or auto: cuda where there is a card.")] = AUTO
    workers: Annotated[int, where("Processes that learn as one, on a CPU usually one a core.")] = 0
    seed: Annotated[int, where("With --timesteps, on the same kind of CPU, the same seed gives the same training.")] = 0
    # fmt: on

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
        """How many processes learn if nobody says it: one on a card, else one for each core, with equal parts."""
        most = 1 if self.device == CUDA else min(cores, USUAL_WORKERS)
        most = min(most, self.n_envs // len(self.counts()))  # a part has games of all player counts
        return max(count for count in range(1, most + 1) if count == 1 or self.batch_size % count == 0)

    def typed(self) -> set[str]:
        """What somebody must have typed: all that is not as it is by default."""
        return {field.name for field in fields(self) if getattr(self, field.name) != field.default}

    def check_numbers(self, names: Collection[str] | None = None) -> None:
        """Complain about numbers nothing can be trained with, all or some; those of the device are filled in."""
        ranges: list[tuple[tuple[str, ...], Callable[[float], bool], str]] = [
            (FROM_ONE, lambda value: 1 <= value < inf, "a number from 1"),
            (FROM_ZERO, lambda value: 0 <= value < inf, "a number from 0"),
            (ABOVE_ZERO, lambda value: 0 < value < inf, "a number above 0"),
            (UP_TO_ONE, lambda value: 0 <= value <= 1, "a number from 0 to 1"),
            (("workers",), lambda value: 1 <= value <= MOST_WORKERS, f"a number from 1 to {MOST_WORKERS}"),
            (("seed",), lambda value: 0 <= value < SEEDS, "a number from 0, below 2**63"),
        ]
        for alike, fits, words in ranges:
            for name in alike:
                if (names is None or name in names) and not fits(getattr(self, name)):
                    raise ValueError(f"{option(name)} is {words}, not {getattr(self, name)}")

    def check_parts(self) -> None:
        """Complain about games that cannot be divided among minibatches, workers and player counts."""
        if self.n_envs % self.batch_size:
            raise ValueError(
                f"--n-envs {self.n_envs} is no multiple of --batch-size {self.batch_size}: a minibatch has one "
                "decision each of a whole part of the games"
            )
        if self.batch_size % self.workers:
            raise ValueError(
                f"--batch-size {self.batch_size} is no multiple of --workers {self.workers}: each has an equal part, "
                f"as with --workers {max(n for n in range(1, self.workers) if self.batch_size % n == 0)}"
            )
        if self.n_envs // self.workers < len(self.counts()):
            raise ValueError(f"--n-envs {self.n_envs} leaves a player count without games")

    def length(self) -> str:
        """Which setting says how long the training is."""
        return "timesteps" if self.timesteps else "minutes"

    def counts(self) -> list[int]:
        """The player counts."""
        return numbers(self.players, "--players")

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

    def tables(self) -> list[str]:
        """Who fills the tables at an evaluation, one agent after the other."""
        names = [name.strip() for name in self.against.split(",")]
        if len(set(names)) < len(names):
            raise ValueError(f"--against wants agents with commas between them, each once, not {self.against!r}")
        return names

    def as_dict(self) -> dict[str, Any]:
        """For the model's card, without the place it was trained in."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "out"}


def option(name: str) -> str:
    """A setting as it is typed."""
    return "--" + name.replace("_", "-")


def usual(name: str) -> str | None:
    """What a setting is if nobody gives it, in words, where that depends on the device: 0 or nothing stands for it."""
    if name == "workers":
        return "one on a card"
    here, there = (PRESETS[device].get(name) for device in (CPU, CUDA))
    return None if here is None else f"{here} on a CPU, {there} on a card"


def numbers(text: str, what: str) -> list[int]:
    """Whole numbers from a text such as 3,4,5."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{what} wants whole numbers with commas between them, not {text!r}") from None


def shape(text: str, what: str) -> tuple[int, int]:
    """Width and number of layers from a text such as 128x2."""
    width, times, depth = text.partition("x")
    if not (times and width.isdecimal() and depth.isdecimal() and int(width) and int(depth)):
        raise ValueError(f"{what} wants the width and number of layers, such as 128x2, not {text!r}")
    return int(width), int(depth)
