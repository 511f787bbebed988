"""A worker: a process that plays and learns as the first process of a training says.

It is started with a JSON text: its rank, its parent's number, where all meet, the settings, and the folder of
checkpoints. It goes on from the newest of them, and does the same as the first process with games of its own. It ends
with the first process, whatever becomes of that.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

from borneo_train import checkpoint
from borneo_train.learner import Learner
from borneo_train.settings import Settings
from borneo_train.together import AGREE, FREEZE, KEEP, LEAVE, READY, ROUND, SETTLE, Together, meeting_place


def follow(learner: Learner) -> None:
    """Do what the first process says, until it says that this is the end, or ends this one."""
    order = ROUND
    while order != LEAVE:
        order, learner.progress = learner.together.order()
        if order == AGREE:
            learner.agree()
        elif order == ROUND:
            learner.play()
            learner.learn()
        elif order == SETTLE:
            learner.settle()
        elif order == KEEP:
            checkpoint.save_share(learner)
        elif order == FREEZE:
            learner.freeze()


def _leave_with(parent: int) -> None:
    """End this process when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    about = json.loads(sys.argv[1])
    threading.Thread(target=_leave_with, args=(about["parent"],), daemon=True).start()
    settings = Settings.kept(about["settings"], Path(about["out"]))
    together = Together(about["rank"], settings.workers)
    learner = checkpoint.taken_up(settings, together, Path(about["checkpoints"]))
    store = meeting_place(Path(about["store"]), together.count)
    store.set(READY.format(together.rank), "")
    together.join(store, settings.device)
    follow(learner)


if __name__ == "__main__":
    main()
