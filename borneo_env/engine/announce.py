"""Tells on stderr what is being compiled and how long it will take: a bar in a terminal, some lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

from numba.core import event

from borneo_env.engine.digest import UnknownConstant, reached_from
from borneo_env.engine.parts import Compiled

FUNCTION_SECONDS = 0.15  # about what a function takes, until it is known better
OPTIMIZING = 0.25  # what is left to do when all functions have been read, as a part of that
SHORT = 2.0  # seconds that need no announcement but the first
BETWEEN_LINES = 10.0  # seconds, where there is no terminal
BAR = 24


class Announcer(event.Listener):  # type: ignore[misc]  # Numba has no types
    """Hears of every function that Numba compiles, and counts those of an entry that is compiled."""

    def __init__(self) -> None:
        self.heard: Callable[[str], None] | None = None  # called with each function's name instead of telling
        self._announced = False
        self._entry: Any = None

    def on_start(self, compilation: Any) -> None:
        function = compilation.data["dispatcher"]
        if self._entry is None and isinstance(function, Compiled):
            self._entry, self._begun, self._told = function, monotonic(), monotonic()
            self._done = set[Any]()  # a function may be compiled for several types
            self._total = _functions_left(function)
            if self.heard is None:
                self._announce(function.__name__)

    def on_end(self, compilation: Any) -> None:
        function = compilation.data["dispatcher"]
        if not isinstance(function, Compiled):
            return
        self._done.add(function)
        if self.heard is not None:
            self.heard(function.__name__)
        elif function is self._entry:
            _show("")
        else:
            self._tell()
        if function is self._entry:
            self._entry = None

    def _announce(self, name: str) -> None:
        seconds = self._total * (1 + OPTIMIZING) * FUNCTION_SECONDS
        if self._announced and seconds < SHORT:
            return
        self._announced = True
        print(
            f"borneo_env: compiling {name} for this machine, about {seconds:.0f} s, once per version", file=sys.stderr
        )
        sys.stderr.flush()

    def _tell(self) -> None:
        name, done = self._entry.__name__, len(self._done)
        total = max(self._total, done)
        passed, now = monotonic() - self._begun, monotonic()
        if passed < SHORT:
            return
        left = passed / done * (total - done + OPTIMIZING * total)
        words = f"compiling {name}: {done} of {total} functions, about {left:.0f} s left"
        if sys.stderr.isatty():
            filled = round(BAR * done / (total * (1 + OPTIMIZING)))
            _show(f"{'█' * filled}{'░' * (BAR - filled)} {words}")
        elif now - self._told > BETWEEN_LINES:
            self._told = now
            print(f"borneo_env: {words}", file=sys.stderr, flush=True)


def _functions_left(entry: Any) -> int:
    """How many functions have to be compiled for an entry."""
    try:
        reached = list(reached_from(entry, lambda function: function is not entry and _is_made(function)))
    except UnknownConstant:
        return 1
    return sum(isinstance(function, Compiled) and not _is_made(function) for function in reached)


def _is_made(function: Any) -> bool:
    return isinstance(function, Compiled) and bool(function.overloads or function.is_kept())


def _show(line: str) -> None:
    """Write over the last line of a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()
