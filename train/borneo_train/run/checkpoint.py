"""Checkpoints: everything a training needs to go on as if it had not been stopped.

Tensors, JSON and saved games; no pickle. A checkpoint is a folder named by the decisions made, complete as soon as it
has its name. The model that was evaluated there is in it too, and stays when the rest of an old checkpoint is removed.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save_file
from torch import Tensor

from borneo_env.files import FileError, in_short, on_one_line, parse_json, read_bytes, read_text
from borneo_env.ruleset import PLAYER_COUNTS
from borneo_train.distributed.process_group import ProcessGroup
from borneo_train.games.games import file_of
from borneo_train.ppo import NUMBERS, PPO
from borneo_train.run.config import MOST_WORKERS, Settings
from borneo_train.run.folders import clear_folder, folders_by_steps, move_folder, named_by, remove_folder
from borneo_train.run.learner import create_learner

FORMAT = "borneo-checkpoint/5"
TENSORS, NOTES = "training.safetensors", "training.json"
OF_WORKERS = [f"worker-{rank}.safetensors" for rank in range(MOST_WORKERS)]
GAMES = [file_of(*part) for part in product(PLAYER_COUNTS, (False, True), range(MOST_WORKERS))]
FILES = (TENSORS, NOTES, *OF_WORKERS, *GAMES)
PER_WORKER = ("episode_return", "generator")  # tensors that each worker has of its own
PART = ".part"  # how the name of a checkpoint ends that is being written
LARGEST_TENSORS, LARGEST_NOTES, LARGEST_GAMES = 2 * 2**30, 16 * 2**20, 2**30  # bytes; no training of ours comes near
FOLDER = "checkpoints"  # of a training
KEPT = 2  # checkpoints; older ones are removed


class CheckpointError(ValueError):
    """A folder from which a training cannot go on."""


def newest(folder: Path) -> Path | None:
    """The checkpoint with the most decisions, if there is one."""
    found = folders_by_steps(folder, FILES)
    return found[-1] if found else None


def clear(folder: Path) -> None:
    """Remove all checkpoints."""
    for ending in ("", PART):
        for path in folders_by_steps(folder, FILES, ending):
            remove_folder(path, FILES)
    remove_folder(folder, ())


def save(folder: Path, learner: PPO, notes: dict[str, Any]) -> Path:
    """Write a checkpoint between two updates; `notes` are kept with it."""
    path = folder / named_by(learner.decisions)
    part = path.with_name(path.name + PART)
    clear_folder(part, FILES)
    _save_tensors(learner.tensors(), part / TENSORS)
    learner.games.save(part)
    for packed in learner.group.gather(b"")[1:]:
        _unpack(packed, part)
    about = {"format": FORMAT, "learner": learner.numbers(), "notes": notes}
    (part / NOTES).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    move_folder(part, path)
    for old in folders_by_steps(folder, FILES)[:-KEPT]:
        remove_folder(old, FILES)
    return path


def save_part(learner: PPO) -> None:
    """Send what a worker has of its own to rank 0, which writes it beside the rest."""
    rank = learner.group.rank
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder)
        tensors = {name: tensor for name, tensor in learner.tensors().items() if name in PER_WORKER}
        _save_tensors(tensors, part / OF_WORKERS[rank])
        learner.games.save(part, rank)
        learner.group.gather(_packed(part))


def _packed(folder: Path) -> bytes:
    """The files of a folder as one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    return packed.getvalue()


def _unpack(packed: bytes, folder: Path) -> None:
    """Write the files of a worker beside the others."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for name in archive.namelist():
            if name not in FILES:
                raise CheckpointError(f"a worker has sent {in_short(name)}, which is no part of a checkpoint")
            (folder / name).write_bytes(archive.read(name))


def _save_tensors(tensors: dict[str, Tensor], path: Path) -> None:
    save_file({name: tensor.contiguous().cpu() for name, tensor in tensors.items()}, path)


def restore(path: Path, learner: PPO) -> dict[str, Any]:
    """Bring a learner and its games to where a checkpoint has them; returns the notes."""
    try:
        about = parse_json(read_text(path / NOTES, LARGEST_NOTES))
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {in_short(about['format'])}, not {FORMAT!r}")
        rank = learner.group.rank
        tensors = load(read_bytes(path / TENSORS, LARGEST_TENSORS))
        if rank:
            tensors |= load(read_bytes(path / OF_WORKERS[rank], LARGEST_TENSORS))
        check_tensors(tensors, learner.tensors())
        check_games(path, learner)
        check_numbers(about["learner"])
        learner.games.restore(path, rank)
        learner.restore(tensors, about["learner"])
        notes: dict[str, Any] = about["notes"]
    except Exception as error:  # a damaged file can raise nearly anything
        reason = on_one_line(str(error) or type(error).__name__)
        raise CheckpointError(f"{path}: cannot go on from this checkpoint: {reason}{_remedy(path)}") from error
    return notes


def _remedy(path: Path) -> str:
    """What one can do about a damaged checkpoint, if there is an older one."""
    older = [other for other in folders_by_steps(path.parent, FILES) if other < path]
    return f"; move it away, and --resume goes on from {older[-1].name}" if older else ""


def newest_learner(settings: Settings, group: ProcessGroup, folder: Path) -> PPO:
    """A learner from the newest checkpoint in a folder; a new one if there is none."""
    path = newest(folder)
    learner = create_learner(settings, group, resuming=path is not None)
    if path is not None:
        restore(path, learner)
    return learner


def check_tensors(found: dict[str, Tensor], own: dict[str, Tensor]) -> None:
    """Refuse tensors that no learner of these settings has."""
    if set(found) != set(own):
        raise ValueError(f"it is of another network: it should hold {in_short(sorted(own))}")
    for name, tensor in found.items():
        if (tensor.shape, tensor.dtype) != (own[name].shape, own[name].dtype):
            raise ValueError(f"{in_short(name)} is of another type or shape than it should be")
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{in_short(name)} holds numbers that are none")


def check_games(path: Path, learner: PPO) -> None:
    """Refuse saved games that are missing or far too large."""
    for name in learner.games.files(learner.group.rank):
        saved = path / name
        if not saved.is_file() or saved.stat().st_size > LARGEST_GAMES:
            raise FileError(saved, f"is no file of at most {LARGEST_GAMES:,} bytes")


def check_numbers(numbers: dict[str, float]) -> None:
    """Refuse numbers that no learner has."""
    if set(numbers) != set(NUMBERS):
        raise ValueError(f"a learner has {', '.join(NUMBERS)}")
    counts, parts = ([numbers[name] for name in names] for names in (NUMBERS[:3], NUMBERS[3:]))
    if not all(type(count) is int and 0 <= count < 2**62 for count in counts):
        raise ValueError(f"{', '.join(NUMBERS[:3])} are whole numbers from 0")
    if not all(type(part) in (int, float) and 0 <= part <= 1 for part in parts):
        raise ValueError(f"{' and '.join(NUMBERS[3:])} are numbers from 0 to 1")
