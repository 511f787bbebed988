"""An imitation from its lesson to the policy that comes of it: what is told on the way, and what is written."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from borneo_agents.policy.model import CARD
from borneo_agents.statistics.intervals import Estimate

from borneo_env.console import err
from borneo_train.checks import check_one_by_one, filled
from borneo_train.folders import refuse_others
from borneo_train.imitation import Imitator, Lesson
from borneo_train.settings import Settings
from borneo_train.telling import bar_of, short
from borneo_train.training import keep_model, software


class Watching:
    """An imitator, and how far it is."""

    def __init__(self, lesson: Lesson, out: Path, timesteps: int, minutes: float, fresh: bool = False) -> None:
        refuse_others(out)
        if os.path.lexists(out / CARD) and not fresh:
            raise ValueError(f"{out} holds a policy: give another --out, or --fresh to replace it")
        if not (min(timesteps, minutes) >= 0 and max(timesteps, minutes) > 0):
            raise ValueError("--minutes or --timesteps say how long to learn: give a number above 0, and none below")
        self.out, self._timesteps, self._seconds = out, timesteps, 60 * minutes
        self.imitator = Imitator(checked(lesson))
        self.stopping = False

    def run(self, command: str) -> Estimate:
        """Learn to the end, or until somebody stops it, and write the policy; returns its agreement on unseen games."""
        before = signal.signal(signal.SIGINT, self._asked_to_stop)
        try:
            self._learn()
        finally:
            signal.signal(signal.SIGINT, before)
        model = self.imitator.model(command, software())
        keep_model(self.out, model)  # measuring takes a while, and may be cut short
        found = self.imitator.agreement()
        strength = [{"measure": "agreement", **asdict(found)}]
        keep_model(self.out, replace(model, card=replace(model.card, strength=strength)))
        return found

    def _learn(self) -> None:
        began, imitator = time.monotonic(), self.imitator
        with bar_of(err) as bar:
            shown = bar.add_task("watching", total=1.0, told="")
            while (progress := self._progress(began)) < 1 and not self.stopping:
                alike = imitator.watch()
                loss = imitator.learn(progress)
                told = f"{short(imitator.memory.seen)} decisions, {alike:.1%} alike, loss {loss:.2f}"
                bar.update(shown, completed=progress, told=told)

    def _progress(self, began: float) -> float:
        if self._timesteps:
            return min(1.0, self.imitator.memory.seen / self._timesteps)
        return min(1.0, (time.monotonic() - began) / self._seconds)

    def _asked_to_stop(self, *_: Any) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True


def checked(lesson: Lesson) -> Lesson:
    """A lesson with the device's values where none were given; one that cannot be learnt is a ValueError."""
    shared = {entry.name for entry in fields(Lesson)} & {entry.name for entry in fields(Settings)}
    settings = filled(Settings(**{name: getattr(lesson, name) for name in shared}))
    check_one_by_one(settings)
    return replace(lesson, **{name: getattr(settings, name) for name in shared})
