"""A desk: what a training on a cluster leaves with the machine of the command.

Any machine may have the first process of such a training, and may be lost. So that process works in a folder of its
own, and sends what changes there to the desk, which has the folder that the user named. What it tells goes the same
way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from borneo_train.checkpoint import FOLDER as CHECKPOINTS
from borneo_train.checkpoint import PART
from borneo_train.folders import clear_folder, move_folder, remove_file, write_here
from borneo_train.report import Row
from borneo_train.tasks import Measurement
from borneo_train.telling import Teller
from borneo_train.training import FILES, FOLDERS, Training

Files = dict[str, bytes]  # by their paths in the folder of a training


class Desk:
    """Beside the command: keeps files, and what is told until the command asks for it."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._told: list[tuple[str, tuple[Any, ...]]] = []
        self._stopping = False
        self._begun = 0

    def begin(self) -> int:
        """How often the training has begun before."""
        self._begun += 1
        return self._begun - 1

    def fetch(self) -> Files:
        """All files of the training."""
        return {path: (self._folder / path).read_bytes() for path in paths(self._folder)}

    def keep(self, files: Files, gone: list[str]) -> None:
        """Write what is new, checkpoints whole or not at all, and remove what is gone."""
        for path in (*files, *gone):
            if Path(path).parts[0] not in (*FILES, *FOLDERS) or ".." in Path(path).parts:
                raise ValueError(f"a training has no file {path!r}")
        checkpoints = {path: content for path, content in files.items() if Path(path).parts[0] == CHECKPOINTS}
        for name in sorted({Path(path).parts[1] for path in checkpoints}):
            part = self._folder / CHECKPOINTS / (name + PART)
            clear_folder(part, ())
            for path, content in checkpoints.items():
                if Path(path).parts[1] == name:
                    (part / Path(path).name).write_bytes(content)
            move_folder(part, self._folder / CHECKPOINTS / name)
        for path in files.keys() - checkpoints.keys():
            (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_here(self._folder / path, files[path])
        for path in gone:
            remove_file(self._folder / path)
            if Path(path).parts[0] == CHECKPOINTS and not any((self._folder / path).parent.iterdir()):
                (self._folder / path).parent.rmdir()

    def tell(self, what: str, *about: Any) -> bool:
        """Keep what a teller is to say; returns whether somebody has stopped the training."""
        self._told.append((what, about))
        return self._stopping

    def heard(self) -> list[tuple[str, tuple[Any, ...]]]:
        """What was told since this was last asked."""
        told, self._told = self._told, []
        return told

    def stop(self) -> None:
        self._stopping = True


class Mirror:
    """In the first process: sends what has changed in its folder to the desk."""

    def __init__(self, ray: Any, desk: Any, folder: Path) -> None:
        self._ray, self._desk, self._folder = ray, desk, folder
        self._sent = self._state()

    def send(self) -> None:
        """Send what is new, and wait until it is written."""
        now = self._state()
        new = {path: (self._folder / path).read_bytes() for path in now if now[path] != self._sent.get(path)}
        gone = sorted(self._sent.keys() - now.keys())
        if new or gone:
            self._ray.get(self._desk.keep.remote(new, gone))
        self._sent = now

    def _state(self) -> dict[str, tuple[int, int]]:
        """What tells whether a file has changed."""
        found = {path: (self._folder / path).stat() for path in paths(self._folder)}
        return {path: (about.st_mtime_ns, about.st_size) for path, about in found.items()}


def paths(folder: Path) -> Iterator[str]:
    """The files of a training, and nobody else's; what is half written is left out."""
    for name in FILES:
        if (folder / name).is_file():
            yield name
    for name in FOLDERS:
        for file in sorted((folder / name).rglob("*")):
            if file.is_file() and not file.parent.name.endswith(PART):
                yield str(file.relative_to(folder))


class TellerAfar(Teller):
    """Tells the desk, which knows whether somebody has stopped the training."""

    def __init__(self, ray: Any, desk: Any) -> None:
        self._ray, self._desk = ray, desk
        self.training: Training | None = None

    def __enter__(self) -> TellerAfar:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def say(self, line: str) -> None:
        self._tell("say", line)

    def update(self, part: float, steps: int, speed: float, figures: dict[str, float]) -> None:
        self._tell("update", part, steps, speed, figures)

    def evaluation(self, steps: int, found: list[Measurement]) -> None:
        self._tell("evaluation", steps, found)

    def comparing(self, rows: Iterator[Row]) -> Iterator[Row]:
        self._tell("say", "comparing with the bots")
        return rows

    def _tell(self, what: str, *about: Any) -> None:
        stopping = self._ray.get(self._desk.tell.remote(what, *about))
        if self.training:
            self.training.stopping = stopping
