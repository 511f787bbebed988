"""Tells on stderr that something is being compiled: in a line, and in a terminal by a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from kontor.compile.digest import UnknownConstant, reached_from

BYTE_SECONDS = 0.0006  # about what a byte of byte code takes
SHORT = 2.0  # seconds that need no word but the first


class CompileProgress:
    """Is told of every function that is compiled, and counts those of an entry."""

    def __init__(self) -> None:
        self.heard: Callable[[str], None] | None = None  # called with each function's name instead of telling
        self._told = False
        self._entry: Any = None
        self._bar: Any = None

    def started(self, function: Any) -> None:
        if self._entry is None:
            self._entry, self._left = function, _sizes_left(function)
            seconds = sum(self._left.values()) * BYTE_SECONDS
            if self.heard is None and not (self._told and seconds < SHORT):
                self._tell(seconds)

    def finished(self, function: Any) -> None:
        if self.heard is not None:
            self.heard(function.__name__)
        if self._bar is not None:
            self._bar.update(self._task, advance=self._left.pop(function, 0), refresh=True)
        if function is self._entry:
            if self._bar is not None:
                self._bar.stop()
            self._entry = self._bar = None

    def _tell(self, seconds: float) -> None:
        self._told = True
        package = str(self._entry.__module__).partition(".")[0]
        words = f"{package}: compiling, about {max(1, seconds):.0f} s, once per version and machine"
        print(words, file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task("compiling", total=sum(self._left.values()))
            self._bar.start()


def _bar() -> Any:
    from rich.console import Console  # which takes a while, and few need it
    from rich.progress import Progress

    return Progress(console=Console(stderr=True), transient=True, auto_refresh=False, redirect_stdout=False)


def _sizes_left(entry: Any) -> dict[Any, int]:
    """The functions that have to be compiled for an entry, with the sizes of their byte code: what each takes."""
    try:
        reached = list(reached_from(entry, lambda function: function is not entry and _is_made(function)))
    except UnknownConstant:
        reached = [entry]
    return {one: len(one.py_func.__code__.co_code) for one in reached if hasattr(one, "is_kept") and not _is_made(one)}


def _is_made(function: Any) -> bool:
    return hasattr(function, "is_kept") and bool(function.overloads or function.is_kept())


progress = CompileProgress()
