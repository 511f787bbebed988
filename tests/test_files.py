"""Files from strangers are read up to a limit and quoted in short; files are written whole or not at all."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from errno import ENOLCK
from functools import partial
from pathlib import Path

import pytest
from borneo_web.replay.replay import Replay

from borneo_env.engine.batch import Batch
from borneo_env.record import record_games, write_record
from borneo_env.render import Animation, Picture
from borneo_env.ruleset import Ruleset
from kontor import files
from kontor.files import (
    FileError,
    FolderLock,
    check_writable,
    in_short,
    make_folder,
    on_one_line,
    parse_json,
    read_bytes,
    read_text,
    remove_half_written,
    write_file,
)

TINY = Ruleset(players=3, tables="tiny")

# ---------------------------------------------------------------- reading


def test_a_file_is_read_up_to_the_limit(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bytes(tmp_path / "file", 5) == b"12345"
    with pytest.raises(FileError, match=r"file: is larger than 4 bytes") as caught:
        read_bytes(tmp_path / "file", 4)
    assert caught.value.reason == "is larger than 4 bytes"


def test_what_is_no_plain_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # nobody writes into it: to wait would be for ever
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in ("/dev/zero", tmp_path / "pipe", tmp_path / "link"):
        with pytest.raises(FileError, match="cannot be read: it is no plain file"):
            read_bytes(path, 1000)
    for path, reason in ((tmp_path, "Is a directory"), ("nul\0", "null"), (tmp_path / "x", "No such file")):
        with pytest.raises(FileError, match=f"cannot be read: .*{reason}"):
            read_bytes(path, 1000)


def test_text_is_utf_8(tmp_path):
    (tmp_path / "file").write_bytes(b"\xff")
    with pytest.raises(FileError, match="is not text in UTF-8"):
        read_text(tmp_path / "file", 10)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("[" * 40 + "]" * 40, "nested too deeply"),
        ('{"a":' * 40 + "1" + "}" * 40, "nested too deeply"),
        ("9" * 5000, "a number of too many digits"),
        ("[NaN]", "a number that is none"),
        ("-Infinity", "a number that is none"),
        ("1e999", "a number that is none"),
        ('["\\ud800"]', "half a character"),
        ('{"\\udc00": 1}', "half a character"),
        ('[{"a": 1, "a": 1}]', "it has two entries 'a'"),
        ("\ufeff{}", "BOM"),
        ("{", "Expecting property name"),
        ("", "Expecting value"),
    ],
    ids=lambda text: text[:12],
)
def test_json_that_means_nothing_certain_is_refused(text, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        parse_json(text)
    assert len(str(caught.value)) < 200


def test_json_is_parsed():
    assert parse_json('{"a": [1, 2.5, null, "\\ud83d\\ude00"]}') == {"a": [1, 2.5, None, "\U0001f600"]}


# ---------------------------------------------------------------- writing


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path):
    file = tmp_path / "file"
    write_file(file, "one")
    file.chmod(0o640)
    (tmp_path / "link").symlink_to(file)
    write_file(tmp_path / "link", b"two")
    assert file.read_text() == "two" and (tmp_path / "link").is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.parametrize(
    ("private", "before", "after"), [(True, None, 0o600), (True, 0o644, 0o600), (False, 0o600, 0o600)]
)
def test_others_read_no_private_file_not_even_while_it_is_written(private, before, after, tmp_path, monkeypatch):
    file, modes, replace = tmp_path / "file", [], Path.replace
    if before is not None:
        file.touch()
        file.chmod(before)

    def watched(path, place):
        modes.append(stat.S_IMODE(path.stat().st_mode))
        return replace(path, place)

    monkeypatch.setattr(Path, "replace", watched)
    monkeypatch.setattr("shutil.copymode", lambda *_: None)
    write_file(file, "keys", private=private)
    assert [*modes, stat.S_IMODE(file.stat().st_mode)] == [after] * 2


@pytest.mark.parametrize("interruption", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_write_that_fails_leaves_what_was_there(interruption, tmp_path, monkeypatch):
    write_file(tmp_path / "file", "before")

    def fail(*_):
        raise interruption

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises((FileError, KeyboardInterrupt)):
        write_file(tmp_path / "file", "after")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "before")]


@contextmanager
def full_disk(most):
    """No file can have more bytes; the system says so as it does of a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["batch", "game.svg", "game.png", "game.gif", "game.html", "record.jsonl"])
def test_what_was_saved_stays_when_another_save_fails(name, tmp_path):
    (record,) = record_games(TINY, 1, seed=1, agents=["random"] * 3)
    picture = Picture(TINY, Batch(1, TINY).games[0])
    save = {
        "batch": Batch(20, TINY).save, "game.svg": picture.save, "game.png": picture.save,
        "game.gif": Animation([picture] * 2).save, "game.html": Replay.of(record[:5]).save,
        "record.jsonl": partial(write_record, record=record),
    }[name]  # fmt: skip
    (tmp_path / name).write_bytes(b"from before")
    with full_disk(1000), pytest.raises(FileError, match=f"{name}: cannot be written: File too large"):
        save(tmp_path / name)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"from before")]
    save(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 1000


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("here")
    os.mkfifo(tmp_path / "pipe")
    for path, reason in (
        (tmp_path, "no plain file"),
        (tmp_path / "pipe", "no plain file"),
        ("/dev/null", "no plain file"),
        (tmp_path / "nowhere" / "x", "No such file or directory"),
        (tmp_path / "file" / "x", "Not a directory"),
    ):
        for write in (check_writable, lambda path: write_file(path, "x")):
            with pytest.raises(FileError, match=f"{path}: cannot be written: .*{reason}"):
                write(path)
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "pipe"]
    assert (tmp_path / "file").read_text() == "here"


def test_a_folder_is_made(tmp_path):
    assert make_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "x"):
        with pytest.raises(FileError, match=f"{path}: is no folder, and cannot become one: .*; give another"):
            make_folder(path)


# ---------------------------------------------------------------- one owner

OWNER = """
import sys, importlib.util
spec = importlib.util.spec_from_file_location("files", sys.argv[1])
files = importlib.util.module_from_spec(spec)
spec.loader.exec_module(files)
lock = files.FolderLock(sys.argv[2], "a training", "")
lock.tell("a training that began")
print(flush=True)
sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_has_one_owner_and_others_are_told_who_and_what_to_do(tmp_path):
    folder = tmp_path / "new"
    with FolderLock(folder, "the first", "") as first:
        first.tell("the first at its place")
        owner = rf"the first at its place \(process {os.getpid()} on .*\)"
        with pytest.raises(FileError, match=f"new: is in use by {owner}; end that first, or give another --out$"):
            FolderLock(folder, "the second", "give another --out")
        assert stat.S_IMODE((folder / "borneo.lock").stat().st_mode) == 0o600
    with FolderLock(folder, "the second", ""):
        first.release()  # once more
        with pytest.raises(FileError, match="in use by the second"):
            FolderLock(folder, "the third", "")
    assert names(folder) == []


def test_a_folder_is_free_when_its_owner_was_killed(tmp_path):
    command = [sys.executable, "-c", OWNER, files.__file__, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout.readline()
        with pytest.raises(FileError, match=rf"a training that began \(process {owner.pid} "):
            FolderLock(tmp_path, "another", "")
        owner.send_signal(signal.SIGKILL)
    assert names(tmp_path) == ["borneo.lock"]
    with FolderLock(tmp_path, "another", ""):
        assert "another" in (tmp_path / "borneo.lock").read_text()


def test_a_lock_that_its_owner_removes_meanwhile_is_none(tmp_path, monkeypatch):
    """Its file was opened here before it was removed: whoever comes then makes a new one, and both would own it."""
    first, lock = FolderLock(tmp_path, "the first", ""), files._lock

    def late(file: int) -> None:
        first.release()
        lock(file)

    monkeypatch.setattr(files, "_lock", late)
    with FolderLock(tmp_path, "the second", ""), pytest.raises(FileError, match="in use by the second"):
        FolderLock(tmp_path, "the third", "")


def test_where_there_are_no_locks_nobody_is_refused(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", fail)
    with FolderLock(tmp_path, "the first", ""), FolderLock(tmp_path, "the second", ""):
        pass


def test_what_was_half_written_goes_when_the_folder_is_locked(tmp_path):
    left, others = tmp_path / f".borneo-{1:016x}", [".borneo-notes", "game.json", f".borneo-{2:016x}"]
    left.write_text("half")
    for name in others[:2]:
        (tmp_path / name).write_text("whole")
    (tmp_path / others[2]).mkdir()
    os.utime(left, (1, 1))
    remove_half_written(tmp_path, 0.5)
    assert left.exists()
    with FolderLock(tmp_path, "the first", ""):
        live = tmp_path / f".borneo-{3:016x}"
        live.write_text("half")
        os.utime(live, (time.time() + 60,) * 2)
        with pytest.raises(FileError):
            FolderLock(tmp_path, "the second", "")
        assert names(tmp_path) == sorted([*others, live.name, "borneo.lock"])


# ---------------------------------------------------------------- quoting


class Odd:
    def __repr__(self):
        return "\x1b[2J\n" * 1000


class Broken:
    def __repr__(self):
        raise RuntimeError("no words")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("board", "'board'"),
        (7, "7"),
        (None, "None"),
        ([1, "x"], "[1, 'x']"),
        (10**5000, "a number of 16610 bits"),
        (-(2**64), "-18446744073709551616"),
        ("\x1b[2J\u202e\ud800", r"'\x1b[2J\u202e\ud800'"),
    ],
    ids=["text", "number", "nothing", "list", "many-digits", "some-digits", "escapes"],
)
def test_values_are_quoted(value, quoted):
    assert in_short(value) == quoted


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**6,
        "\0" * 10**6,
        ["x" * 1000] * 10**6,
        {"x" * 1000: ["y" * 1000] * 1000},
        nested(sys.getrecursionlimit() * 50),
        Odd(),
        Broken(),
        [[[[["x" * 100] * 9] * 9] * 9] * 9] * 9,
    ],
    ids=["text", "zeros", "list", "dict", "deep", "odd", "broken", "bush"],
)
def test_a_quote_is_one_short_line(value):
    assert in_short(value).isprintable()
    assert len(in_short(value)) <= 80


def test_words_on_one_line():
    assert on_one_line("as it is, ünïcode too") == "as it is, ünïcode too"
    assert on_one_line("two\nlines\x07") == r"two\nlines\x07"
    assert on_one_line("x" * 2000, 10) == "xxxxxxx..."
    assert on_one_line("x" * 10, 10) == "x" * 10
