"""A game at the terminal: what people see of it, and type."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any, TextIO

from borneo_agents.human.game import Game
from borneo_agents.human.options import options
from borneo_env.engine.hidden import redact
from borneo_env.engine.state import SPECTATOR
from borneo_env.files import FileError, in_short, on_one_line
from borneo_env.render.terminal import ansi

RECENT = 12  # lines of the story that are told again when a game goes on
CLEAR = "\x1b[2J\x1b[3J\x1b[H"
STOPS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

HELP = """\
Type the number of an option and press Enter. The choice is shown; Enter confirms it, u takes it back.
  ?   this help
  b   the board again
  h   what has happened in the whole game
  s   save and go on
  q   save and quit; `borneo play --continue FILE` goes on
Cards are written as [top row / bottom row, spice]. Earlier cards at a port show their top row only.
All rules are in RULES.md, which comes with the package."""


class Quit(Exception):
    """Somebody at the keyboard wants to stop for now."""


class Stopped(Exception):
    """The program is told to end."""


class Terminal:
    """What people see and type. Without a terminal there are no colours, and nothing is cleared."""

    def __init__(self, game: Game, save_to: Path, *, typed: TextIO, shown: TextIO, confirm: bool = True) -> None:
        self.game = game
        self.save_to = save_to
        self.confirm = confirm
        self._typed = typed
        self._shown = shown
        self._colour = shown.isatty()
        self._viewer = SPECTATOR  # the person who may be looking
        recent = max(0, len(game.told) - RECENT)
        self._heard = dict.fromkeys([*game.humans, SPECTATOR], recent)  # lines of the story each person has been told

    def run(self) -> bool:
        """Play to the end; False if somebody has quit, or pressed Ctrl-C. Then the game is saved.

        Whatever else ends it, the game is saved first; whoever quits and cannot save is asked on.
        """
        with _stopped_by_signals():
            try:
                return self._play_or_save()
            except Stopped:  # once, but anywhere: even while the game was being saved for another reason
                self._save_to_leave()
                return False

    def _play_or_save(self) -> bool:
        while True:
            try:
                return self._play()
            except Quit:
                if self._save():
                    return False
                self._say("The game goes on. Try again, or press Ctrl-D to end it without saving.")
            except (EOFError, KeyboardInterrupt):
                self._save_to_leave()
                return False
            except Stopped:
                raise
            except BaseException:
                with suppress(OSError):  # the terminal may be gone
                    self._save()
                raise

    def _play(self) -> bool:
        while True:
            self.game.advance()
            if self.game.over:
                break
            self._hand_over()
            self.game.play(self._choose())
        self._show_board(SPECTATOR)
        self._tell_news(self._viewer if len(self.game.humans) == 1 else SPECTATOR)
        return True

    def _say(self, words: str = "") -> None:
        print(words, file=self._shown)

    def _ask(self, prompt: str) -> str:
        print(prompt, end="", file=self._shown, flush=True)
        try:
            line = self._typed.readline()
        except KeyboardInterrupt:
            self._say()
            raise Quit from None
        if not line:
            self._say()
            raise EOFError
        if not self._typed.isatty():
            self._say(on_one_line(line.strip()))  # a terminal shows what is typed
        return line.strip()

    def _hand_over(self) -> None:
        """Before another person looks, the screen is cleared, and waits for them."""
        seat = self.game.player
        if len(self.game.humans) > 1 and seat != self._viewer:
            self._say(CLEAR if self._colour else "\n" * 3)
            self._ask(f"{self.game.names[seat]} is next. Nobody else should look now. Enter when ready: ")
        self._viewer = seat
        self._show_board(seat)
        self._tell_news(seat)

    def _show_board(self, seat: int) -> None:
        game = redact(self.game.batch.games[0], seat)
        last = self.game.lines[-1].get("move", "")
        self._say(ansi(self.game.batch.ruleset, game, seat, last, self.game.names, self._colour))

    def _tell_news(self, seat: int) -> None:
        """What has happened since this person's last decision."""
        for words in self.game.told[self._heard[seat] :]:
            self._say(words)
        self._heard[seat] = len(self.game.told)

    def _choose(self) -> int:
        """The action a person has chosen, and confirmed."""
        choices = options(self.game.batch)
        numbered = {str(number): choice for number, choice in enumerate(choices, start=1)}
        self._list(choices)
        while True:
            typed = self._ask(f"{self.game.names[self.game.player]}, 1 to {len(choices)}, or ? for help: ")
            if typed in self._commands:
                self._commands[typed](self)
                if typed == "b":
                    self._list(choices)
            elif typed not in numbered:
                self._say(f"{in_short(typed)} is no option. Type a number from 1 to {len(choices)}, or ? for help.")
            elif self._confirmed(numbered[typed][1]):
                return numbered[typed][0]

    def _list(self, choices: Sequence[tuple[int, str]]) -> None:
        for number, (_, words) in enumerate(choices, start=1):
            self._say(f"{number:>3}  {self.game.with_names(words)}")

    def _confirmed(self, words: str) -> bool:
        if not self.confirm:
            return True
        while True:
            typed = self._ask(f"You {self.game.with_names(words)}. Enter confirms, u takes it back: ")
            if typed in ("", "u"):
                return typed == ""
            if typed == "q":
                raise Quit
            self._say("Enter confirms the choice, u takes it back, q saves and quits.")

    def _save(self) -> bool:
        """Save, and say so; or say why that failed."""
        try:
            self.game.save(self.save_to)
        except FileError as error:
            self._say(f"Not saved: {error}.")
            return False
        self._say_saved()
        return True

    def _save_to_leave(self) -> None:
        """Save where nobody can be asked any more; raises FileError if that fails."""
        self.game.save(self.save_to)
        with suppress(OSError):  # the terminal may be gone
            self._say_saved()

    def _say_saved(self) -> None:
        self._say(f"Saved. `borneo play --continue {on_one_line(str(self.save_to))}` goes on.")

    def _help(self) -> None:
        self._say(HELP)

    def _board(self) -> None:
        self._show_board(self.game.player)

    def _history(self) -> None:
        for words in self.game.told:
            self._say(words)

    def _quit(self) -> None:
        raise Quit

    _commands: Any = {"?": _help, "b": _board, "h": _history, "s": _save, "q": _quit}  # noqa: RUF012  # never changed


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Being told to end, as when the terminal is closed, raises Stopped in here, once."""

    def stop(*_: Any) -> None:
        for number in STOPS:
            signal.signal(number, signal.SIG_IGN)  # nothing may disturb the saving
        raise Stopped

    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield
        return
    heeded = [number for number in STOPS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def free_name(path: Path) -> Path:
    """This path, or one with a number where no file is yet: saving must not overwrite another game."""
    others = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return next(free for free in chain([path], others) if not free.exists())
