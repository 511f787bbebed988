"""The cores this process may use, and compiled loops run on slices of games on several of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numba
import numpy as np

from kontor.compile import INTERPRETED, attributes


def available_cores() -> int:
    """How many cores this process may use: by its affinity, its container's quota, and NUMBA_NUM_THREADS."""
    return max(1, min(_cores_of_the_process(), _quota(Path("/")), int(numba.config.NUMBA_NUM_THREADS)))


def _cores_of_the_process() -> int:
    if hasattr(os, "process_cpu_count"):  # Python 3.13: affinity, and what -X cpu_count says
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _quota(root: Path) -> int:
    """The cores that the process's control groups allow, rounded up; as many as there are without a quota."""
    return min((math.ceil(quota) for quota in _quotas(root)), default=os.cpu_count() or 1)


def _quotas(root: Path) -> Iterator[float]:
    """The cores that each control group above the process allows, of versions 1 and 2."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
        group = mount / path.strip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(mount):
                yield from _quota_of(folder)


def _quota_of(folder: Path) -> Iterator[float]:
    """The cores one control group allows: `cpu.max` says it in version 2, two files do in version 1."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        if quota != "max" and int(quota) > 0:  # version 1 has -1 without a quota
            yield int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return  # no quota there, or one that nobody can read


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="kontor")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # threads do not survive a fork


def in_parallel(
    threads: int,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    own: tuple[Any, ...],
    least: int,
    scratch: tuple[Any, ...] = (),
) -> list[Any]:
    """Call a compiled loop on slices of games of `least` or more, one per thread.

    Arrays in `own` are sliced; those in `scratch`, which come last, have an entry for each thread to work with.
    Nobody works on the games any more when it returns or raises, an interrupt included.
    """
    if INTERPRETED:
        shared, own, scratch = (tuple(map(attributes, arrays)) for arrays in (shared, own, scratch))
    size = len(own[0])
    parts = min(threads, size // least, *map(len, scratch))
    if parts <= 1:
        return [function(*shared, *own, *scratch)]
    bounds = [size * part // parts for part in range(parts + 1)]
    slices = [[a[low:high] if isinstance(a, np.ndarray) else a for a in own] for low, high in pairwise(bounds)]
    scratches = [[a[part : part + 1] for a in scratch] for part in range(parts)]
    others: list[Future[Any]] = []
    try:
        for i in range(1, parts):
            others.append(_workers().submit(function, *shared, *slices[i], *scratches[i]))
        first = function(*shared, *slices[0], *scratches[0])
    finally:
        _wait_for_all(others)
    return [first, *(other.result() for other in others)]


def _wait_for_all(futures: list[Future[Any]]) -> None:
    """Wait until nothing runs any more; an interrupt is passed on only then."""
    try:
        wait(futures)
    except BaseException:
        _wait_for_all(futures)
        raise
