"""TrainingFolder: what a training has left in its folder, for a page. Its files are read as those of strangers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from borneo_agents.policy.model import CARD, WEIGHTS, ModelCard, ModelError, read_card

from borneo_env.files import FileError, on_one_line, parse_json, read_text

CURVE, CHECKPOINTS = "curve.jsonl", "checkpoints"
BY_STEPS = re.compile("[0-9]{12,15}")  # the name of a checkpoint
LARGEST = 16 * 2**20  # bytes of a curve; an evaluation takes some 500
MOST_STEPS = 10**15  # decisions of a training
POLICY = "policy"
LONGEST_NAME = 60  # characters that are shown


class Point(NamedTuple):
    """A measure after so many decisions, with the ends of its 95 % interval; None where one is not known."""

    steps: int
    value: float
    low: float | None
    high: float | None

    @property
    def interval(self) -> str:
        if self.low is None or self.high is None:
            return next(
                (f"{side} {end:.3f}" for side, end in (("above", self.low), ("below", self.high)) if end is not None),
                "",
            )
        return f"{self.low:.3f} to {self.high:.3f}"


Curves = dict[str, dict[str, list[Point]]]  # by measure, and by who it was measured against


class Learnt(NamedTuple):
    """A model of a training."""

    name: str  # what it is called at a table
    agent: str  # the same as an agent, with its arguments
    card: ModelCard | None
    trouble: str  # why it cannot be played against


class TrainingFolder:
    """The folder of a training; raises FileError if it is none. It may still learn: all is read when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        if not (path / CURVE).is_file() and not self.models():
            raise FileError(path, f"is no folder of a training: there is no {CURVE}, and no model such as best")
        if ":" in str(self.path):
            raise FileError(path, "has a colon in its path, which names of agents cannot have; move it")

    def models(self) -> list[Learnt]:
        """The models in it: those with names, such as `best`, then those of its checkpoints."""
        named = {one.name: one for one in _inside(self.path)}
        measured = {f"at {int(one.name):,}": one for one in _inside(self.path / CHECKPOINTS)
                    if BY_STEPS.fullmatch(one.name)}  # fmt: skip
        return [_learnt(name, folder) for name, folder in (named | measured).items()]

    def opponents(self) -> dict[str, str]:
        """The models that can play, as agents: what they are called, and their names with arguments."""
        return {model.name: model.agent for model in self.models() if model.card}

    def curves(self) -> Curves:
        """What was measured in the training, in the order of its evaluations."""
        if not (self.path / CURVE).is_file():
            return {}
        curves: Curves = {}
        try:
            for line in read_text(self.path / CURVE, LARGEST).splitlines():
                entry = parse_json(line)
                for measured in entry["strength"]:
                    lines = curves.setdefault(_short(measured["measure"]), {})
                    lines.setdefault(_table(measured), []).append(_point(int(entry["steps"]), measured))
        except FileError:
            raise
        except Exception:  # what is no curve of ours can raise nearly anything
            raise FileError(self.path / CURVE, "holds no curve of a training") from None
        return curves


def _inside(folder: Path) -> list[Path]:
    """The folders of models in a folder."""
    folders = sorted(folder.iterdir()) if folder.is_dir() else []
    return [one for one in folders if (one / CARD).is_file() and (one / WEIGHTS).is_file()]


def _learnt(name: str, folder: Path) -> Learnt:
    called, agent = f"{POLICY} {on_one_line(name, 24)}", f"{POLICY}:{folder}"
    try:
        return Learnt(called, agent, read_card(folder / CARD), "")
    except ModelError as error:
        return Learnt(called, agent, None, str(error).removeprefix(f"{on_one_line(str(folder / CARD))}: "))


def _table(measured: dict[str, Any]) -> str:
    return f"{int(measured['players']) - 1} {_short(measured['against'])}"


def _point(steps: int, measured: dict[str, Any]) -> Point:
    if not 0 <= steps < MOST_STEPS:
        raise ValueError("nothing learns from so many decisions")
    value = float(measured["value"])
    low, high = (None if measured[end] is None else float(measured[end]) for end in ("low", "high"))
    return Point(steps, value, low, high)


def _short(name: Any) -> str:
    return on_one_line(str(name), LONGEST_NAME)
