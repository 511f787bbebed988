"""TrainingFolder: what a training has left in its folder, for a page. Its files are read as those of strangers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from borneo_agents.policy.model import CARD, WEIGHTS, ModelCard, ModelError, read_card

from kontor.files import FileError, on_one_line, parse_json, read_bytes, read_text

CURVE, PICTURE, CHECKPOINTS = "curve.jsonl", "curve.png", "checkpoints"
BY_STEPS = re.compile("[0-9]{12,15}")  # the name of a checkpoint
LARGEST = 16 * 2**20  # bytes of a curve, or of its picture; an evaluation takes some 500
MOST_STEPS = 10**15  # decisions of a training
PNG = b"\x89PNG\r\n\x1a\n"  # how such a picture begins
POLICY = "policy"
LONGEST_NAME = 80  # characters that are shown


class Point(NamedTuple):
    """A measure after so many decisions, and its 95 % interval as far as it is known, as words."""

    steps: int
    value: float
    interval: str


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
        curves: Curves = {}
        file = self.path / CURVE
        with holding(file, "curve of a training"):
            for line in read_text(file, LARGEST).splitlines() if file.is_file() else []:
                entry = parse_json(line)
                for measured in entry["strength"]:
                    lines = curves.setdefault(short(measured["measure"]), {})
                    lines.setdefault(_table(measured), []).append(_point(int(entry["steps"]), measured))
        return curves

    def picture(self) -> bytes | None:
        """The picture that the training has drawn of its curve; None if there is none."""
        try:
            content = read_bytes(self.path / PICTURE, LARGEST)
        except FileError:
            return None
        return content if content.startswith(PNG) else None


@contextmanager
def holding(file: Path, what: str) -> Iterator[None]:
    """What is read within holds something, or raises FileError: what is none of ours can raise nearly anything."""
    try:
        yield
    except FileError:
        raise
    except Exception:
        raise FileError(file, f"holds no {what}") from None


def short(name: Any) -> str:
    """A name as it may be shown."""
    return on_one_line(str(name), LONGEST_NAME)


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
    return f"{int(measured['players']) - 1} {short(measured['against'])}"


def _point(steps: int, measured: dict[str, Any]) -> Point:
    if not 0 <= steps < MOST_STEPS:
        raise ValueError("nothing learns from so many decisions")
    low, high = (None if measured[end] is None else f"{float(measured[end]):.3f}" for end in ("low", "high"))
    both = f"{low} to {high}" if low and high else f"above {low}" if low else f"below {high}" if high else ""
    return Point(steps, float(measured["value"]), both)
