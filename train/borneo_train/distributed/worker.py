"""A worker: a process that plays and learns as rank 0 says, with games of its own.

It gets a JSON text: its rank, its parent's number, where all meet, the settings, and the folder of checkpoints. It goes
on from the newest of them. It ends with its parent, whatever ends that.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

from borneo_train.distributed.local import ready_key
from borneo_train.distributed.process_group import CHECKPOINT, STEP, ProcessGroup, rendezvous
from borneo_train.ppo import PPO
from borneo_train.run import checkpoint
from borneo_train.run.config import Settings


class Follower:
    """The run of a worker: it goes on as rank 0 says."""

    def __init__(self, learner: PPO) -> None:
        self._learner = learner

    def goes_on(self) -> bool:
        """Whether another update comes."""
        command, self._learner.progress = self._learner.group.broadcast()
        while command == CHECKPOINT:
            checkpoint.save_part(self._learner)
            command, self._learner.progress = self._learner.group.broadcast()
        return command == STEP

    def after_update(self, metrics: dict[str, float]) -> None:
        """Rank 0 shows them."""


def _exit_with(parent: int) -> None:
    """End this process when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    about = json.loads(sys.argv[1])
    threading.Thread(target=_exit_with, args=(about["parent"],), daemon=True).start()
    settings = Settings.kept(about["settings"], Path(about["out"]))
    group = ProcessGroup(about["rank"], settings.workers)
    learner, _ = checkpoint.learner_from(checkpoint.newest(Path(about["checkpoints"])), settings, group)
    store = rendezvous(Path(about["store"]), group.size)
    store.set(ready_key(group.rank), "")
    group.init(store, settings.device)
    learner.learn(Follower(learner))


if __name__ == "__main__":
    main()
