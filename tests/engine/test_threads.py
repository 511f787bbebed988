"""The cores there are, and loops on several threads that leave nobody behind."""

import os
import time

import numpy as np
import pytest

from borneo_env import Batch
from kontor.engine import threads
from kontor.engine.threads import available_cores, in_parallel


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with eight cores whose control groups are files to be written."""
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 8)
    (tmp_path / "proc/self").mkdir(parents=True)

    def set_up(groups, files):
        (tmp_path / "proc/self/cgroup").write_text(groups)
        for name, content in files.items():
            path = tmp_path / "sys/fs/cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path

    return set_up


@pytest.mark.parametrize(
    ("groups", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "5000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 8),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ("0::/a\n", {"a/cpu.max": "400000 100000\n", "cpu.max": "300000 100000\n"}, 3),
        ("4:cpu,cpuacct:/\n", {"cpu/cpu.cfs_quota_us": "250000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ("4:cpu,cpuacct:/gone\n", {"cpu/cpu.cfs_quota_us": "250000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ("4:memory:/\n", {"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ("0::/\n", {"cpu.max": "many\n"}, 8),
        ("0::/\n", {"cpu.max": "100000 0\n"}, 8),
        ("", {}, 8),
    ],
)
def test_a_quota_counts_as_the_cores_it_allows(machine, groups, files, cores):
    assert threads._quota(machine(groups, files)) == cores


def test_without_control_groups_there_is_no_quota(tmp_path, monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 8)
    assert threads._quota(tmp_path) == 8


def test_the_least_of_affinity_quota_and_setting_counts(monkeypatch):
    settings = {"_cores_of_the_process": lambda: 6, "_quota": lambda root: 5}
    for name, value in settings.items():
        monkeypatch.setattr(threads, name, value)
    monkeypatch.setattr(threads.numba.config, "NUMBA_NUM_THREADS", 7)
    assert available_cores() == 5
    assert Batch(1).threads == 5
    monkeypatch.setattr(threads.numba.config, "NUMBA_NUM_THREADS", 1)  # as workers of the arena have it
    assert available_cores() == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_the_affinity_of_the_process_counts():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert available_cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


class Slices:
    """A loop whose first slice fails at once, while the others take their time."""

    def __init__(self, failure):
        self.failure = failure
        self.finished = []

    def __call__(self, rows):
        if rows[0] == 0:
            raise self.failure
        time.sleep(0.05)
        self.finished.append(int(rows[0]))


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, ValueError])
def test_nobody_works_on_the_games_any_more_when_the_first_slice_fails(failure):
    loop = Slices(failure)
    with pytest.raises(failure):
        in_parallel(3, loop, (), (np.arange(6),), 2)
    assert sorted(loop.finished) == [2, 4]


def test_a_second_interrupt_does_not_leave_threads_behind_either(monkeypatch):
    calls = []

    def interrupted(futures):
        calls.append(futures)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(futures)

    real = threads.wait
    monkeypatch.setattr(threads, "wait", interrupted)
    loop = Slices(ValueError)
    with pytest.raises(KeyboardInterrupt):
        in_parallel(3, loop, (), (np.arange(6),), 2)
    assert sorted(loop.finished) == [2, 4]


def test_the_failure_of_another_slice_is_raised():
    def loop(rows):
        if rows[0] > 0:
            raise RuntimeError("the second")

    with pytest.raises(RuntimeError, match="the second"):
        in_parallel(2, loop, (), (np.arange(4),), 2)
