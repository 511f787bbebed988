"""The supervisor of a bot: the parent of its process and of all that this leaves behind, and their end.

It sets limits and starts the bot. Where it can (Linux), it becomes the parent of every descendant whose own parent has
gone, whatever session or group that has made for itself. So all of them are found below it. Bots have sessions of their
own, so nothing that ends the playing process reaches them. Therefore the supervisor holds one end of a pipe, the leash,
and ends the bot when the other end closes: that is at the end of the process that plays, however it went.

It is run as a file, by an interpreter that loads nothing else, so that a bot starts within milliseconds.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from typing import NoReturn

NOT_RUN = 127  # as shells have it
SET_CHILD_SUBREAPER = 36  # of prctl


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own has gone, where the system has that."""
    with suppress(Exception):  # no Linux, or no ctypes
        import ctypes

        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_tree(root: int) -> None:
    """End a process with its group and all its descendants; this process ends only what is below it."""
    stopped: set[int] = set()
    while new := {*_descendants(root)} - stopped:  # those that have stopped start no others meanwhile
        for one in new:
            _send(one, signal.SIGSTOP)
        stopped |= new
    for one in stopped:
        _send(one, signal.SIGKILL)
    if {*_descendants(root)} - stopped:  # one was just being started
        end_tree(root)
    elif root != os.getpid():
        _send(root, signal.SIGKILL)
        end_group(root)


def end_group(group: int) -> None:
    """End a process group, if it is still there."""
    with suppress(ProcessLookupError, PermissionError):  # all have gone
        os.killpg(group, signal.SIGKILL)


def _send(process: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def _descendants(root: int) -> list[int]:
    """All processes below one; none where the system does not show them in /proc."""
    children: dict[int, list[int]] = {}
    if os.path.realpath("/proc/self") == f"/proc/{os.getpid()}":  # and it is not that of another container
        for name in [entry.name for entry in os.scandir("/proc") if entry.name.isdigit()]:
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found = [root]
    for one in found:
        found += children.get(one, ())
    return found[1:]


def supervise(child: int, leash: int | None = None) -> int:
    """Wait until a child has ended, end what it has left behind, and return its exit code; a closed leash ends it."""
    for number in signal.valid_signals() - {signal.SIGCHLD}:  # of children that are ignored, nobody hears
        with suppress(OSError, ValueError):  # some cannot be ignored
            signal.signal(number, signal.SIG_IGN)
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGUSR1, lambda *_: _send(child, signal.SIGUSR1))
    watched = [woken] if leash is None else [woken, leash]
    while (found := os.waitpid(-1, os.WNOHANG))[0] != child:
        ready = [] if found[0] else select.select(watched, [], [])[0]
        if woken in ready:
            os.read(woken, 512)
        if leash in ready:
            end_tree(os.getpid())
    with suppress(ChildProcessError):  # nothing is left
        while True:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                end_tree(os.getpid())
                os.wait()
    return os.waitstatus_to_exitcode(found[1])


def end_as(code: int) -> NoReturn:
    """End with an exit code; one below 0 is a signal."""
    if code < 0:
        with suppress(OSError):  # SIGKILL needs no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def launch(leash: int, memory: int, command: list[str]) -> NoReturn:
    """Run a command as a child with so many bytes of memory, and end as it does."""
    limit(core=0)
    adopt_orphans()
    child = os.fork()
    if child:
        nothing = os.open(os.devnull, os.O_RDWR)
        for file in range(3):  # they are the child's: its end is to be seen
            os.dup2(nothing, file)
        end_as(supervise(child, leash))
    os.close(leash)
    limit(data=memory)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]} cannot be run: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(NOT_RUN)


def limit(**most: int) -> None:
    """Set limits of this process, such as `data`: bytes of memory of its own."""
    import resource

    for name, value in most.items():
        kind = getattr(resource, f"RLIMIT_{name.upper()}")
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))


if __name__ == "__main__":
    launch(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
