"""Checkpoints: everything a training needs to go on as if it had not been stopped.

Tensors, JSON and saved games; no pickle. A checkpoint is a folder named by the steps made, complete as soon as it has
its name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save_file
from sb3_contrib import MaskablePPO

from borneo_env.engine.batch import Batch
from borneo_env.files import FileError, in_short, on_one_line, parse_json, read_bytes, read_text
from borneo_env.ruleset import PLAYER_COUNTS
from borneo_train.buffer import order_of
from borneo_train.folders import clear_folder, folders_by_steps, move_folder, named_by, remove_folder
from borneo_train.vec_env import BorneoVecEnv

FORMAT = "borneo-checkpoint/2"
TENSORS, NOTES = "training.safetensors", "training.json"
GAMES = {count: f"games-{count}.npz" for count in PLAYER_COUNTS}
FILES = (TENSORS, NOTES, *GAMES.values())
PART = ".part"  # how the name of a checkpoint ends that is being written
LARGEST_TENSORS, LARGEST_NOTES, LARGEST_GAMES = 2 * 2**30, 16 * 2**20, 2**30  # bytes; no training of ours comes near
KEPT = 2  # checkpoints; older ones are removed


class CheckpointError(ValueError):
    """A folder from which a training cannot go on."""


def newest(folder: Path) -> Path | None:
    """The checkpoint with the most steps, if there is one."""
    found = folders_by_steps(folder, FILES)
    return found[-1] if found else None


def clear(folder: Path) -> None:
    """Remove all checkpoints."""
    for ending in ("", PART):
        for path in folders_by_steps(folder, FILES, ending):
            remove_folder(path, FILES)
    remove_folder(folder, ())


def save(folder: Path, learner: MaskablePPO, games: BorneoVecEnv, notes: dict[str, Any]) -> Path:
    """Write a checkpoint between two rollouts; `notes` are kept with it."""
    path = folder / named_by(learner.num_timesteps)
    part = folder / f"{path.name}{PART}"
    clear_folder(part, FILES)
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
        table.batch.save(part / GAMES[count])
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
    move_folder(part, path)
    for old in folders_by_steps(folder, FILES)[:-KEPT]:
        remove_folder(old, FILES)
    return path


def restore(path: Path, learner: MaskablePPO, games: BorneoVecEnv) -> dict[str, Any]:
    """Bring a learner and its games to where a checkpoint has them; returns the notes."""
    try:
        about = parse_json(read_text(path / NOTES, LARGEST_NOTES))
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {in_short(about['format'])}, not {FORMAT!r}")
        tensors = load(read_bytes(path / TENSORS, LARGEST_TENSORS))
        _restore_learner(learner, tensors, about)
        _restore_games(path, games, tensors)
        games.rng.bit_generator.state = about["random"]
        starts = tensors["starts"].numpy()
        if starts.shape != (games.num_envs,):
            raise ValueError(f"there is one start for each of {games.num_envs} games, not {starts.shape}")
        notes: dict[str, Any] = about["notes"]
    except Exception as error:  # a damaged file can raise nearly anything
        told = on_one_line(str(error) or type(error).__name__)
        raise CheckpointError(f"{path}: cannot go on from this checkpoint: {told}") from error
    learner._last_obs = games.observations()
    learner._last_episode_starts = starts.astype(np.bool_)
    return notes


def _restore_learner(learner: MaskablePPO, tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
    steps, updates = about["steps"], about["updates"]
    if not all(type(number) is int and 0 <= number < 2**62 for number in (steps, updates)):
        raise ValueError(f"{in_short(steps)} steps and {in_short(updates)} updates are no numbers from 0")
    own = {name.removeprefix("policy."): value for name, value in tensors.items() if name.startswith("policy.")}
    for name, value in own.items():
        if not torch.isfinite(value).all():
            raise ValueError(f"{in_short(name)} of the policy holds numbers that are none")
    learner.policy.load_state_dict(own)
    learner.policy.optimizer.load_state_dict(_moments(learner, tensors))
    torch.set_rng_state(tensors["random.torch"])
    order_of(learner).set_state(tensors["random.order"])
    if learner.device.type == "cuda" and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    learner.num_timesteps, learner._n_updates = steps, updates


def _moments(learner: MaskablePPO, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    """What the optimiser remembers, which fits the policy."""
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, which, moment = name.split(".")
            moments.setdefault(int(which), {})[moment] = value
    groups = learner.policy.optimizer.state_dict()["param_groups"]
    shapes = [parameter.shape for group in learner.policy.optimizer.param_groups for parameter in group["params"]]
    for number, found in moments.items():
        wanted = {"step": (), "exp_avg": shapes[number], "exp_avg_sq": shapes[number]}  # those of Adam
        if {moment: value.shape for moment, value in found.items()} != wanted:
            raise ValueError(f"what the optimiser remembers of parameter {number} does not fit the policy")
    return {"state": moments, "param_groups": groups}


def _restore_games(path: Path, games: BorneoVecEnv, tensors: dict[str, torch.Tensor]) -> None:
    for table in games.tables:
        count = table.ruleset.players
        saved = path / GAMES[count]
        if not saved.is_file() or saved.stat().st_size > LARGEST_GAMES:
            raise FileError(saved, f"is no file of at most {LARGEST_GAMES:,} bytes")
        batch = Batch.load(saved, threads=table.batch.threads)
        table.go_on(batch, tensors[f"seat.{count}"].numpy(), tensors[f"seated.{count}"].numpy())
