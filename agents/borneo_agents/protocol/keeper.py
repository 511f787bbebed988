"""The keeper: a small process that ends all bots when the process that plays with them has gone, however it went.

Bots are process groups of their own, so that each can be ended with what it has started. Therefore nothing that ends
the playing process reaches them. The keeper reads their groups from its input (`+123` is one, `-123` has ended) until
there is nothing more to read, since the other end is closed by the end of the process that holds it.

This module is also that other end. As `launch.py`, the keeper is run as a file.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
from functools import cache
from typing import BinaryIO


def keep(told: BinaryIO) -> None:
    """Note groups until there is nothing more to read, then end those that are left."""
    groups: set[int] = set()
    for line in told:
        (groups.add if line.startswith(b"+") else groups.discard)(int(line[1:]))
    for group in groups:
        end_group(group)


def end_group(group: int) -> None:
    """End a process group, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # all have gone
        os.killpg(group, signal.SIGKILL)


def keeper() -> int:
    """The file to which the groups of bots are told: that of this process's keeper."""
    return _keeper_of(os.getpid())


@cache
def _keeper_of(process: int) -> int:
    """One for each process: a fork does not hold the other end of its parent's for long."""
    reading, writing = os.pipe()
    command = [sys.executable, "-I", "-S", __file__]
    keeps = subprocess.Popen(command, stdin=reading, start_new_session=True)  # Ctrl-C does not reach it
    os.close(reading)
    atexit.register(_let_go, process, writing, keeps)
    return writing


def _let_go(process: int, writing: int, keeps: subprocess.Popen[bytes]) -> None:
    """Close the other end, and wait until all bots are ended."""
    if os.getpid() == process:
        os.close(writing)
        keeps.wait()


if __name__ == "__main__":
    keep(sys.stdin.buffer)
