"""Tells on stderr what is being compiled and how long it will take: a bar in a terminal, some lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

from numba.core import event

from borneo_env.compile.digest import UnknownConstant, reached_from
from borneo_env.compile.linking import Compiled

BYTE_SECONDS = 0.0006  # what a byte of byte code takes on a machine that is not known yet
KNOWN = 500  # bytes from which on what this machine takes counts more than what is known of it before
OPTIMIZING = 0.1  # what is left to do when all functions have been read, as a part of that
SHORT = 2.0  # seconds that need no announcement but the first
BETWEEN_LINES = 10.0  # seconds, where there is no terminal
BAR = 24
WHAT = {"borneo_env": "the rules", "borneo_agents": "the bots", "borneo_train": "the networks"}


class Announcer(event.Listener):  # type: ignore[misc]  # Numba has no types
    """Hears of every function that Numba compiles, and counts those of an entry that is compiled."""

    def __init__(self) -> None:
        self.heard: Callable[[str], None] | None = None  # called with each function's name instead of telling
        self._announced = False
        self._entry: Any = None
        self._byte_seconds = BYTE_SECONDS

    def on_start(self, compilation: Any) -> None:
        function = compilation.data["dispatcher"]
        if self._entry is None and isinstance(function, Compiled):
            self._entry, self._begun, self._told = function, monotonic(), monotonic()
            self._done = set[Any]()  # a function may be compiled for several types
            self._sizes = _sizes_left(function)
            self._total = sum(self._sizes.values()) * (1 + OPTIMIZING)
            if self.heard is None:
                self._announce()

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
            if self._total > KNOWN:
                self._byte_seconds = (monotonic() - self._begun) / self._total
            self._entry = None

    def _announce(self) -> None:
        seconds = self._total * self._byte_seconds
        if self._announced and seconds < SHORT:
            return
        self._announced = True
        print(
            f"borneo_env: compiling {_what(self._entry)}, about {max(1, seconds):.0f} s, once per version and machine",
            file=sys.stderr,
        )
        sys.stderr.flush()

    def _tell(self) -> None:
        passed, now = monotonic() - self._begun, monotonic()
        if passed < SHORT:
            return
        done = sum(self._sizes.get(function, 0) for function in self._done)
        byte_seconds = (passed + KNOWN * self._byte_seconds) / (done + KNOWN)
        left = max(0.0, byte_seconds * self._total - passed)
        part = done / max(1.0, self._total)
        words = f"compiling {_what(self._entry)}: {part:.0%}, about {left:.0f} s left"
        if sys.stderr.isatty():
            filled = round(BAR * part)
            _show(f"{'█' * filled}{'░' * (BAR - filled)} {words}")
        elif now - self._told > BETWEEN_LINES:
            self._told = now
            print(f"borneo_env: {words}", file=sys.stderr, flush=True)


def _what(entry: Any) -> str:
    """What an entry belongs to, in words of people who play."""
    return WHAT.get(str(entry.__module__).partition(".")[0], "functions")


def _sizes_left(entry: Any) -> dict[Any, int]:
    """The functions that have to be compiled for an entry, with the sizes of their byte code: what each takes."""
    try:
        reached = list(reached_from(entry, lambda function: function is not entry and _is_made(function)))
    except UnknownConstant:
        reached = [entry]
    left = (function for function in reached if isinstance(function, Compiled) and not _is_made(function))
    return {function: len(function.py_func.__code__.co_code) for function in left}


def _is_made(function: Any) -> bool:
    return isinstance(function, Compiled) and bool(function.overloads or function.is_kept())


def _show(line: str) -> None:
    """Write over the last line of a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()
