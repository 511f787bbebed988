"""What holds for every test."""

import subprocess
import sys

import pytest

# Commands that use, and so compile, most of what the tests need.
FIRST_USES = (
    "arena merchant rollout:budget=1 ismcts:budget=1 --players 3 --tables tiny --games 6 --jobs 1",
    "train --briefed --trials 1 --games 3 --horizon 2 --minibatch 3 --actor 4x1 --critic 4x1 --steps 6 "
    "--evaluation-games 15 --evaluate-every 99",
)


def pytest_sessionstart(session):
    """Compile once, before several workers begin: else each of them would compile the same."""
    if getattr(session.config.option, "numprocesses", None) and not hasattr(session.config, "workerinput"):
        folder = session.config.cache.mkdir("first-uses")
        commands = [
            [sys.executable, "-m", "borneo_env.cli", *use.split(), "--fresh", "--out", str(folder / str(number))]
            for number, use in enumerate(FIRST_USES)
        ]
        for process in [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]:
            assert process.wait() == 0, "what the tests begin with does not work: see above"


@pytest.fixture(autouse=True)
def no_test_leaves_a_folder_behind(monkeypatch):
    """Finding an agent adds the current folder to the path, where the next test would find another bot of that name."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in sys.modules if name.startswith("my_bot")]:
        monkeypatch.delitem(sys.modules, name)
