"""What a training shows on the way: a bar where there is a terminal, lines where there is none."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from borneo_train.run.tasks import Evaluation

STOPPING = "stopping after this update; Ctrl-C again stops at once"


@contextmanager
def interruptible(run: Any, log: Callable[[str], None]) -> Iterator[None]:
    """Ctrl-C tells a run that it is `stopping`; a second one stops at once. Only the main thread can listen."""

    def interrupt(*_: Any) -> None:
        if run.stopping:
            raise KeyboardInterrupt
        run.stopping = True
        log(STOPPING)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class ProgressReporter:
    """Shows how a training goes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = bar_of(console)
        self._training: Any = None

    def __enter__(self) -> ProgressReporter:
        self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._progress.stop()

    def log(self, line: str) -> None:
        self._progress.console.print(line, highlight=False, soft_wrap=True)

    def update(self, part: float, steps: int, speed: float, metrics: dict[str, float]) -> None:
        """Show how far a training is, and how it goes."""
        if self._training is None:
            self._training = self._progress.add_task("training", total=1.0, shown="")
        shown = f"{short(steps)} decisions, {short(speed)}/s, entropy {metrics['entropy']:.2f}"
        self._progress.update(self._training, completed=part, shown=shown)

    def evaluation(self, steps: int, found: list[Evaluation]) -> None:
        for against, measured in groupby(found, lambda one: one.against):
            shown = [f"{one.measure} {one.words} with {one.players} players" for one in measured]
            self.log(f"{steps:,} decisions, against {against}: " + "; ".join(shown))


def bar_of(console: Console) -> Progress:
    """A progress bar whose tasks have a field `shown`, where there is a terminal."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(bar_width=20), TaskProgressColumn(),
        TextColumn("{task.fields[shown]}"), TimeElapsedColumn(), TimeRemainingColumn(),
        console=console, disable=not console.is_terminal,
    )  # fmt: skip


def short(number: float) -> str:
    """A large number in a few letters."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:.0f}"
