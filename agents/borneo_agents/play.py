"""A game for people at the terminal, against agents or each other.

`Game` is the game with its record so far; it can be saved and continued. `Table` is what people see of it and type.
"""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from borneo_agents.options import options
from borneo_env.agent import UnknownAgent, Views, check_registered, find_agent
from borneo_env.engine.batch import Batch
from borneo_env.engine.hidden import SPECTATOR, redact
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import COMMIT, DEFEND, NOBODY, TRADERS
from borneo_env.files import FileError, in_short, on_one_line, parse_json, read_text, write_file
from borneo_env.record import (
    LARGEST_FILE,
    Line,
    Moment,
    header,
    read_ruleset,
    result_line,
    step_and_record,
)
from borneo_env.render.terminal import ansi
from borneo_env.ruleset import Ruleset
from borneo_env.story import Teller

HUMAN = "human"
FORMAT = "borneo-play/1"
RECENT = 12  # lines of the story that are told again when a game goes on
CLEAR = "\x1b[2J\x1b[3J\x1b[H"
FIRST = np.array([0])
TELLTALE = (TRADERS, COMMIT, DEFEND)  # phases in which it depends on the hand whether there is a choice
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


class SaveError(ValueError):
    """A file that holds no saved game, or one that cannot have been."""


class AgentFailed(ValueError):
    """An agent at the table did not play as it should."""


class Quit(Exception):
    """Somebody at the keyboard wants to stop for now."""


class Stopped(Exception):
    """Nobody can type any more: the input has ended, or the program is told to end."""


# ---------------------------------------------------------------- the game


class Game:
    """A game between people and agents, with its record so far."""

    def __init__(self, ruleset: Ruleset, seats: Sequence[str], seed: int) -> None:
        if len(seats) != ruleset.players:
            raise UnknownAgent(f"{len(seats)} seats are named; a game of {ruleset.players} has {ruleset.players}")
        self.seats = list(seats)
        self.names = [f"{on_one_line(name)} {seat}" for seat, name in enumerate(seats)]
        self.agents = {seat: find_agent(name) for seat, name in enumerate(seats) if name != HUMAN}
        self.batch = Batch(1, ruleset, seed=seed, finished="hold", skip_forced=False, threads=1)
        self.lines: list[Line] = [header(ruleset, self.batch.games[0], seats, seed)]
        self.told: list[str] = []
        self._teller = Teller()

    @property
    def player(self) -> int:
        """Who decides, -1 when the game is over."""
        return int(self.batch.player[0])

    @property
    def over(self) -> bool:
        return self.player == NOBODY

    @property
    def humans(self) -> list[int]:
        return [seat for seat, name in enumerate(self.seats) if name == HUMAN]

    def advance(self) -> None:
        """Play what needs no person, up to a person's decision or the end."""
        while not self.over and not self._asks_a_person():
            forced = int(self.batch.forced()[0])
            self.play(self._agents_choice() if forced == NO_ACTION else forced)

    def _asks_a_person(self) -> bool:
        """A person with a single option is asked too where the others would learn from it that there was no choice."""
        if self.player in self.agents:
            return False
        return bool(self.batch.forced()[0] == NO_ACTION or (len(self.humans) > 1 and self.batch.phase[0] in TELLTALE))

    def play(self, action: int) -> None:
        """Make a legal move, and write and tell it."""
        before, written = self.batch.games[0].copy(), len(self.lines)
        step_and_record(self.batch, np.array([action]), [self.lines])
        if self.over:
            self.lines.append(result_line(self.batch))
        for number, line in enumerate(self.lines[written:], start=written + 1):
            kind = next((kind for kind in ("move", "shuffle") if kind in line), "result")
            moment = Moment(kind, number, line, before, self.batch)
            self.told += [self.with_names(words) for words in self._teller.tell(moment)]
            before = self.batch.games[0].copy()

    def with_names(self, words: str) -> str:
        """Words with the players' names instead of their numbers."""
        return re.sub(r"\bplayer (\d)\b", lambda number: self.names[int(number[1])], words)

    def _views(self) -> Views:
        return Views(self.batch.ruleset, *self.batch.view(FIRST))

    def _agents_choice(self) -> int:
        name = self.names[self.player]
        try:
            action = int(np.asarray(self.agents[self.player].act(self._views()))[0])
        except Exception as error:
            raise AgentFailed(f"{name} failed: {on_one_line(f'{type(error).__name__}: {error}')}") from None
        if not (0 <= action < self.batch.mask.shape[1] and self.batch.mask[0, action]):
            raise AgentFailed(f"{name} wanted to play action {action}, which is not legal")
        return action

    # ------------------------------------------------------------ saving

    def save(self, path: Path) -> None:
        """Write the game so far; if that fails, what was saved before stays as it is."""
        write_file(path, json.dumps({"format": FORMAT, "record": self.lines}))

    @classmethod
    def load(cls, path: Path, *, trusted: bool = False) -> Game:
        """The game saved in a file. The file is only parsed: every move is checked and made again.

        Only if it is `trusted` may its seats name other agents than registered ones, whose code is then run.
        """
        lines = _saved_lines(path)
        try:
            ruleset = read_ruleset(lines[0])
            seats, seed = lines[0].get("agents"), lines[0].get("seed")
            if not isinstance(seats, list) or not all(isinstance(name, str) for name in seats):
                raise SaveError("agents: should be a list of names")
            if type(seed) is not int:
                raise SaveError(f"seed: should be a whole number, not {in_short(seed)}")
            if not trusted:
                _check_seats(seats)
            game = cls(ruleset, seats, seed)
            game._compare(lines[:1])
            for number, line in enumerate(lines[1:], start=2):
                if "move" in line:
                    game._repeat(number, line)
            game._compare(lines)
        except ValueError as error:
            raise SaveError(f"{on_one_line(str(path))}: {on_one_line(str(error))}") from None
        return game

    def _repeat(self, number: int, line: Line) -> None:
        if self.over or line.get("player") != self.player or not isinstance(line["move"], str):
            raise SaveError(f"line {number}: {in_short(line)} cannot come next")
        if self.player in self.agents and self.batch.forced()[0] == NO_ACTION:
            self._views()  # the dice that the agent had
        phase = self.batch.phase_name()
        try:
            action = self.batch.actions.action(line["move"], phase)
        except ValueError:
            raise SaveError(f"line {number}: {in_short(line['move'])} is not a move of the phase {phase}") from None
        self.play(action)

    def _compare(self, lines: Sequence[Line]) -> None:
        """The same seed and the same moves must have given the same game."""
        for number, (saved, made) in enumerate(zip(lines, self.lines, strict=False), start=1):
            if json.dumps(saved) != json.dumps(made):
                raise SaveError(f"line {number}: is not what this version of the game makes of the moves before it")
        if len(lines) > len(self.lines):
            raise SaveError(f"line {len(self.lines) + 1}: is too much")


def _saved_lines(path: Path) -> list[Line]:
    where = on_one_line(str(path))
    try:
        saved = parse_json(read_text(path, LARGEST_FILE))
    except FileError as error:
        raise SaveError(f"{error}; a saved game is what `borneo play` has written") from None
    except ValueError as error:
        raise SaveError(f"{where}: is not JSON: {on_one_line(str(error))}") from None
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise SaveError(f"{where}: is no saved game ({FORMAT})")
    lines = saved.get("record")
    if not isinstance(lines, list) or not lines or not all(isinstance(line, dict) for line in lines):
        raise SaveError(f"{where}: holds no record")
    return lines


def _check_seats(seats: Sequence[str]) -> None:
    try:
        for name in seats:
            if name != HUMAN:
                check_registered(name)
    except UnknownAgent as error:
        raise SaveError(f"{error}; if you trust the file, continue it with --trust") from None


# ---------------------------------------------------------------- the people


class Table:
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
                while True:
                    try:
                        return self._play()
                    except Quit:
                        if self._save():
                            return False
                        self._say("The game goes on. Try again, or press Ctrl-D to end it without saving.")
            except (Stopped, KeyboardInterrupt):
                self.game.save(self.save_to)
                with suppress(OSError):  # the terminal may be gone
                    self._say_saved()
                return False
            except BaseException:
                with suppress(OSError):
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
            raise Stopped
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
