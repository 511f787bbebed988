"""A game for people at the terminal, against agents or each other.

`Game` is the game with its record so far; it can be saved and continued. `Table` is what people see of it and type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from borneo_agents.options import options
from borneo_env.agent import UnknownAgent, Views, find_agent
from borneo_env.engine.batch import Batch
from borneo_env.engine.hidden import SPECTATOR, redact
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import NOBODY
from borneo_env.record import (
    LARGEST_FILE,
    Line,
    Moment,
    RecordError,
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
    """Somebody wants to stop for now."""


# ---------------------------------------------------------------- the game


class Game:
    """A game between people and agents, with its record so far."""

    def __init__(self, ruleset: Ruleset, seats: Sequence[str], seed: int) -> None:
        if len(seats) != ruleset.players:
            raise UnknownAgent(f"{len(seats)} seats are named; a game of {ruleset.players} has {ruleset.players}")
        self.seats = list(seats)
        self.names = [f"{name} {seat}" for seat, name in enumerate(seats)]
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
        while not self.over:
            forced = int(self.batch.forced()[0])
            if forced != NO_ACTION:
                self.play(forced)
            elif self.player in self.agents:
                self.play(self._agents_choice())
            else:
                return

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
            raise AgentFailed(f"{name} failed: {type(error).__name__}: {error}") from None
        if not (0 <= action < self.batch.mask.shape[1] and self.batch.mask[0, action]):
            raise AgentFailed(f"{name} wanted to play action {action}, which is not legal")
        return action

    # ------------------------------------------------------------ saving

    def save(self, path: Path) -> None:
        """Write the game so far."""
        saved = {"format": FORMAT, "record": self.lines}
        unfinished = path.with_name(f".{path.name}.saving")
        unfinished.write_text(json.dumps(saved), encoding="utf-8")
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path) -> Game:
        """The game saved in a file. The file is only parsed: every move is checked and made again."""
        lines = _saved_lines(path)
        try:
            ruleset = read_ruleset(lines[0])
            seats, seed = lines[0].get("agents"), lines[0].get("seed")
            if not isinstance(seats, list) or not all(isinstance(name, str) for name in seats):
                raise SaveError("agents: should be a list of names")
            if type(seed) is not int:
                raise SaveError(f"seed: should be a whole number, not {seed!r:.40}")
            game = cls(ruleset, seats, seed)
            game._compare(lines[:1])
            for number, line in enumerate(lines[1:], start=2):
                if "move" in line:
                    game._repeat(number, line)
            game._compare(lines)
        except (RecordError, SaveError, UnknownAgent, ValueError) as error:
            raise SaveError(f"{path}: {error}") from None
        return game

    def _repeat(self, number: int, line: Line) -> None:
        if self.over or line.get("player") != self.player or not isinstance(line["move"], str):
            raise SaveError(f"line {number}: {str(line)[:80]} cannot come next")
        if self.player in self.agents and self.batch.forced()[0] == NO_ACTION:
            self._views()  # the dice that the agent had
        action = self.batch.actions.action(line["move"], self.batch.phase_name())
        self.play(action)

    def _compare(self, lines: Sequence[Line]) -> None:
        """The same seed and the same moves must have given the same game."""
        for number, (saved, made) in enumerate(zip(lines, self.lines, strict=False), start=1):
            if json.dumps(saved) != json.dumps(made):
                raise SaveError(f"line {number}: is not what this version of the game makes of the moves before it")
        if len(lines) > len(self.lines):
            raise SaveError(f"line {len(self.lines) + 1}: is too much")


def _saved_lines(path: Path) -> list[Line]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SaveError(f"{path}: is larger than {LARGEST_FILE:,} bytes; a saved game is not")
        saved = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SaveError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, SaveError):
            raise
        raise SaveError(f"{path}: is not JSON: {error}") from None
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise SaveError(f"{path}: is no saved game ({FORMAT})")
    lines = saved.get("record")
    if not isinstance(lines, list) or not lines or not all(isinstance(line, dict) for line in lines):
        raise SaveError(f"{path}: holds no record")
    return lines


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
        """Play to the end; False if somebody has quit, or pressed Ctrl-C. Then the game is saved."""
        try:
            while True:
                self.game.advance()
                if self.game.over:
                    break
                self._hand_over()
                self.game.play(self._choose())
        except (Quit, KeyboardInterrupt):
            self._save()
            return False
        except AgentFailed:
            self._save()
            raise
        self._show_board(SPECTATOR)
        self._tell_news(self._viewer if len(self.game.humans) == 1 else SPECTATOR)
        return True

    def _say(self, words: str = "") -> None:
        print(words, file=self._shown)

    def _ask(self, prompt: str) -> str:
        print(prompt, end="", file=self._shown, flush=True)
        line = self._typed.readline()
        if not line:
            self._say()
            raise Quit
        if not self._typed.isatty():
            self._say(line.strip())  # a terminal shows what is typed
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
        self._list(choices)
        while True:
            typed = self._ask(f"{self.game.names[self.game.player]}, 1 to {len(choices)}, or ? for help: ")
            if typed in self._commands:
                self._commands[typed](self)
                if typed == "b":
                    self._list(choices)
            elif not typed.isascii() or not typed.isdigit() or not 1 <= int(typed) <= len(choices):
                self._say(f"{typed!r} is no option. Type a number from 1 to {len(choices)}, or ? for help.")
            elif self._confirmed(choices[int(typed) - 1][1]):
                return choices[int(typed) - 1][0]

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

    def _save(self) -> None:
        self.game.save(self.save_to)
        self._say(f"Saved. `borneo play --continue {self.save_to}` goes on.")

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


def free_name(path: Path) -> Path:
    """This path, or one with a number where no file is yet: saving must not overwrite another game."""
    tries = [path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, 1000))]
    return next((free for free in tries if not free.exists()), path)
