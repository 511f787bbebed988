"""Files that may come from strangers: read up to a limit, parsed strictly, quoted in short; and files written whole.

Errors are a `FileError` with the path and a reason, such as "cannot be read: No such file or directory".
"""

from __future__ import annotations

import json
import os
import reprlib
import secrets
import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from typing import Any

DEEPEST = 32  # lists and objects inside each other; no file of ours has more than a few
LONGEST_QUOTE, LONGEST_WORDS = 80, 1000  # characters
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


def write_file(path: str | Path, content: str | bytes, *, sync: bool = True) -> None:
    """Write a file whole or not at all: beside its place first, then there. What a link points to is replaced.

    With `sync` it has reached the disk when this returns.
    """
    try:
        place, beside = _places(path)
        try:
            with open(beside, "xb") as file:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            if place.exists():
                shutil.copymode(place, beside)
            beside.replace(place)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}") from None


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


def make_folder(path: str | Path) -> Path:
    """A folder, made with those above it if need be."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(path, f"is no folder, and cannot become one: {error.strerror}; give another") from None
    return Path(path)


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
