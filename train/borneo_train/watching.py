"""A lesson from its beginning to the policy that comes of it: what is told on the way, and what is written."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer
from borneo_agents.policy.model import CARD, Model
from borneo_agents.statistics.intervals import Estimate

from borneo_env.console import err
from borneo_train.checks import check_one_by_one, filled
from borneo_train.folders import refuse_others
from borneo_train.settings import Settings
from borneo_train.telling import bar_of, in_percent
from borneo_train.training import STOPPING, keep_model, software

Lesson = TypeVar("Lesson", bound=Any)


class Pupil(Protocol):
    """Whoever learns: an imitator, or an appraiser."""

    measure: str  # what is measured at the end

    @property
    def seen(self) -> int:
        """Decisions or tables so far."""
        ...

    def study(self, progress: float) -> str: ...

    def measured(self) -> Estimate: ...

    def model(self, command: str, software: dict[str, str]) -> Model: ...


class Watching:
    """A pupil, and how far it is."""

    def __init__(
        self, make: Callable[[], Pupil], out: Path, timesteps: int, minutes: float, fresh: bool = False
    ) -> None:
        refuse_others(out)
        if os.path.lexists(out / CARD) and not fresh:
            raise ValueError(f"{out} holds a policy: give another --out, or --fresh to replace it")
        if not (min(timesteps, minutes) >= 0 and max(timesteps, minutes) > 0):
            raise ValueError("--minutes or --timesteps say how long to learn: give a number above 0, and none below")
        self.out, self._timesteps, self._seconds = out, timesteps, 60 * minutes
        self.pupil = make()
        self.stopping = False

    def run_and_tell(self, words: str, as_json: bool) -> None:
        """What the command does: run, and print what was measured; whoever has stopped it gets the usual exit code."""
        found = self.run(shlex.join(["borneo", *sys.argv[1:]]))
        print(json.dumps(asdict(found)) if as_json else f"{in_percent(found)} {words}; play it as policy:{self.out}")
        if self.stopping:
            raise typer.Exit(130)

    def run(self, command: str) -> Estimate:
        """Learn to the end, or until somebody stops it, and write the policy; returns what was measured then."""
        before = signal.signal(signal.SIGINT, self._asked_to_stop)
        try:
            self._learn()
        finally:
            signal.signal(signal.SIGINT, before)
        model = self.pupil.model(command, software())
        keep_model(self.out, model)  # measuring takes a while, and may be cut short
        err.print("measuring it in games it has not seen")
        found = self.pupil.measured()
        strength = [{"measure": self.pupil.measure, **asdict(found)}]
        keep_model(self.out, replace(model, card=replace(model.card, strength=strength)))
        return found

    def _learn(self) -> None:
        began = time.monotonic()
        with bar_of(err) as bar:
            shown = bar.add_task("watching", total=1.0, told="")
            while (progress := self._progress(began)) < 1 and not self.stopping:
                told = self.pupil.study(progress)
                bar.update(shown, completed=progress, told=told)

    def _progress(self, began: float) -> float:
        if self._timesteps:
            return min(1.0, self.pupil.seen / self._timesteps)
        return min(1.0, (time.monotonic() - began) / self._seconds)

    def _asked_to_stop(self, *_: Any) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True
        err.print(STOPPING)


def checked(lesson: Lesson) -> Lesson:
    """A lesson with the device's values where none were given; one that cannot be learnt is a ValueError."""
    shared = {entry.name for entry in fields(lesson)} & {entry.name for entry in fields(Settings)}
    settings = Settings(**{name: getattr(lesson, name) for name in shared})
    settings.check_numbers(shared)
    settings = filled(settings)
    check_one_by_one(settings)
    return replace(lesson, **{name: getattr(settings, name) for name in shared})
