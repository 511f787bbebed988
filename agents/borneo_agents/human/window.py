"""The window of a terminal: what fits into it, and what is typed there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from borneo_env.console import in_colour
from borneo_env.render.text import ESCAPE, WIDTH, wrapped
from kontor.files import on_one_line

CLEAR = "\x1b[2J\x1b[H"
FORGET = "\x1b[3J"  # what has been scrolled away
ROWS = 24  # of a terminal that does not say how many it has
GO_ON = "Enter goes on: "


class Interrupted(Exception):
    """Somebody pressed Ctrl-C at a question."""


class TerminalWindow:
    """Where people look and type. Without a terminal there are no colours and no pages, and nothing is cleared."""

    def __init__(self, typed: TextIO, shown: TextIO) -> None:
        self._typed = typed
        self._shown = shown
        self.is_screen = shown.isatty()
        self._in_colour = in_colour(shown)

    @property
    def rows(self) -> int:
        try:
            return max(2, os.get_terminal_size(self._shown.fileno()).lines or ROWS)
        except (OSError, ValueError):  # no terminal after all, or one without a size
            return ROWS

    def say(self, words: str = "") -> None:
        print(words if self._in_colour else ESCAPE.sub("", words), file=self._shown)

    def clear(self, forget: bool = False) -> None:
        """An empty screen; what was on it cannot be scrolled back to if it is to be forgotten."""
        if self.is_screen:
            print(CLEAR + FORGET * forget, end="", file=self._shown)
        elif forget:
            self.say("\n" * 2)

    def ask(self, prompt: str) -> str:
        """What is typed after a prompt; EOFError at the end of the input."""
        print(prompt if self._in_colour else ESCAPE.sub("", prompt), end="", file=self._shown, flush=True)
        try:
            line = self._typed.readline()
        except KeyboardInterrupt:
            self.say()
            raise Interrupted from None
        if not line:
            self.say()
            raise EOFError
        if not self._typed.isatty():
            self.say(on_one_line(line.strip()))  # a terminal shows what is typed
        return line.strip()

    def read_pages(self, lines: Sequence[str]) -> bool:
        """Show lines page by page, and wait after each; whether they were read to the end, or left with q."""
        rows = self.rows - 1
        for start in range(0, len(lines), rows) if self.is_screen else [0]:
            self.clear()
            for line in lines[start : start + rows] if self.is_screen else lines:
                self.say(line)
            if self.is_screen and self.ask(GO_ON) == "q":
                return False
        return True


def fitted(lines: Sequence[str]) -> list[str]:
    """Lines that are no wider than the board."""
    return [part for line in lines for part in wrapped(line, WIDTH)]
