"""Joining a cluster of Ray, or making one of this machine; quietly, and with one line where that fails."""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kontor.files import in_short, on_one_line

LOCAL = "local"  # in place of an address: a cluster of this machine, which ends with the command
PATIENCE = 5.0  # seconds for an answer at an address
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # with settings: none
SETTINGS, KIND_AT, FRAME = 4, 3, 9  # the kind of frame that answers it, where that stands, and bytes of its head
TOKEN = "RAY_AUTH_TOKEN"  # the variable with what a process must know to talk to a cluster
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is sent to the makers of Ray
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # and Ray does not warn that this will be so
    "RAY_TRAIN_ENABLE_V2_MIGRATION_WARNINGS": "0",
    "RAY_worker_niceness": "0",  # as our own workers have it
    "RAY_kill_child_processes_on_worker_exit": "false",  # ours end by themselves, and remove what they leave
}


class ClusterError(ValueError):
    """A cluster that cannot be joined or used."""


@contextmanager
def joined(address: str, cores: int) -> Iterator[Any]:
    """The module ray within a cluster, which is left at the end; `local` makes one with so many cores.

    Its ports are open to the network: so it asks for a token, unless ray was imported before this.

    A cluster that was joined before (`ray.init`) is not left.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if address == LOCAL and "RAY_AUTH_MODE" not in os.environ and "ray" not in sys.modules:  # which reads it only once
        os.environ |= {"RAY_AUTH_MODE": "token", TOKEN: secrets.token_hex(32)}
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ClusterError(f"--cluster needs {error.name}: pip install '.[ray]' in the project's folder") from None
    if ray.is_initialized():
        yield ray
        return
    if address != LOCAL:
        check_address(address)
    try:
        _join(ray, address, cores)
    except (RuntimeError, ConnectionError, ValueError, OSError) as error:
        raise ClusterError(f"the cluster {in_short(address)} cannot be joined: {on_one_line(str(error))}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _join(ray: Any, address: str, cores: int) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        ray.init(address=LOCAL, num_cpus=cores, include_dashboard=False, **quiet)
    else:
        ray.init(address=address, **quiet)


def cores_of(ray: Any) -> int:
    """How many cores the cluster has."""
    return int(ray.cluster_resources().get("CPU", 0))


def check_address(address: str) -> None:
    """Complain about an address at which no cluster answers: Ray itself would wait for minutes, and then abort."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal() and 0 < int(port) < 2**16) or "/" in host:
        raise ClusterError(
            f"--cluster is {LOCAL}, or the address of a cluster such as 10.0.0.1:6379, not {in_short(address)}"
        )
    remedy = "`ray start --head` prints the address of a cluster, and `ray status` tells whether it runs"
    try:
        with socket.create_connection((host, int(port)), PATIENCE) as connection:
            connection.settimeout(PATIENCE)
            connection.sendall(GREETING)
            answer = connection.recv(FRAME)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ClusterError(f"no cluster answers at {in_short(address)}: {on_one_line(reason)}; {remedy}") from None
    if len(answer) <= KIND_AT or answer[KIND_AT] != SETTINGS:
        raise ClusterError(f"what answers at {in_short(address)} is no cluster of Ray; {remedy}")
