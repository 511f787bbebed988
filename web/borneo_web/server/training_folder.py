"""TrainingFolder: what a training has left in its folder, for a page. Its files are read as those of strangers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from borneo_agents.policy.model import CARD, WEIGHTS

from borneo_env.files import FileError, on_one_line, parse_json, read_text

CURVE = "curve.jsonl"
LARGEST = 16 * 2**20  # bytes of a curve; an evaluation takes some 500
POLICY = "policy"
LONGEST_NAME = 60  # characters that are shown


class Point(NamedTuple):
    """A measure after so many decisions, with the ends of its 95 % interval."""

    steps: int
    value: float
    low: float
    high: float


Curves = dict[str, dict[str, list[Point]]]  # by measure, and by who it was measured against


class TrainingFolder:
    """The folder of a training; raises FileError if it is none."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        if not (path / CURVE).is_file() and not self.models():
            raise FileError(path, f"is no folder of a training: there is no {CURVE}, and no model such as best")
        if ":" in str(self.path):
            raise FileError(path, "has a colon in its path, which names of agents cannot have; move it")

    def models(self) -> list[str]:
        """The names of the models in it, such as `best`."""
        folders = self.path.iterdir() if self.path.is_dir() else ()
        return sorted(one.name for one in folders if (one / CARD).is_file() and (one / WEIGHTS).is_file())

    def opponents(self) -> dict[str, str]:
        """The models as agents: what they are called, and their names with arguments."""
        return {f"{POLICY} {on_one_line(name, 16)}": f"{POLICY}:{self.path / name}" for name in self.models()}

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
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            raise FileError(self.path / CURVE, "holds no curve of a training") from None
        return curves


def _table(measured: dict[str, Any]) -> str:
    return f"{int(measured['players']) - 1} {_short(measured['against'])}"


def _point(steps: int, measured: dict[str, Any]) -> Point:
    value = float(measured["value"])
    low, high = (value if measured[end] is None else float(measured[end]) for end in ("low", "high"))
    return Point(steps, value, low, high)


def _short(name: Any) -> str:
    return on_one_line(str(name), LONGEST_NAME)
