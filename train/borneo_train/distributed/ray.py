"""A training on a cluster of Ray: Ray Train starts its processes on any machines, and all of them anew if one is lost.

All processes start from the newest checkpoint in --out, which is on storage that every machine reaches, as Ray Train
asks for. Rank 0 trains as the command does, the others follow. An actor beside the command carries what there is to
show one way, and Ctrl-C the other.
"""

from __future__ import annotations

import logging
import platform
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from borneo_agents.arena.ray import parcel
from borneo_agents.arena.ray.parcel import ParcelError
from borneo_agents.cluster import LOCAL, ClusterError, cores_of, joined

from borneo_env.agent import find_agent
from borneo_train.distributed.local import LocalWorkers, WorkerGroup, threads
from borneo_train.distributed.process_group import SHUTDOWN, TIMEOUT, ProcessGroup, loopback
from borneo_train.distributed.worker import Follower
from borneo_train.run import checkpoint
from borneo_train.run.checks import agents_of
from borneo_train.run.config import CPU, CUDA, Settings
from borneo_train.run.progress import STOPPING, ProgressReporter
from borneo_train.run.tasks import Evaluation
from borneo_train.run.training import Training
from kontor.files import on_one_line

RESTARTS = 20  # of a training whose machines are lost
POLL_SECONDS = 0.2  # between two looks at the progress
BACKENDS = "cpu:gloo,cuda:nccl"
ENDED, FAILED = "ended", "failed"  # what is posted at the end: whether it was stopped, and its curve; or what is wrong


class RayWorkers(LocalWorkers):
    """The workers as the command sees them: Ray Train starts them, also with cards."""

    devices = (CPU, CUDA)


class RayFollowers(WorkerGroup):
    """The workers as rank 0 sees them."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, ValueError):  # others let Ray Train start all anew
            self.command(SHUTDOWN, 1.0)


class ProgressServer:
    """The actor beside the command: what there is to show, and whether to stop."""

    def __init__(self) -> None:
        self._posts: list[tuple[str, tuple[Any, ...]]] = []
        self._stopping = False
        self._starts = 0

    def start(self) -> int:
        """How often the training was started before."""
        self._starts += 1
        return self._starts - 1

    def post(self, what: str, *about: Any) -> bool:
        """Keep what is to be shown; returns whether the training is to stop."""
        self._posts.append((what, about))
        return self._stopping

    def poll(self) -> list[tuple[str, tuple[Any, ...]]]:
        """What was posted since the last poll."""
        posts, self._posts = self._posts, []
        return posts

    def stop(self) -> None:
        self._stopping = True


class RemoteProgress(ProgressReporter):
    """Posts what there is to show to the server, which knows whether to stop."""

    def __init__(self, ray: Any, server: Any) -> None:
        self._ray, self._server = ray, server
        self.training: Training | None = None

    def __enter__(self) -> RemoteProgress:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def log(self, line: str) -> None:
        self._post("log", line)

    def update(self, part: float, steps: int, speed: float, metrics: dict[str, float]) -> None:
        self._post("update", part, steps, speed, metrics)

    def evaluation(self, steps: int, found: list[Evaluation]) -> None:
        self._post("evaluation", steps, found)

    def _post(self, what: str, *about: Any) -> None:
        stopping = self._ray.get(self._server.post.remote(what, *about))
        if self.training:
            self.training.stopping = stopping


def run_on(address: str, training: Training) -> None:
    """Train to the end, or until Ctrl-C."""
    with joined(address, training.settings.workers) as ray, tempfile.TemporaryDirectory() as storage:
        logging.getLogger("ray.train").setLevel(logging.ERROR)
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        server = ray.remote(num_cpus=0, scheduling_strategy=here)(ProgressServer).remote()
        if cores_of(ray) < training.settings.workers:
            training.reporter.log(
                f"the cluster has {cores_of(ray)} cores for {training.settings.workers} workers: waiting for machines "
                "to join it"
            )
        fit = Fit(_trainer(training, server, address, storage))
        with training.reporter:
            _show(ray, training, server, fit)


class Fit(threading.Thread):
    """Ray Train, in a thread of its own, so that the main one can listen to Ctrl-C."""

    def __init__(self, trainer: Any) -> None:
        super().__init__(daemon=True)
        self._trainer = trainer
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self._trainer.fit()
        except Exception as error:
            self.error = error


def _trainer(training: Training, server: Any, address: str, storage: str) -> Any:
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    settings = training.settings
    agents = {name: find_agent(name) for name in agents_of(settings)}
    local = {"env_vars": {"GLOO_SOCKET_IFNAME": loopback()}} if address == LOCAL else None
    about = {
        "server": server, "settings": settings.as_dict(), "out": str(training.folder.absolute()),
        "parcel": parcel.packed(agents, False),
    }  # fmt: skip
    return TorchTrainer(
        train_on_node,
        train_loop_config=about,
        scaling_config=ScalingConfig(num_workers=settings.workers, use_gpu=settings.device == CUDA),
        torch_config=TorchConfig(
            BACKENDS if settings.device == CUDA else "gloo", timeout_s=int(TIMEOUT.total_seconds())
        ),
        run_config=RunConfig(
            storage_path=storage, failure_config=FailureConfig(max_failures=RESTARTS), worker_runtime_env=local
        ),
    )


def _show(ray: Any, training: Training, server: Any, fit: Fit) -> None:
    """Show what is posted until the end."""
    ended = False
    while True:
        over = not fit.is_alive()
        try:
            for what, about in ray.get(server.poll.remote()):
                if what == ENDED:
                    ended, (training.stopped, training.curve) = True, about
                elif what == FAILED:
                    raise ValueError(about[0])
                else:
                    getattr(training.reporter, what)(*about)
            if over:
                break
            time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            if training.stopping:
                raise
            training.stopping = True
            ray.get(server.stop.remote())
            training.reporter.log(STOPPING)
    if not ended:
        reason = on_one_line(str(fit.error).strip().rpartition("\n")[2])
        raise ClusterError(f"the training has ended: {reason}; --resume goes on from the last checkpoint")


def train_on_node(about: dict[str, Any]) -> None:
    """A process's part of a training. What is wrong with the training or the machine ends it; all else restarts it."""
    import ray
    from ray import train

    context = train.get_context()
    group = ProcessGroup(context.get_world_rank(), context.get_world_size())
    try:
        with tempfile.TemporaryDirectory(prefix="borneo-node-") as place:
            parcel.unpack(about["parcel"], Path(place))
            parcel.check(about["parcel"])
            settings = Settings.kept(about["settings"], Path(about["out"]))
            if group.rank:
                with threads(1):
                    newest = checkpoint.newest(settings.out / checkpoint.FOLDER)
                    learner, _ = checkpoint.learner_from(newest, settings, group)
                    learner.learn(Follower(learner))
            else:
                _lead(ray, about["server"], settings, group)
    except ParcelError as error:
        _fail(ray, about, f"{platform.node()}, a machine of the cluster, cannot learn: {error}")
    except ValueError as error:
        _fail(ray, about, str(error))


def _lead(ray: Any, server: Any, settings: Settings, group: ProcessGroup) -> None:
    """Train as the command does."""
    reporter = RemoteProgress(ray, server)
    restarted = ray.get(server.start.remote())
    training = reporter.training = Training.resume(
        settings.out, settings.as_dict(), lambda _: RayFollowers(group), reporter
    )
    if restarted:
        reporter.log(
            f"a worker has ended; all go on from the checkpoint after {training.learner.decisions:,} decisions"
        )
    training.run()
    ray.get(server.post.remote(ENDED, training.stopped, training.curve))


def _fail(ray: Any, about: dict[str, Any], reason: str) -> None:
    ray.get(about["server"].post.remote(FAILED, reason))
