"""A node: a process of a training on a cluster, which Ray Train starts on any machine, and again when one is lost.

All of them begin where the newest checkpoint at the desk has them. The first one trains as a command does. The others
follow it.
"""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path
from typing import Any

from borneo_agents.arena.ray import parcel
from borneo_agents.arena.ray.parcel import ParcelError

from borneo_train import checkpoint
from borneo_train.desk import Mirror, TellerAfar
from borneo_train.settings import Settings
from borneo_train.together import LEAVE, Together
from borneo_train.training import CHECKPOINTS, Training
from borneo_train.worker import follow
from borneo_train.workers import one_thread

ROWS, FAILED = "rows", "failed"  # what is told at the end: how the learner compares, or why there is none


class Beside:
    """The other nodes, as the first one sees them."""

    def __init__(self, together: Together, mirror: Mirror) -> None:
        self.together = together
        self._mirror = mirror

    def start(self, checkpoints: Path) -> Beside:
        return self

    def order(self, order: int, progress: float) -> None:
        """Have all do something together; what was written before is safe then."""
        self._mirror.send()
        self.together.order(order, progress)

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, ValueError):  # which begins nobody anew
            self.order(LEAVE, 1.0)


def learn(about: dict[str, Any]) -> None:
    """Do a node's part of a training, from the newest checkpoint to the end.

    What is wrong with the training or this machine is told, and ends it. All else begins all nodes anew.
    """
    import ray
    from ray import train

    context = train.get_context()
    try:
        _learn(ray, about, Together(context.get_world_rank(), context.get_world_size()))
    except ParcelError as error:
        ray.get(
            about["desk"].tell.remote(FAILED, f"{platform.node()}, a machine of the cluster, cannot learn: {error}")
        )
    except ValueError as error:
        ray.get(about["desk"].tell.remote(FAILED, str(error)))


def _learn(ray: Any, about: dict[str, Any], together: Together) -> None:
    desk = about["desk"]
    with tempfile.TemporaryDirectory(prefix="borneo-node-") as place:
        parcel.unpack(about["parcel"], Path(place, "files"))
        parcel.check(about["parcel"])
        folder = Path(place, "training")
        for path, content in ray.get(desk.fetch.remote()).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        settings = Settings.kept(about["settings"], folder)
        if together.rank:
            _follow(settings, together)
        else:
            _lead(ray, desk, settings, together)


def _follow(settings: Settings, together: Together) -> None:
    with one_thread(together.count):
        follow(checkpoint.taken_up(settings, together, settings.out / CHECKPOINTS))


def _lead(ray: Any, desk: Any, settings: Settings, together: Together) -> None:
    """Train as a command does."""
    mirror, teller = Mirror(ray, desk, settings.out), TellerAfar(ray, desk)
    again = ray.get(desk.begin.remote())
    training = teller.training = Training.taken_up(settings, lambda _: Beside(together, mirror), teller)
    if again:
        kept = f"{training.learner.decisions:,} decisions"
        teller.say(f"a worker has ended; all go on from the checkpoint after {kept}")
    rows = training.run()
    mirror.send()
    ray.get(desk.tell.remote(ROWS, rows, training.stopped))
