"""The other end of the keeper (`supervisor.py`), which ends all bots when this process has gone.

Bots have sessions of their own, so that each can be ended with what it has started. Therefore nothing that ends the
playing process reaches them.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

SUPERVISOR = [sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py"))]


def keeper() -> int:
    """The file to which the supervisors of bots are told: that of this process's keeper."""
    return _keeper_of(os.getpid())


@cache
def _keeper_of(process: int) -> int:
    """One for each process: a fork does not hold the other end of its parent's for long."""
    reading, writing = os.pipe()
    keeps = subprocess.Popen([*SUPERVISOR, "keep"], stdin=reading, start_new_session=True)  # Ctrl-C does not reach it
    os.close(reading)
    atexit.register(_let_go, process, writing, keeps)
    return writing


def _let_go(process: int, writing: int, keeps: subprocess.Popen[bytes]) -> None:
    """Close the other end, and wait until all bots are ended."""
    if os.getpid() == process:
        os.close(writing)
        keeps.wait()
