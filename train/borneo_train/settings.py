"""Settings of a training, with a sentence for each: the options of `borneo train`, and what is kept beside a model."""

from __future__ import annotations

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


def preset(sentence: str) -> Any:
    """An option whose default is the preset's: 0 or nothing stands for it."""
    return Option(help=sentence, show_default="the preset's")


# fmt: off
@dataclass(frozen=True)
class Settings:
    """How a learner is trained."""

    task: Annotated[str, Option(help="What is learnt: win, contracts (to fulfil), or ranks (to climb).")] = "win"
    reward: Annotated[str, Option(help="What is learnt from, such as score-delta; by default as the task.")] = ""
    opponents: Annotated[str, Option(help="league, self, merchant, mixed; nobody: it has all the seats.")] = "league"
    players: Annotated[str, Option(help="Player counts, all played by one policy.")] = "3,4,5"
    edition: Annotated[str, Option(help="board (2008) or card (2007).")] = "board"
    preset: Annotated[str, Option(help="Where defaults come from: laptop (two cores) or gpu (one large GPU).")] = LAPTOP
    steps: Annotated[int, preset("Decisions the learner makes in all.")] = 0
    games: Annotated[int, preset("Games played side by side.")] = 0
    horizon: Annotated[int, preset("Decisions in each game between two updates.")] = 0
    minibatch: Annotated[int, preset("Decisions in each step of the optimiser.")] = 0
    epochs: Annotated[int, preset("How often each decision is learnt from.")] = 0
    actor: Annotated[str, preset("Width and number of the policy's layers, such as 192x2.")] = ""
    critic: Annotated[str, preset("Width and number of the critic's layers.")] = ""
    whole_table: Annotated[bool, Option(help="PPO: the critic, of use in training only, sees all cards.")] = True
    learning_rate: Annotated[float, Option(help="Of Adam, at the start; falls evenly to a tenth.")] = 5e-4
    entropy: Annotated[float, Option(help="PPO: reward for being undecided, at first; falls evenly to a tenth.")] = 0.01
    discount: Annotated[float, Option(help="PPO: what a reward counts one decision earlier.")] = 0.999
    trace: Annotated[float, Option(help="PPO: how far advantages look beyond the critic (lambda of GAE).")] = 0.95
    clip: Annotated[float, Option(help="PPO: how far one update may change the odds of an action.")] = 0.2
    lookahead: Annotated[bool, Option(help="The policy is given lookahead features of its options.")] = False
    trials: Annotated[int, Option(help="Instead of PPO, try all options for so many turns each; learn from it.")] = 0
    lessons: Annotated[int, Option(help="Decisions copied from merchants before playing by itself.")] = 0
    lesson_rate: Annotated[float, Option(help="Learning rate while copying; falls evenly to nothing.")] = 1e-3
    against: Annotated[str, Option(help="Who fills the tables when the learner is evaluated.")] = "merchant"
    evaluate_every: Annotated[int, preset("Steps between two evaluations.")] = 0
    evaluation_games: Annotated[int, preset("Games of an evaluation, for each player count.")] = 0
    seed: Annotated[int, Option(help="The same seed gives the same training on the same kind of machine.")] = 0
    device: Annotated[str, preset("cpu or cuda.")] = ""
    out: Annotated[Path, Option(help="Folder for the model, its curve and checkpoints.")] = Path("out/train")
    minutes: Annotated[float, Option(help="Stop after so many minutes, if it takes longer; 0: no limit.")] = 0.0
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
