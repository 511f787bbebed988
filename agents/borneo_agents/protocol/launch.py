"""Becomes a bot: sets the limits of this process, tells the keeper of its group, and runs the bot in its place.

It is run as a file, by an interpreter that loads nothing else, so that a bot starts within milliseconds.
"""

from __future__ import annotations

import os
import resource
import sys

NOT_RUN = 127  # as shells have it


def limit(memory: int) -> None:
    """Let this process have so many bytes of memory of its own, and leave no core file behind."""
    for kind, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (allowed, allowed))


def main() -> None:
    keeper, memory, *command = sys.argv[1:]
    os.write(int(keeper), b"+%d\n" % os.getpid())
    os.close(int(keeper))
    limit(int(memory))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]} cannot be run: {error.strerror}", file=sys.stderr)
        sys.exit(NOT_RUN)


if __name__ == "__main__":
    main()
