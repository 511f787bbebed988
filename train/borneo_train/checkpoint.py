"""Checkpoints: everything a training needs to go on as if it had not been stopped.

Tensors, JSON and saved games; no pickle. A checkpoint is a folder named by the decisions made, complete as soon as it
has its name. The model that was measured there is in it too, and stays when the rest of an old checkpoint is removed.
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
from borneo_agents.policy.model import CARD, read_model
from safetensors.torch import load, save_file
from torch import Tensor

from borneo_env.files import FileError, in_short, on_one_line, parse_json, read_bytes, read_text
from borneo_env.ruleset import PLAYER_COUNTS
from borneo_train.folders import clear_folder, folders_by_steps, move_folder, named_by, remove_folder
from borneo_train.games import file_of
from borneo_train.learner import KEPT as NUMBERS
from borneo_train.learner import OWN, QUICK, Learner
from borneo_train.settings import MOST_WORKERS, Settings
from borneo_train.together import ALONE, Together
from borneo_train.widening import fitted_tensors

FORMAT = "borneo-checkpoint/4"
TENSORS, NOTES = "training.safetensors", "training.json"
SHARES = [f"worker-{worker}.safetensors" for worker in range(MOST_WORKERS)]
GAMES = [file_of(*part) for part in product(PLAYER_COUNTS, (False, True), range(MOST_WORKERS))]
FILES = (TENSORS, NOTES, *SHARES, *GAMES)
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


def save(folder: Path, learner: Learner, notes: dict[str, Any]) -> Path:
    """Write a checkpoint between two updates; `notes` are kept with it."""
    path, part = _paths(folder, learner)
    clear_folder(part, FILES)
    _save_tensors(learner.tensors(), part / TENSORS)
    learner.games.save(part)
    for share in learner.together.collect(b"")[1:]:
        _unpack(share, part)
    about = {"format": FORMAT, "learner": learner.numbers_kept(), "notes": notes}
    (part / NOTES).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    move_folder(part, path)
    for old in folders_by_steps(folder, FILES)[:-KEPT]:
        remove_folder(old, FILES)
    return path


def save_share(learner: Learner) -> None:
    """Send what a worker has of its own to the first one, who writes it beside the rest."""
    rank = learner.together.rank
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder)
        _save_tensors({name: tensor for name, tensor in learner.tensors().items() if name in OWN}, part / SHARES[rank])
        learner.games.save(part, rank)
        learner.together.collect(_packed(part))


def _packed(folder: Path) -> bytes:
    """The files of a folder as one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    return packed.getvalue()


def _unpack(packed: bytes, folder: Path) -> None:
    """Lay the files of a share beside the others."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for name in archive.namelist():
            if name not in FILES:
                raise CheckpointError(f"a worker has sent {in_short(name)}, which is no part of a checkpoint")
            (folder / name).write_bytes(archive.read(name))


def _paths(folder: Path, learner: Learner) -> tuple[Path, Path]:
    """A checkpoint of now, and what it is called until it is complete."""
    path = folder / named_by(learner.decisions)
    return path, path.with_name(path.name + PART)


def _save_tensors(tensors: dict[str, Tensor], path: Path) -> None:
    save_file({name: tensor.contiguous().cpu() for name, tensor in tensors.items()}, path)


def restore(path: Path, learner: Learner) -> dict[str, Any]:
    """Bring a learner and its games to where a checkpoint has them; returns the notes."""
    try:
        about = parse_json(read_text(path / NOTES, LARGEST_NOTES))
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {in_short(about['format'])}, not {FORMAT!r}")
        rank = learner.together.rank
        tensors = load(read_bytes(path / TENSORS, LARGEST_TENSORS))
        if rank:
            tensors |= load(read_bytes(path / SHARES[rank], LARGEST_TENSORS))
        check_tensors(tensors, learner.tensors())
        check_files(path, learner)
        check_kept(about["learner"])
        learner.games.restore(path, rank)
        learner.take_up(tensors, about["learner"])
        notes: dict[str, Any] = about["notes"]
    except Exception as error:  # a damaged file can raise nearly anything
        told = on_one_line(str(error) or type(error).__name__)
        raise CheckpointError(f"{path}: cannot go on from this checkpoint: {told}{_way_out(path)}") from error
    return notes


def _way_out(path: Path) -> str:
    """What one can do about a damaged checkpoint, if there is an older one."""
    older = [other for other in folders_by_steps(path.parent, FILES) if other < path]
    return f"; move it away, and --resume goes on from {older[-1].name}" if older else ""


def made(settings: Settings, together: Together = ALONE, going_on: bool = False) -> Learner:
    """A learner of these settings, which begins with nothing, with what another training has learnt, or a policy.

    One that is going on from a checkpoint of its own needs none of that.
    """
    learner = Learner(settings, together)
    if going_on or not settings.start:
        return learner
    folder = Path(settings.start)
    path = newest(folder / FOLDER)
    if path is None and not (folder / CARD).exists():
        raise CheckpointError(f"--start {folder}: there is no training with a checkpoint, and no policy")
    try:
        if path is None:
            learner.begin_with_model(read_model(folder))
            return learner
        networks = {"actor": learner.actor, "critic": learner.critic}
        tensors = fitted_tensors(load(read_bytes(path / TENSORS, LARGEST_TENSORS)), networks, learner.learnt())
        own = {name: own for name, own in learner.learnt().items() if name in tensors or not name.startswith(QUICK)}
        sizes = [f"{name}.shared.weights" for name in networks]
        if any(name in tensors and tensors[name].shape != own[name].shape for name in sizes):
            raise ValueError(
                "its networks are of another size: give --edition, --actor and --critic as it had them, or "
                "networks twice as wide"
            )
        check_tensors({name: tensors[name] for name in own if name in tensors}, own)
        learner.begin_with(tensors)
    except Exception as error:  # a damaged file can raise nearly anything
        told = on_one_line(str(error) or type(error).__name__)
        raise CheckpointError(f"--start {folder}: cannot begin with it: {told}") from error
    return learner


def taken_up(settings: Settings, together: Together, folder: Path) -> Learner:
    """A learner as the newest checkpoint in a folder has it; without one, as it begins."""
    path = newest(folder)
    learner = made(settings, together, going_on=path is not None)
    if path is not None:
        restore(path, learner)
    return learner


def check_tensors(found: dict[str, Tensor], own: dict[str, Tensor]) -> None:
    """Complain about tensors that a learner of these settings has not."""
    if set(found) != set(own):
        raise ValueError(f"it is of another network: it should hold {in_short(sorted(own))}")
    for name, tensor in found.items():
        if (tensor.shape, tensor.dtype) != (own[name].shape, own[name].dtype):
            raise ValueError(f"{in_short(name)} is of another type or shape than it should be")
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{in_short(name)} holds numbers that are none")


def check_files(path: Path, learner: Learner) -> None:
    """Complain about saved games that are missing or far too large."""
    for name in learner.games.files(learner.together.rank):
        saved = path / name
        if not saved.is_file() or saved.stat().st_size > LARGEST_GAMES:
            raise FileError(saved, f"is no file of at most {LARGEST_GAMES:,} bytes")


def check_kept(numbers: dict[str, float]) -> None:
    """Complain about numbers that no learner has kept."""
    if set(numbers) != set(NUMBERS):
        raise ValueError(f"a learner keeps {', '.join(NUMBERS)}")
    counts, parts = ([numbers[name] for name in names] for names in (NUMBERS[:2], NUMBERS[2:]))
    if not all(type(count) is int and 0 <= count < 2**62 for count in counts):
        raise ValueError(f"{' and '.join(NUMBERS[:2])} are whole numbers from 0")
    if not all(type(part) in (int, float) and 0 <= part <= 1 for part in parts):
        raise ValueError(f"{' and '.join(NUMBERS[2:])} are numbers from 0 to 1")
