"""Files that may come from strangers: read up to a limit, parsed strictly, quoted in short; files written whole, and
folders with one owner.

Errors are a `FileError` with the path and a reason, such as "cannot be read: No such file or directory".
"""

from __future__ import annotations

import json
import os
import platform
import re
import reprlib
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EACCES, EAGAIN
from itertools import chain
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import Any, BinaryIO, Self

DEEPEST = 32  # lists and objects inside each other; no file of ours has more than a few
LONGEST_QUOTE, LONGEST_WORDS = 80, 1000  # characters
PRIVATE, PUBLIC = 0o600, 0o666  # modes of new files; the second as far as the user lets others read
HALF_WRITTEN = re.compile(r"\.borneo-[0-9a-f]{16}")
LOCK, LONGEST_OWNER = "borneo.lock", 200  # characters
NEVER_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)  # opening a pipe would wait for its other end


class FileError(ValueError):
    """A file that cannot be read or written; `reason` is the message without the path."""

    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(f"{on_one_line(str(path))}: {reason}")
        self.reason = reason


# ---------------------------------------------------------------- reading


def read_bytes(path: str | Path, most: int) -> bytes:
    """All of a plain file of at most so many bytes; pipes, devices and folders are refused."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NEVER_WAIT)) as file:
            about = os.fstat(file.fileno())
            if not S_ISREG(about.st_mode):
                raise FileError(path, "cannot be read: it is no plain file")
            data = file.read(most + 1) if about.st_size <= most else None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # a path that cannot be one
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"cannot be read: {error}") from None
    if data is None or len(data) > most:
        raise FileError(path, f"is larger than {most:,} bytes")
    return data


def read_text(path: str | Path, most: int) -> str:
    """All of a plain file of text in UTF-8."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(path, "is not text in UTF-8") from None


def parse_json(text: str) -> Any:
    """What JSON says; raises ValueError, with a short reason, for whatever could mean two things or not be written."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
        _check_depth(value)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a character (a lone surrogate)") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        if "Out of range float" in str(error):
            raise ValueError("it holds a number that is none (NaN or infinite)") from None
        if "integer string conversion" in str(error):
            raise ValueError("it holds a number of too many digits") from None
        raise
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"it has two entries {in_short(name)}")
        made[name] = value
    return made


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [*chain(*(one.values() if type(one) is dict else one for one in level if type(one) in (dict, list)))]
        if not level:
            return
    raise ValueError("it is nested too deeply")


# ---------------------------------------------------------------- writing


def write_file(path: str | Path, content: str | bytes, *, sync: bool = True, private: bool = False) -> None:
    """Write a file whole or not at all: beside its place first, then there. What a link points to is replaced.

    With `sync` it has reached the disk when this returns. A `private` one can never be read by other users.
    """
    with whole_file(path, sync=sync, private=private) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def whole_file(path: str | Path, *, sync: bool = True, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write into, for what is large or written by others; it comes to its place when all is written."""
    try:
        place, beside = _places(path)
        kept = None if private or not place.exists() else place
        mode = PRIVATE if private else S_IMODE(place.stat().st_mode) if kept else PUBLIC
        try:
            with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
                yield file
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            if kept:
                shutil.copymode(place, beside)
            beside.replace(place)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}") from None


def check_writable(path: str | Path) -> None:
    """Refuse a path that no file can be written to, before there is something to lose."""
    try:
        _, beside = _places(path)
        beside.touch(exist_ok=False)
        beside.unlink()
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}") from None


def _places(path: str | Path) -> tuple[Path, Path]:
    """Where a file goes, and a name beside it that no file has."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        raise FileError(path, "cannot be written: it is there, and no plain file")
    if place.exists() and not os.access(place, os.W_OK):
        raise FileError(path, "cannot be written: it is read-only")
    return place, place.with_name(f".borneo-{secrets.token_hex(8)}")


def remove_half_written(folder: Path, before: float) -> None:
    """Remove what `write_file` left in a folder when it was killed; it began before that time."""
    for file in folder.glob(".borneo-*"):
        with suppress(OSError):  # somebody else removes it, or it is not ours
            if HALF_WRITTEN.fullmatch(file.name) and file.lstat().st_mtime < before:
                file.unlink()


def make_folder(path: str | Path, mode: int = 0o777) -> Path:
    """A folder, made with those above it if need be."""
    try:
        Path(path).mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(path, f"is no folder, and cannot become one: {error.strerror}; give another") from None
    return Path(path)


# ---------------------------------------------------------------- one owner


class FolderLock:
    """A folder has one owner, until `release` or until its process ends in whatever way. FileError if it has another.

    What killed processes have half written in the folder is removed. Where a file system knows no locks, nobody is
    refused.

    Arguments:
        owner: who this is, in words that others are told: "a training".
        remedy: what they can do: "give another --out".
    """

    def __init__(self, folder: str | Path, owner: str, remedy: str) -> None:
        self.path = make_folder(folder) / LOCK
        try:
            self._file = _locked(self.path)
        except BlockingIOError:
            raise FileError(folder, f"is in use by {_owner(self.path)}; end that first, or {remedy}") from None
        except OSError as error:
            raise FileError(folder, f"cannot be locked: {error.strerror}") from None
        remove_half_written(self.path.parent, time.time())
        self.tell(owner)

    def tell(self, owner: str) -> None:
        """Say more of who the owner is, such as its address."""
        with suppress(OSError):  # a full disk: it is locked without words
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, f"{owner} (process {os.getpid()} on {platform.node()})".encode())

    def release(self) -> None:
        """Leave the folder to others."""
        if self._file < 0:
            return
        with suppress(OSError):  # Windows removes no open file: then it stays, and is nobody's
            self.path.unlink()  # before it is closed: nobody has locked it meanwhile
        os.close(self._file)
        self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _locked(path: Path) -> int:
    """The file of a lock, open, locked, and the one of this name; BlockingIOError if another process has locked it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | NEVER_WAIT, PRIVATE)
        try:
            _lock(file)
            if os.path.lexists(path) and os.path.samestat(os.fstat(file), path.lstat()):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # its owner removed it, and left, after it was opened here


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        try:
            os.lseek(file, 2**30, os.SEEK_SET)  # what is locked there nobody else can read
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(error.errno, error.strerror) from None

else:
    import fcntl

    def _lock(file: int) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (EACCES, EAGAIN):
                raise BlockingIOError(error.errno, error.strerror) from None


def _owner(path: Path) -> str:
    """Who has locked a file, as it says itself."""
    with suppress(OSError), open(path, "rb") as file:
        return on_one_line(file.read(4 * LONGEST_OWNER).decode("utf-8", "replace"), LONGEST_OWNER) or "another process"
    return "another process"


# ---------------------------------------------------------------- quoting


class _Short(reprlib.Repr):
    """Writes values, but of long ones only the beginning, whatever is in them."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 2
        self.maxstring = self.maxother = LONGEST_QUOTE

    def repr_int(self, value: int, level: int) -> str:
        return repr(value) if value.bit_length() < 128 else f"a number of {value.bit_length()} bits"


def in_short(value: Any) -> str:
    """A value as a message may quote it: one short line of printable characters, whatever a stranger has put there."""
    return on_one_line(_Short().repr(value), LONGEST_QUOTE)


def counted(number: int, noun: str) -> str:
    """So many things, such as `1 game` or `2,000 games`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def on_one_line(words: str, most: int = LONGEST_WORDS) -> str:
    """Words as they may be shown: control characters are spelled out, and what is too long is cut."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in words[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."
