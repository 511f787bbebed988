"""LiveGames: all games of a server, each in a file of one folder. Requests name them by ids that were made here."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from stat import S_ISVTX
from typing import Any

from borneo_agents.human.game import HUMAN

from borneo_env.agent import UnknownAgent, known_agents
from borneo_env.engine.batch import fresh_seed
from borneo_env.engine.state import SPECTATOR
from borneo_env.record import LARGEST_FILE
from borneo_env.ruleset import Ruleset
from borneo_web.server.live_game import (
    FORMAT,
    REMEDY,
    UNREADABLE,
    UNSAVED,
    LiveGame,
    Refused,
    SteppedGame,
    cannot_be_saved,
)
from kontor.files import (
    HALF_WRITTEN,
    LOCK,
    FileError,
    FolderLock,
    in_short,
    make_folder,
    on_one_line,
    parse_json,
    read_text,
)

MOST_GAMES = 1000
LONGEST_NAME = 24  # characters of a person's name
FILE = re.compile(r"[\w-]{1,64}\.json", re.ASCII)
OURS = 0o700  # the mode of a folder that nobody else looks into


class LiveGames:
    """The tables of a folder, which has one owner. A game is read when somebody asks for it first.

    Arguments:
        opponents: gives the agents that can be sat at a table beside the registered ones, as they are now: what they
            are called here, and their names with arguments, which nobody is shown.
    """

    def __init__(self, folder: Path, opponents: Callable[[], Mapping[str, str]] = dict) -> None:
        self.folder = make_folder(folder, OURS)
        self.lock = FolderLock(folder, "a server of games", "give another --folder")
        _close_to_others(folder)
        self.opponents = opponents
        self.pool: Executor = ThreadPoolExecutor(2, thread_name_prefix="borneo-web")
        files = sorted(path for path in folder.glob("*.json") if FILE.fullmatch(path.name))
        self._tables: dict[str, LiveGame | None] = {path.stem: None for path in files}
        self._damaged: dict[str, tuple[float, str]] = {}  # when a file was written that cannot be read, and why
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._dealing = threading.Lock()  # so that two who want to play again do not begin two games
        self.closing = False  # whether those who listen for events should leave

    def __iter__(self) -> Iterator[str]:
        """The ids of all games, the newest first."""
        times = {name: _modified(self._path(name)) for name in list(self._tables)}
        return iter(sorted(times, key=times.__getitem__, reverse=True))

    def table(self, name: str) -> LiveGame:
        """A game by its id; Refused if there is none, or none that can be read."""
        table = self._known(name)
        if table is None:
            with self._reading:  # which takes a while: tables that are known are found meanwhile
                table = self._known(name) or self._read(name)
        table.go_on(self.pool)
        return table

    def _known(self, name: str) -> LiveGame | None:
        with self._lock:
            if name not in self._tables:
                raise Refused(404, "There is no such game.")
            return self._tables[name]

    def _read(self, name: str) -> LiveGame:
        path = self._path(name)
        written, trouble = self._damaged.get(name, (None, ""))
        if written != _modified(path):
            written, trouble = _modified(path), ""
            try:
                table = read_table(path)
            except ValueError as error:
                trouble = on_one_line(str(error))
            except Exception as error:  # a damaged file can raise nearly anything
                trouble = f"it is damaged ({type(error).__name__})"
        if trouble:
            self._damaged[name] = written, trouble
            raise Refused(UNREADABLE, f"The game cannot be read: {trouble}.")
        with self._lock:
            if name in self._tables:  # nobody has removed it meanwhile
                self._tables[name] = table
        return table

    def seat(self, name: str, key: str) -> tuple[LiveGame, int]:
        """A game, and the seat whose key this is; a wrong key is refused as a game that does not exist is."""
        try:
            table = self.table(name)
        except Refused as error:
            if error.status == UNREADABLE:  # why may have paths in it, and nobody can say whose key this is
                raise Refused(UNREADABLE, "This game cannot be read. The start page says why.") from None
            raise
        seat = table.seat_of(key)
        if seat is None:
            raise Refused(404, "There is no such game.")
        return table, seat

    def begin(self, ruleset: Ruleset, seats: Sequence[str], names: Sequence[str], seed: int) -> str:
        """Deal a new game and return its id. Seats are `human`, opponents, or agents by name, without arguments."""
        opponents = self.opponents()
        known = [*known_agents(), *opponents]
        unknown = [seat for seat in seats if seat not in (HUMAN, *known)]
        if unknown:
            raise Refused(422, f"There is no agent {in_short(unknown[0])}; known are: {', '.join(known)}.")
        return self._deal(ruleset, [opponents.get(seat, seat) for seat in seats], names, seed)

    def again(self, table: LiveGame) -> LiveGame:
        """The game after this one, with a new deal for the same people: who asks first begins it, for all of them."""
        with self._dealing:
            if table.next not in self._tables:
                game = table.game
                table.next = self._deal(game.batch.ruleset, game.seats, game.names, fresh_seed())
                with table.lock, suppress(FileError):  # the new game is there; only the way to it could be lost
                    table.save()
                table.announce()
        return self.table(table.next)

    def _deal(self, ruleset: Ruleset, seats: Sequence[str], names: Sequence[str], seed: int) -> str:
        if len(self._tables) >= MOST_GAMES:
            raise Refused(409, f"There are {MOST_GAMES:,} games; remove some first.")
        try:
            game = SteppedGame(ruleset, seats, seed)
        except (UnknownAgent, ValueError) as error:
            raise Refused(422, f"{on_one_line(str(error))}.") from None
        name = secrets.token_hex(6)
        table = LiveGame.set_up(game, names, self._path(name))
        try:
            table.save()
        except FileError as error:
            raise Refused(UNSAVED, f"{cannot_be_saved(error)} No cards were dealt: {REMEDY} deal again.") from None
        with self._lock:
            self._tables[name] = table
        table.go_on(self.pool)
        return name

    def remove(self, name: str) -> None:
        """Remove a game and its file for good; whoever sits there finds nothing any more."""
        with self._lock:
            if name not in self._tables:
                raise Refused(404, "There is no such game.")
            table = self._tables[name]
            try:
                with table.lock if table else nullcontext():  # or an agent's move would write it again
                    self._path(name).unlink(missing_ok=True)
                    if table:
                        table.remove()
            except OSError as error:
                raise Refused(503, f"The game cannot be removed: {error.strerror}.") from None
            del self._tables[name]

    def close(self) -> None:
        """Let everybody who listens for events leave: the server is ending."""
        self.closing = True
        for table in list(self._tables.values()):
            if table is not None:
                table.closing = True
                table.announce()

    def end(self) -> None:
        """Leave the folder to others, when no agent thinks any more."""
        self.pool.shutdown(cancel_futures=True)
        self.lock.release()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def read_table(path: Path) -> LiveGame:
    """The table saved in a file, whose moves are all checked and made again; raises ValueError."""
    saved = parse_json(read_text(path, LARGEST_FILE))
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise ValueError(f"it is no saved game ({FORMAT})")
    lines = saved.get("record")
    if not isinstance(lines, list) or not lines or not all(isinstance(line, dict) for line in lines):
        raise ValueError("it holds no record")
    game = SteppedGame.of_lines(lines)
    names: Any = saved.get("names")
    keys: Any = saved.get("keys")
    next_game = saved.get("next", "")
    people = [str(seat) for seat in (*game.humans, SPECTATOR)]
    named = isinstance(names, list) and len(names) == len(game.seats) and all(map(_is_name, names))
    keyed = isinstance(keys, dict) and sorted(keys) == sorted(people) and all(map(_is_key, keys.values()))
    for right, words in (
        (named, "names: should be a name for each seat"),
        (keyed, "keys: should be a key for each person, and one for watching"),
        (_is_count(saved.get("choices")), "choices: should be a number"),
        (isinstance(next_game, str), "next: should be the id of a game"),
    ):
        if not right:
            raise ValueError(words)
    table = LiveGame(game, names, {int(seat): key for seat, key in keys.items()}, path)
    table.choices, table.next = saved["choices"], next_game
    return table


def _close_to_others(folder: Path) -> None:
    """Let nobody else look into a folder of games. One that holds more than those, such as a home, stays as it is."""
    with suppress(OSError):  # it is somebody else's
        about, names = folder.stat(), [path.name for path in folder.iterdir()]
        if all(one == LOCK or FILE.fullmatch(one) or HALF_WRITTEN.fullmatch(one) for one in names):
            if not about.st_mode & S_ISVTX:  # as /tmp has
                folder.chmod(about.st_mode & OURS)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.isprintable() and 0 < len(name) <= 2 * LONGEST_NAME


def _is_key(key: Any) -> bool:
    return isinstance(key, str) and len(key) >= 20


def _is_count(number: Any) -> bool:
    return type(number) is int and number >= 0


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
