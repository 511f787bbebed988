"""Teller: what a training shows on the way: a bar where there is a terminal, lines where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from borneo_train.report import Row, figure
from borneo_train.settings import Settings
from borneo_train.tasks import Measurement


class Teller:
    def __init__(self, settings: Settings, console: Console) -> None:
        self._settings = settings
        self._console = console
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self._lessons: Any = None
        self._training: Any = None

    def __enter__(self) -> Teller:
        self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._progress.stop()

    def say(self, line: str) -> None:
        self._progress.console.print(line, highlight=False, soft_wrap=True)

    def lesson(self, steps: int, agreed: float) -> None:
        if self._lessons is None:
            self._lessons = self._progress.add_task("copying", total=self._settings.lessons, speed="")
        self._progress.update(self._lessons, completed=steps, speed=f"as the merchant: {agreed:.0%}")
        if not self._console.is_terminal:
            self.say(f"lesson {steps:,}: plays as the merchant in {agreed:.1%} of decisions")

    def steps(self, steps: int) -> None:
        if self._training is None:
            self._training = self._progress.add_task("training", total=self._settings.steps, speed="")
            self._progress.update(self._training, completed=steps)
        task = self._progress.tasks[self._training]
        speed = f"{task.speed:,.0f} steps/s" if task.speed else ""
        self._progress.update(self._training, completed=steps, speed=speed)

    def evaluation(self, steps: int, found: list[Measurement]) -> None:
        for against, measured in groupby(found, lambda one: one.against):
            told = [f"{one.measure} {figure(one)} with {one.players} players" for one in measured]
            self.say(f"{steps:,} steps, against {against}: " + "; ".join(told))

    def comparing(self, rows: Iterator[Row]) -> Iterator[Row]:
        return iter(self._progress.track(rows, description="comparing with the bots", total=None))
