"""A game at the terminal: what people see of it, and type."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any, TextIO

from borneo_agents.human.decision import RULES, HumanDecision, NoOption, decision
from borneo_agents.human.game import Game
from borneo_agents.human.options import in_colours
from borneo_agents.human.window import Interrupted, TerminalWindow, fitted
from borneo_env.engine.hiding import redact
from borneo_env.engine.state import SPECTATOR
from borneo_env.pieces import Pieces, plain
from borneo_env.render.scene import Scene
from borneo_env.render.terminal import board, details, hands, pirates
from borneo_env.render.text import BOLD, WIDTH, length, padded, paint
from borneo_env.rulebook import UnknownRule, find_rules
from borneo_env.story import Told
from kontor.files import FileError, in_short, on_one_line

RECENT = 12  # lines of the story that are told again when a game goes on
ROOMY = 36  # rows from which the board has rules between its parts
STOPS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

HELP = """\
Type what the prompt asks for and press Enter. What cannot be taken back any more is shown before it counts.
  u       take back your last choice, while nobody has learnt of it
  ? R4.7  a rule; ? R4 has all about traders
  h       what has happened in the whole game
  b       the board again
  s       save and go on
  q       save and quit; `borneo play --continue FILE` goes on
A card is its number, its flags (top row/bottom row) and its spice: 17 rrg/b pepper. Earlier cards at a port show \
their top row only. A trader is the number of its player.
The rules for this decision:"""
CONFIRM = "Enter confirms, u takes it back. "
TURNS = "Enter: the next turn. A number: so many turns. q: save and quit. "


class Quit(Exception):
    """Somebody at the keyboard wants to stop for now."""


class Terminated(Exception):
    """The program is told to end."""


class Terminal:
    """What people see and type, or those who watch a game of agents alone."""

    def __init__(self, game: Game, save_to: Path, *, typed: TextIO, shown: TextIO, confirm: bool = True) -> None:
        self.game = game
        self.save_to = save_to
        self.confirm = confirm
        self._window = TerminalWindow(typed, shown)
        self._shown = in_colours(game.batch.ruleset)
        self._viewer = SPECTATOR  # the person who may be looking
        self._note = ""  # what is said at the next question
        recent = max(0, len(game.told) - RECENT)
        self._heard = dict.fromkeys([*game.humans, SPECTATOR], recent)  # lines of the story each person has been told

    def run(self) -> bool:
        """Play to the end; False if somebody has quit, or pressed Ctrl-C. Then the game is saved.

        Whatever else ends it, the game is saved first; whoever quits and cannot save is asked on.
        """
        with _stopped_by_signals():
            try:
                return self._play_or_save()
            except Terminated:  # once, but anywhere: even while the game was being saved for another reason
                self._save_to_leave()
                return False

    def _play_or_save(self) -> bool:
        while True:
            try:
                return self._play() if self.game.humans else self._watch()
            except (Quit, Interrupted):
                if self._save():
                    self._say_saved()
                    return False
                self._note += " The game goes on. Try again, or press Ctrl-D to end it without saving."
            except (EOFError, KeyboardInterrupt):
                self._save_to_leave()
                return False
            except Terminated:
                raise
            except BaseException:
                if self._save():
                    with suppress(OSError):  # the terminal may be gone
                        self._say_saved()
                raise

    def _play(self) -> bool:
        while True:
            self.game.advance()
            if self.game.over:
                break
            self._hand_over()
            self._decide()
        self._show_end(self._viewer if len(self.game.humans) == 1 else SPECTATOR)
        return True

    def _watch(self) -> bool:
        """Agents among themselves, turn by turn; at the end of the input the rest is played without asking."""
        turns = 0
        while not self.game.over:
            if turns == 0:
                turns = self._ask_turns()
            self.game.play_turn()
            turns -= 1
        self._show_end(SPECTATOR)
        return True

    def _ask_turns(self) -> int:
        news = self._page_news(SPECTATOR, [])
        while True:
            try:
                typed = self._ask_below_board(SPECTATOR, [], TURNS, news)
            except EOFError:
                return -1
            if typed == "q":
                raise Quit
            if re.fullmatch(r"[1-9][0-9]{0,5}|", typed):
                return int(typed or 1)
            self._note = f"{in_short(typed)} is no number of turns."

    # ---------------------------------------------------------------- what is shown

    def _scene(self, seat: int) -> Scene:
        """What a person sees; of agents among themselves one sees everything."""
        eyes = seat if self.game.humans else None
        game = self.game.batch.games[0] if eyes is None else redact(self.game.batch.games[0], seat)
        names = ["you" if player == seat else name for player, name in enumerate(self.game.names)]
        return Scene(self.game.batch.ruleset, game, eyes, "", names)

    def _hand_over(self) -> None:
        """Before another person looks, the screen is cleared, and waits for them."""
        seat = self.game.player
        if len(self.game.humans) > 1 and seat != self._viewer:
            self._window.clear(forget=True)
            ready = f"{self.game.names[seat]} is next. Nobody else should look now. Enter when ready: "
            if self._window.ask(ready) == "q":
                raise Quit
        self._viewer = seat

    def _news(self, seat: int) -> list[str]:
        """What has happened since this person's last decision."""
        news = self.game.news(seat, self._heard[seat])
        self._heard[seat] = len(self.game.told)
        return self._lines(news, seat)

    def _lines(self, story: Sequence[Told], seat: int) -> list[str]:
        """Lines of the story with cards as the board has them."""
        return fitted([told.line(self.game.names, seat, self._shown) for told in story])

    def _page_news(self, seat: int, lines: Sequence[str]) -> list[str]:
        """The news; if they have no room beside the board and these lines, they are shown on pages first."""
        news = self._news(seat)
        if self._window.is_screen and len(news) > self._room(seat, lines) and not self._window.read_pages(news):
            raise Quit
        return news

    def _room(self, seat: int, lines: Sequence[str]) -> int:
        """Rows of the window that board, lines and prompt leave free."""
        taken = [*self._board(seat), *lines, *self._noted()]
        return max(0, self._window.rows - len(taken) - 1)

    def _board(self, seat: int) -> list[str]:
        scene = self._scene(seat)
        roomy = not self._window.is_screen or self._window.rows >= ROOMY
        lines = [_status(scene, seat), *board(scene, roomy)]
        if not self.game.humans:  # who watches sees all hands, if they fit
            watched = [*lines, *hands(scene)]
            if not self._window.is_screen or len(watched) < self._window.rows:
                return watched
        return lines

    def _ask_below_board(self, seat: int, lines: Sequence[str], prompt: str, news: Sequence[str]) -> str:
        """News, board, lines and a prompt, all in the window; what is typed then."""
        room = self._room(seat, lines) if self._window.is_screen else len(news)
        self._window.clear()
        for line in (*news[len(news) - room if room < len(news) else 0 :], *self._board(seat), *lines):
            self._window.say(line)
        return self._ask(prompt)

    def _ask(self, prompt: str) -> str:
        """What is typed after a note, if there is one, and a prompt."""
        for line in self._noted():
            self._window.say(line)
        self._note = ""
        return self._window.ask(prompt)

    def _noted(self) -> list[str]:
        if not self._note:
            return []
        return fitted([self._note]) if self._window.is_screen else [self._note]

    def _show_end(self, seat: int) -> None:
        scene = self._scene(seat)
        if self._window.is_screen:
            with suppress(EOFError):  # nobody reads on, but the game is over
                self._window.read_pages(self._news(seat))
        self._window.clear()
        won = seat in scene.winners
        for line in (_status(scene, seat), *board(scene, roomy=False), *details(scene)):
            self._window.say(line)
        self._window.say(paint("You win!" if won and len(scene.winners) == 1 else f"{scene.headline}.", BOLD))
        if not self._window.is_screen:
            for line in self._news(seat):
                self._window.say(line)

    # ---------------------------------------------------------------- a person's choice

    def _decide(self) -> None:
        """Ask a person until a choice is made, or the last one taken back."""
        seat = self.game.player
        asked = decision(self.game.batch, self._scene(seat))
        lines = fitted(asked.lines)
        news = self._page_news(seat, lines)
        prompt = f"{asked.prompt}{', u: undo' if self.game.can_undo else ''}, ?: help. "
        typed = self._ask_below_board(seat, lines, prompt, news)
        while not self._heed(asked, typed):
            again = self._window.is_screen or typed == "b"
            typed = self._ask_below_board(seat, lines, prompt, news) if again else self._ask(prompt)

    def _heed(self, asked: HumanDecision, typed: str) -> bool:
        """Do what was typed; whether the question is answered."""
        if typed.startswith("?"):
            self._help(typed[1:].strip())
        elif typed == "u":
            return self._undo()
        elif typed in self._commands:
            self._commands[typed](self)
        else:
            try:
                actions = asked.parse(typed)
            except NoOption as error:
                self._note = str(error)
                return False
            if not self.confirm or not self.game.is_final(actions) or self._confirmed(("You ", *asked.words(actions))):
                self.game.choose(actions)
                return True
        return False

    def _undo(self) -> bool:
        if not self.game.can_undo:
            self._note = "There is nothing to take back."
            return False
        self.game.undo()
        self._heard = {seat: min(heard, len(self.game.told)) for seat, heard in self._heard.items()}
        self._note = "Taken back."
        return True

    def _confirmed(self, choice: Pieces) -> bool:
        """Whether somebody still wants what cannot be taken back later."""
        seat = self.game.player
        words = plain(choice, self.game.names, seat, self._shown)
        lines = [*hands(self._scene(seat)), *fitted([words])]
        while True:
            if self._window.is_screen:
                typed = self._ask_below_board(seat, lines, CONFIRM, [])
            else:
                self._window.say(words)
                typed = self._ask(CONFIRM)
            if typed in ("", "u"):
                return typed == ""
            if typed == "q":
                raise Quit
            self._note = "Enter confirms the choice, u takes it back, q saves and quits."

    # ---------------------------------------------------------------- commands

    def _save(self) -> bool:
        """Save; whether that worked, and a note why not."""
        try:
            self.game.save(self.save_to)
        except FileError as error:
            self._note = f"Not saved: {error}."
            return False
        return True

    def _save_and_go_on(self) -> None:
        if self._save():
            self._note = f"Saved in {on_one_line(str(self.save_to))}."

    def _save_to_leave(self) -> None:
        """Save where nobody can be asked any more; raises FileError if that fails."""
        self.game.save(self.save_to)
        with suppress(OSError):  # the terminal may be gone
            self._say_saved()

    def _say_saved(self) -> None:
        self._window.say(f"Saved. `borneo play --continue {on_one_line(str(self.save_to))}` goes on.")

    def _help(self, rule: str) -> None:
        try:
            found = [find_rules(rule)] if rule else [find_rules(name) for name in RULES[self.game.batch.phase_name()]]
        except UnknownRule as error:
            self._note = f"{error}."
            return
        lines = [] if rule else HELP.splitlines()
        lines += [f"{name}  {text}" for some in found for name, text in some.items()]
        self._window.read_pages(fitted(lines))

    def _history(self) -> None:
        self._window.read_pages(self._lines(self.game.news(self.game.player), self.game.player))

    def _quit(self) -> None:
        raise Quit

    def _show_again(self) -> None:
        """The board comes again with the question."""

    _commands: Any = {"b": _show_again, "h": _history, "s": _save_and_go_on, "q": _quit}  # noqa: RUF012  # never changed


def _status(scene: Scene, seat: int) -> str:
    """The first line of the board: whose turn it is, and which game this is."""
    whose = f"your turn · {scene.step}" if scene.step and scene.g.turn == seat else scene.whose_turn
    ship = f" · {pirates(scene)}" if scene.ruleset.blackbeard else ""
    left = paint("BORNEO", BOLD) + f"  {whose}{ship}"
    right = scene.title[: max(0, WIDTH - 2 - length(left))]
    return padded(left, WIDTH - len(right)) + right


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Being told to end, as when the terminal is closed, raises Terminated in here, once."""

    def stop(*_: Any) -> None:
        for number in STOPS:
            signal.signal(number, signal.SIG_IGN)  # nothing may disturb the saving
        raise Terminated

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
