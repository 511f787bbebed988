"""Checkpoints: everything a training needs to go on as if it had not been stopped.

Tensors, JSON and saved games; no pickle. A checkpoint is a folder named by the steps made, complete as soon as it has
its name.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from sb3_contrib import MaskablePPO

from borneo_env.engine.batch import Batch
from borneo_train.buffer import order_of
from borneo_train.vec_env import BorneoVecEnv

FORMAT = "borneo-checkpoint/1"
TENSORS, NOTES = "training.safetensors", "training.json"
KEPT = 2  # checkpoints; older ones are removed


class CheckpointError(ValueError):
    """A folder from which a training cannot go on."""


def newest(folder: Path) -> Path | None:
    """The checkpoint with the most steps, if there is one."""
    found = sorted(path for path in folder.glob("*") if path.suffix != ".part")
    return found[-1] if found else None


def save(folder: Path, learner: MaskablePPO, games: BorneoVecEnv, notes: dict[str, Any]) -> Path:
    """Write a checkpoint between two rollouts; `notes` are kept with it."""
    path = folder / f"{learner.num_timesteps:012}"
    part = path.with_suffix(".part")
    for old in (part, path):
        shutil.rmtree(old, ignore_errors=True)
    part.mkdir(parents=True)
    tensors = {f"policy.{name}": tensor for name, tensor in learner.policy.state_dict().items()}
    for number, moments in learner.policy.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": tensor for name, tensor in moments.items()}
    tensors["random.torch"] = torch.get_rng_state()
    tensors["random.order"] = order_of(learner).get_state()
    if learner.device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    assert learner._last_episode_starts is not None
    tensors["starts"] = torch.from_numpy(np.asarray(learner._last_episode_starts, np.uint8))
    for table in games.tables:
        count = table.ruleset.players
        table.batch.save(part / f"games-{count}.npz")
        tensors[f"seat.{count}"] = torch.from_numpy(table.seat)
        tensors[f"seated.{count}"] = torch.from_numpy(table.seated)
    save_file({name: tensor.contiguous().cpu() for name, tensor in tensors.items()}, part / TENSORS)
    about = {
        "format": FORMAT,
        "steps": learner.num_timesteps,
        "updates": learner._n_updates,
        "random": games.rng.bit_generator.state,
        "notes": notes,
    }
    (part / NOTES).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    part.rename(path)
    for old in sorted(folder.glob("*"))[:-KEPT]:
        shutil.rmtree(old)
    return path


def restore(path: Path, learner: MaskablePPO, games: BorneoVecEnv) -> dict[str, Any]:
    """Bring a learner and its games to where a checkpoint has them; returns the notes."""
    try:
        about = json.loads((path / NOTES).read_text(encoding="utf-8"))
        tensors = load_file(path / TENSORS)
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {FORMAT!r}")
        _restore_learner(learner, tensors, about)
        _restore_games(path, games, tensors)
        games.rng.bit_generator.state = about["random"]
    except Exception as error:  # a damaged file can raise nearly anything
        raise CheckpointError(f"{path}: cannot go on from this checkpoint: {error}") from error
    learner._last_obs = games.observations()
    learner._last_episode_starts = tensors["starts"].numpy().astype(np.bool_)
    notes: dict[str, Any] = about["notes"]
    return notes


def _restore_learner(learner: MaskablePPO, tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
    own = {name.removeprefix("policy."): value for name, value in tensors.items() if name.startswith("policy.")}
    learner.policy.load_state_dict(own)
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, number, moment = name.split(".")
            moments.setdefault(int(number), {})[moment] = value
    state = learner.policy.optimizer.state_dict()
    learner.policy.optimizer.load_state_dict({"state": moments, "param_groups": state["param_groups"]})
    torch.set_rng_state(tensors["random.torch"])
    order_of(learner).set_state(tensors["random.order"])
    if learner.device.type == "cuda" and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    learner.num_timesteps = about["steps"]
    learner._n_updates = about["updates"]


def _restore_games(path: Path, games: BorneoVecEnv, tensors: dict[str, torch.Tensor]) -> None:
    for table in games.tables:
        count = table.ruleset.players
        batch = Batch.load(path / f"games-{count}.npz", threads=table.batch.threads)
        table.go_on(batch, tensors[f"seat.{count}"].numpy(), tensors[f"seated.{count}"].numpy())
