"""A terminal of a given size over a real pty: what stands on its screen, and somebody who types.

The reader knows what `borneo play` writes: text, ends of lines, colours, and clearing the screen. Anything else fails.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import termios
import threading
from pathlib import Path

from borneo_agents.human.game import Game
from borneo_agents.human.terminal import Terminal

ESCAPES = re.compile(r"\x1b\[(2J|3J|H|[0-9;]*m)")
SECONDS = 20  # a screen that does not come until then never will


class Screen:
    """The rows of a terminal, as somebody who looks at it sees them."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.height = columns, rows
        self.rows = [""]
        self._pending = ""

    def feed(self, text: str) -> None:
        text = self._pending + text
        cut = re.search(r"\x1b(\[[0-9;]*)?$", text)  # an escape that is not complete yet
        self._pending = text[cut.start() :] if cut else ""
        at = 0
        text = text[: len(text) - len(self._pending)]
        while at < len(text):
            escape = ESCAPES.match(text, at)
            if escape:
                self._obey(escape[1])
                at = escape.end()
            else:
                self._write(text[at])
                at += 1

    def _obey(self, order: str) -> None:
        if order in ("2J", "H"):
            self.rows = [""]

    def _write(self, letter: str) -> None:
        if letter == "\n":
            self.rows.append("")
        elif letter != "\r":
            assert letter.isprintable(), f"{letter!r} is not for a terminal"
            if len(self.rows[-1]) == self.columns:
                self.rows.append("")
            self.rows[-1] += letter
        del self.rows[: -self.height]  # what is scrolled out of sight

    @property
    def text(self) -> str:
        return "\n".join(self.rows)


class Seat:
    """Somebody in front of a terminal in which a game runs, in a thread of its own: reads the screen and types."""

    def __init__(self, game: Game, save_to: Path, *, columns: int = 80, rows: int = 24, confirm: bool = True) -> None:
        self.game = game
        self.screen = Screen(columns, rows)
        self.finished: bool | None = None
        self._hung_up = False
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._reading = open(os.dup(slave), encoding="utf-8")  # noqa: SIM115
        self._writing = open(slave, "w", encoding="utf-8")  # noqa: SIM115
        terminal = Terminal(game, save_to, typed=self._reading, shown=self._writing, confirm=confirm)
        self._thread = threading.Thread(target=self._run, args=(terminal,))

    def __enter__(self) -> Seat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        while self._thread.is_alive():
            os.write(self._master, b"\x04")  # the end of the input
            self._read(0.05)
        for file in (self._reading, self._writing):
            file.close()
        os.close(self._master)

    def _run(self, terminal: Terminal) -> None:
        try:
            self.finished = terminal.run()
        finally:
            self._writing.flush()

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            self.screen.feed(os.read(self._master, 65536).decode(errors="replace"))
        except OSError:  # nobody has the terminal open any more
            self._hung_up = True
        return not self._hung_up

    def wait(self) -> str | None:
        """The screen when something is asked, or None when the game is over."""
        for _ in range(SECONDS * 20):
            running = self._thread.is_alive()
            while self._read(0.0):
                pass
            if not running or self._hung_up:
                return None
            if re.search(r"(\. |: )$", self.screen.rows[-1]):
                return self.screen.text
            self._read(0.05)
        raise AssertionError(f"nothing is asked for {SECONDS} seconds:\n{self.screen.text}")

    def type(self, words: str) -> None:
        os.write(self._master, f"{words}\n".encode())
        self._read(SECONDS)  # the terminal writes it too, so that the same question is not taken for the next
