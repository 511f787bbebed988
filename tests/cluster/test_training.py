"""Trainings on clusters of Ray: the same weights, and no more lost than since the last checkpoint."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from borneo_train.distributed.local import LocalWorkers  # torch may be missing
from borneo_train.distributed.ray import RayWorkers, run_on
from borneo_train.run import checkpoint
from borneo_train.run.training import CHECKPOINTS, Training
from trainings import ROLLOUT, TINY, assert_same_policy

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray's own

SOME = {"workers": 2, "opponent_share": 0.5, "learning_rate": 0.05, "timesteps": 40 * ROLLOUT, "evaluation_games": 4}


def created(folder, workers=RayWorkers, **changes):
    return Training.create(replace(TINY, out=Path(folder), **SOME | changes), "borneo train", workers=workers)


def processes():
    """The processes of Ray that learn, by number."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"RayTrainWorker" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:
            continue
    return found


def test_a_killed_worker_costs_the_time_since_the_last_checkpoint(tmp_path, cluster, capfd):
    made = cluster(2)
    training = created(tmp_path / "afar")
    told = []

    def hear(what, *about):
        told.append((what, about))
        if what == "update" and about[1] >= 20 * ROLLOUT and not any(line == "killed" for line, _ in told):
            told.append(("killed", about))
            os.kill(processes()[0], signal.SIGKILL)

    training.reporter.log = lambda line: hear("log", line)
    training.reporter.update = lambda *about: hear("update", *about)
    run_on(made.address, training)
    assert not training.stopped and training.curve[-1]["steps"] == SOME["timesteps"]
    again = [about[0] for what, about in told if what == "log" and "a worker has ended" in about[0]]
    assert len(again) == 1
    kept = int(again[0].rpartition("after ")[2].split()[0].replace(",", ""))
    killed_at = next(about[1] for what, about in told if what == "killed")
    assert kept >= killed_at - SOME["timesteps"] // CHECKPOINTS - ROLLOUT, "no more is lost than that"
    created(tmp_path / "here", LocalWorkers).run()
    assert_same_policy(tmp_path / "afar" / "last", tmp_path / "here" / "last")
    assert {path.name for path in (tmp_path / "afar").iterdir()} == {
        path.name for path in (tmp_path / "here").iterdir()
    }


def test_a_training_that_is_stopped_goes_on(tmp_path, cluster):
    address = cluster(2).address
    training = created(tmp_path / "afar", timesteps=400 * ROLLOUT)

    def update(part, steps, speed, metrics):
        if steps >= 4 * ROLLOUT and not training.stopping:
            signal.raise_signal(signal.SIGINT)

    training.reporter.update = update
    run_on(address, training)
    assert training.stopped
    kept = checkpoint.newest(tmp_path / "afar" / "checkpoints")
    again = Training.resume(training.folder, {"timesteps": int(kept.stem) + 4 * ROLLOUT}, RayWorkers)
    assert again.learner.decisions == int(kept.stem) >= 4 * ROLLOUT
    run_on(address, again)
    assert again.curve[-1]["steps"] == int(kept.stem) + 4 * ROLLOUT


def test_what_is_wrong_with_a_training_is_told_and_restarts_nobody(tmp_path, cluster):
    training = created(tmp_path / "afar", learning_rate=1e30)
    with pytest.raises(ValueError, match="the weights are no numbers any more: train anew with a smaller"):
        run_on(cluster(2).address, training)
