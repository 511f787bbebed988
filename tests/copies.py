"""Copies of this process, for scripts that need a process of their own: these need not load everything first."""

import os
import sys
import traceback
import warnings
from pathlib import Path

OWN = ("kontor", "borneo_env", "borneo_agents", "borneo_train", "borneo_web", "borneo_bench")


class Copy:
    """A copy of this process that runs a script, as Python with `-W error` would."""

    def __init__(self, script, *arguments, place, folders=(), anew=False, without=(), **environment):
        """What it says is kept in the folder `place`; `folders` come first in its path.

        With `anew`, it imports our packages again, and with `without`, those it names too if it needs them.
        """
        self._said = [Path(place) / f"{name}-{os.urandom(4).hex()}" for name in ("stdout", "stderr")]
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # there are other threads
            self._process = os.fork()
        if not self._process:
            self._run(script, arguments, folders, (*OWN, *without) if anew else without, environment)

    def _run(self, script, arguments, folders, forgotten, environment):
        code = 1
        try:
            for number, path in enumerate(self._said, start=1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
            sys.stdout, sys.stderr = (os.fdopen(number, "w") for number in (1, 2))
            os.environ.update(environment)
            sys.argv, sys.dont_write_bytecode = ["script", *map(str, arguments)], True
            sys.path[:0] = map(str, folders)
            for name in [name for name in sys.modules if name.partition(".")[0] in forgotten]:
                del sys.modules[name]
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".*Overriding environment")  # they register themselves again
            exec(script, {"__name__": "__main__"})
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(code)

    def said(self):
        """What it has printed to the end, and its complaints."""
        ended = os.waitpid(self._process, 0)[1]
        out, complaints = (path.read_text() for path in self._said)
        assert ended == 0, complaints
        return out.strip(), complaints
