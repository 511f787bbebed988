"""Tiny trainings, and what tests ask of them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from borneo_agents.policy.model import read_model
from borneo_train.run.config import Settings

pytest.importorskip("torch")

from borneo_train.run.training import Training  # torch may be missing

ROLLOUT = 12 * 4
TINY = Settings(
    n_envs=12, n_steps=4, batch_size=12, n_epochs=1, learning_rate=1e-3, network="plain", actor="8x1", critic="8x1",
    timesteps=4 * ROLLOUT, evaluations=2, evaluation_games=4, against="random", players="4", device="cpu", workers=1,
    seed=3,
)  # fmt: skip
TWO_TABLES = {
    "network": "tied", "actor": "64x1", "critic": "64x1", "players": "3,5", "batch_size": 6, "opponent_share": 0.5,
    "learning_rate": 0.05,  # earlier versions are soon others
}  # fmt: skip


def begin(folder, **changes):
    return Training.create(replace(TINY, out=Path(folder), **changes), "borneo train")


def go_on(folder, **given):
    return Training.resume(Path(folder), given)


def run(training):
    training.run()
    return training


def stop_after(training, decisions):
    """Let somebody stop the training once it has made so many decisions."""
    goes_on = training.goes_on

    def stopping():
        training.stopping = training.learner.decisions >= decisions
        return goes_on()

    training.goes_on = stopping
    return training


def curve(folder):
    return [json.loads(line) for line in (Path(folder) / "curve.jsonl").read_text().splitlines()]


def assert_same_policy(folder, other):
    ours, theirs = (read_model(path).layers for path in (folder, other))
    for layer, same in zip(ours, theirs, strict=True):
        for part, values in layer._asdict().items():
            assert np.array_equal(values, getattr(same, part)), part
