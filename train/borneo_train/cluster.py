"""A training on a cluster of Ray: Ray Train starts its processes, and starts all of them anew when one is lost."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from typing import Any

from borneo_agents.arena.ray.parcel import packed
from borneo_agents.cluster import LOCAL, ClusterError, cores_of, joined

from borneo_env.agent import find_agent
from borneo_env.files import on_one_line
from borneo_train.desk import Desk
from borneo_train.node import FAILED, ROWS, learn
from borneo_train.report import Row
from borneo_train.settings import CPU, CUDA
from borneo_train.together import PATIENCE, loopback
from borneo_train.training import STOPPING, Training
from borneo_train.workers import Workers

RESTARTS = 20  # of a training whose machines are lost
LOOK = 0.2  # seconds between two looks at the desk
BACKENDS = "cpu:gloo,cuda:nccl"


class Elsewhere(Workers):
    """Those of a training that others start; with cards too."""

    devices = (CPU, CUDA)


def run_on(address: str, training: Training) -> list[Row]:
    """Train to the end, or until somebody stops it; returns how the learner compares with the bots."""
    with joined(address, training.settings.workers) as ray:
        logging.getLogger("ray.train").setLevel(logging.ERROR)
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        options = {"num_cpus": 0, "scheduling_strategy": here}
        desk = ray.remote(**options)(Desk).remote(str(training.folder.absolute()))
        with tempfile.TemporaryDirectory() as storage:
            command = _Command(ray, training, desk)
            if cores_of(ray) < training.settings.workers:
                wanted = f"{training.settings.workers} workers"
                training.teller.say(
                    f"the cluster has {cores_of(ray)} cores for {wanted}: waiting for machines to join it"
                )
            command.start(_trainer(training, desk, address, storage))
            with training.teller:
                return command.rows()


def _trainer(training: Training, desk: Any, address: str, storage: str) -> Any:
    """What Ray Train is to do. Its own storage stays empty: all is kept at the desk."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    settings = training.settings
    agents = {name: find_agent(name) for name in (*settings.tables(), settings.bot)}
    local = {"env_vars": {"GLOO_SOCKET_IFNAME": loopback()}} if address == LOCAL else None
    return TorchTrainer(
        learn,
        train_loop_config={"desk": desk, "settings": settings.as_dict(), "parcel": packed(agents, False)},
        scaling_config=ScalingConfig(num_workers=settings.workers, use_gpu=settings.device == CUDA),
        torch_config=TorchConfig(
            BACKENDS if settings.device == CUDA else "gloo", timeout_s=int(PATIENCE.total_seconds())
        ),
        run_config=RunConfig(
            storage_path=storage, failure_config=FailureConfig(max_failures=RESTARTS), worker_runtime_env=local
        ),
    )


class _Command:
    """The command, while others train: it shows what they tell, and hears Ctrl-C."""

    def __init__(self, ray: Any, training: Training, desk: Any) -> None:
        self._ray, self._training, self._desk = ray, training, desk
        self._rows: list[Row] | None = None
        self._error: Exception | None = None

    def start(self, trainer: Any) -> None:
        """Ray Train waits for its end in a thread of its own, so that this one can listen."""

        def fit() -> None:
            try:
                trainer.fit()
            except Exception as error:
                self._error = error

        self._thread = threading.Thread(target=fit, daemon=True)
        self._thread.start()

    def rows(self) -> list[Row]:
        """Show what is told until the end."""
        while self._thread.is_alive():
            try:
                self._hear()
                time.sleep(LOOK)
            except KeyboardInterrupt:
                if self._training.stopping:
                    raise
                self._training.stopping = True
                self._ray.get(self._desk.stop.remote())
                self._training.teller.say(STOPPING)
        self._hear()
        if self._rows is None:
            told = on_one_line(str(self._error).strip().rpartition("\n")[2])
            raise ClusterError(f"the training has ended: {told}; --resume goes on from the last checkpoint")
        return self._rows

    def _hear(self) -> None:
        for what, about in self._ray.get(self._desk.heard.remote()):
            if what == ROWS:
                self._rows, self._training.stopped = about
            elif what == FAILED:
                raise ValueError(about[0])
            else:
                getattr(self._training.teller, what)(*about)
