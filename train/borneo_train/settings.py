"""Settings of a training, with a sentence for each: the options of `borneo train`, and what is kept beside a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

LAPTOP, GPU = "laptop", "gpu"
PRESETS: dict[str, dict[str, Any]] = {
    LAPTOP: {
        "games": 1536, "horizon": 16, "minibatch": 1024, "epochs": 1, "actor": "192x2", "critic": "128x2",
        "steps": 1_000_000, "device": "cpu", "evaluate_every": 250_000, "evaluation_games": 400,
    },
    GPU: {
        "games": 8190, "horizon": 16, "minibatch": 8192, "epochs": 4, "actor": "512x4", "critic": "768x4",
        "steps": 100_000_000, "device": "cuda", "evaluate_every": 10_000_000, "evaluation_games": 1000,
    },
}  # fmt: skip


def panel(title: str) -> Callable[..., Any]:
    """Makes the options of one panel of the help, each from its sentence."""

    def option(sentence: str, *names: str, preset: bool = False) -> Any:
        """With `preset` the default is the preset's: 0 or nothing stands for it."""
        return Option(*names, help=sentence, rich_help_panel=title, show_default="the preset's" if preset else True)

    return option


learnt, teachers, evaluation = panel("What is learnt"), panel("Opponents and teachers"), panel("Evaluation")
network, updates, where = panel("The network"), panel("How it is learnt"), panel("Where")


# fmt: off
@dataclass(frozen=True)
class Settings:
    """How a learner is trained."""

    task: Annotated[str, learnt("What is learnt: win, contracts (to fulfil), or ranks (to climb).")] = "win"
    reward: Annotated[str, learnt("What is learnt from, such as score-delta; by default as the task.")] = ""
    players: Annotated[str, learnt("Player counts, all played by one policy.")] = "3,4,5"
    edition: Annotated[str, learnt("board (2008) or card (2007).")] = "board"
    steps: Annotated[int, learnt("Decisions the learner makes in all.", preset=True)] = 0
    minutes: Annotated[float, learnt("Stop after so many minutes, if it takes longer; 0: no limit.")] = 0.0
    preset: Annotated[str, learnt("Where defaults come from: laptop (two cores) or gpu (one large GPU).")] = LAPTOP

    opponents: Annotated[str, teachers("league, self, merchant, mixed; nobody: it has all the seats.")] = "league"
    lessons: Annotated[int, teachers("Decisions copied from merchants before playing by itself.")] = 0
    lesson_rate: Annotated[float, teachers("Learning rate while copying; falls evenly to nothing.")] = 1e-3

    evaluate_every: Annotated[int, evaluation("Steps between two evaluations.", preset=True)] = 0
    against: Annotated[str, evaluation("Who fills the tables then: agents, one curve for each.")] = "random,merchant"
    evaluation_games: Annotated[int, evaluation("Games of each curve and player count then.", preset=True)] = 0

    actor: Annotated[str, network("Width and number of the policy's layers, such as 192x2.", preset=True)] = ""
    critic: Annotated[str, network("Width and number of the critic's layers.", preset=True)] = ""
    whole_table: Annotated[bool, network("PPO: the critic, of use in training only, sees all cards.")] = True
    lookahead: Annotated[bool, network("The policy is given lookahead features of its options.")] = False

    games: Annotated[int, updates("Games played side by side.", preset=True)] = 0
    horizon: Annotated[int, updates("Decisions in each game between two updates.", preset=True)] = 0
    minibatch: Annotated[int, updates("Decisions in each step of the optimiser.", preset=True)] = 0
    epochs: Annotated[int, updates("How often each decision is learnt from.", preset=True)] = 0
    learning_rate: Annotated[float, updates("Of Adam, at the start; falls evenly to a tenth.")] = 5e-4
    entropy: Annotated[float, updates("PPO: reward for being undecided, at first; falls evenly to a tenth.")] = 0.01
    discount: Annotated[float, updates("PPO: what a reward counts one decision earlier.")] = 0.999
    trace: Annotated[float, updates("PPO: how far advantages look beyond the critic (lambda of GAE).")] = 0.95
    clip: Annotated[float, updates("PPO: how far one update may change the odds of an action.")] = 0.2
    trials: Annotated[int, updates("Instead of PPO, try all options for so many turns each; learn from it.")] = 0

    out: Annotated[Path, where("Folder for the model, its curve and checkpoints.")] = Path("out/train")
    device: Annotated[str, where("cpu or cuda.", preset=True)] = ""
    seed: Annotated[int, where("The same seed gives the same training on the same kind of machine.")] = 0
    # fmt: on

    def filled(self) -> Settings:
        """The same with the preset's values where none were given."""
        if self.preset not in PRESETS:
            raise ValueError(f"there is no preset {self.preset!r}; use one of {', '.join(PRESETS)}")
        return replace(self, **{key: value for key, value in PRESETS[self.preset].items() if not getattr(self, key)})

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


def numbers(text: str, what: str) -> list[int]:
    """Whole numbers from a text such as 3,4,5."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{what} wants whole numbers with commas between them, not {text!r}") from None


def shape(text: str, what: str) -> tuple[int, int]:
    """Width and number of layers from a text such as 192x2."""
    width, times, depth = text.partition("x")
    if not (times and width.isdecimal() and depth.isdecimal() and int(width) and int(depth)):
        raise ValueError(f"{what} wants the width and number of layers, such as 192x2, not {text!r}")
    return int(width), int(depth)
