"""What the tests of the arena share."""

import os
import sys
import time
import traceback
import warnings
from collections import defaultdict
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from arena_games import BOTS
from borneo_agents.arena import run
from borneo_agents.arena.report import page
from borneo_agents.arena.store import folder, sources
from borneo_agents.arena.workers import pool, worker, worker_process
from borneo_agents.protocol.process import SUPERVISOR
from borneo_agents.protocol.supervisor import adopt_orphans, end_as, supervise


@pytest.fixture(scope="session", autouse=True)
def code_that_stays_is_read_once():
    """Every run in a folder asks for the code of the program, of the bots of these tests, and where all modules lie."""
    of_kind = cache(lambda kind: sources.digest_of(kind.__new__(kind)))

    def digest_of(agent):
        return of_kind(type(agent)) if type(agent).__module__ == "arena_games" else sources.digest_of(agent)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "_folder_of", cache(sources._folder_of))
        patch.setattr(folder, "digest_of_program", cache(sources.digest_of_program))
        patch.setattr(run, "digest_of", digest_of)
        yield


def forget_modules_of(folder):
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """A folder with bots, which is the current one."""
    (tmp_path / "arena_bots.py").write_text(BOTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    forget_modules_of(tmp_path)


class Fork:
    """A worker that is a copy of this process, and need not load everything first; Popen as far as needed."""

    def __init__(self, command, *, stdout, **_):
        requests, told = os.pipe()
        self._code = None
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # there are other threads
            self.pid = os.fork()
        if not self.pid:
            os.close(told)
            self._supervise(int(command[len(SUPERVISOR)]))
            self._work(command[command.index("-m") + 1 :], requests, stdout.fileno())
        os.setpgid(self.pid, self.pid)
        os.close(requests)
        self.stdin = os.fdopen(told, "wb")

    def _supervise(self, leash):
        """As the supervisor does, but in a copy of this process; what comes after this is its child's."""
        os.setpgid(0, 0)
        adopt_orphans()
        if child := os.fork():
            end_as(supervise(child, leash))
        os.close(leash)

    def _work(self, command, requests, log):
        try:
            for number, file in enumerate((requests, log, log)):
                os.dup2(file, number)
            sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode) for n, mode in enumerate("rww"))
            sys.argv = command
            forget_modules_of(Path.cwd())
            worker.main()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(1)

    def poll(self):
        if self._code is None:
            ended, code = os.waitpid(self.pid, os.WNOHANG)
            self._code = code if ended else None
        return self._code

    def wait(self):
        while self.poll() is None:
            time.sleep(0.002)


@pytest.fixture
def forks(monkeypatch):
    """Workers are copies of this process, for tests of what they do and not of how they are started."""
    monkeypatch.setattr(worker_process, "subprocess", SimpleNamespace(Popen=Fork, PIPE=None))
    monkeypatch.setattr(pool, "SOON", 0.01)


@pytest.fixture
def with_plots():
    """Reports have their plots."""


@pytest.fixture(autouse=True)
def without_plots(request, monkeypatch):
    """Reports have no plots, which take the most time, but for tests `with_plots`."""
    if "with_plots" in request.fixturenames:
        return
    monkeypatch.setattr(page, "drawings", lambda _: defaultdict(str, {"": ""}))
