"""Checkpoints: everything a training needs to go on as if it had not been stopped.

A checkpoint is one file of tensors, named by the decisions made: no pickle. Saved games and notes are bytes in it. The
names of what a worker has of its own begin with its rank.
"""

from __future__ import annotations

import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from borneo_train.distributed.process_group import ProcessGroup
from borneo_train.games.games import GAMES
from borneo_train.ppo import NUMBERS, PPO
from borneo_train.run.config import Settings
from borneo_train.run.folders import NAMED_BY_STEPS, is_folder, named_by, remove_file, write_here
from borneo_train.run.learner import create_learner
from borneo_train.run.tasks import MEASURES, Evaluation
from kontor.files import in_short, on_one_line, parse_json, read_bytes, remove_half_written

FORMAT = "borneo-checkpoint/6"
ENDING = ".safetensors"
ABOUT = "about"  # the tensor with format, numbers and notes, as JSON
PER_WORKER = ("episode_return", "generator")  # tensors that each worker has of its own, beside its games
LARGEST = 4 * 2**30  # bytes; no training of ours comes near
FOLDER = "checkpoints"  # of a training
KEPT = 2  # checkpoints; older ones are removed
MOST = 1e15  # steps, seconds and measures are smaller


class CheckpointError(ValueError):
    """A file from which a training cannot go on."""


def all_in(folder: Path) -> list[Path]:
    """All checkpoints, the one with the most decisions last."""
    files = folder.glob(f"*{ENDING}") if is_folder(folder) else []
    found = [path for path in files if NAMED_BY_STEPS.fullmatch(path.stem) and not path.is_symlink()]
    return sorted(found, key=lambda path: int(path.stem))


def newest(folder: Path) -> Path | None:
    """The checkpoint with the most decisions, if there is one."""
    return next(reversed(all_in(folder)), None)


def save_all(folder: Path, learner: PPO, notes: dict[str, Any]) -> None:
    """Write a checkpoint between two updates; `notes` are kept with it."""
    tensors = learner.tensors() | learner.games.tensors()
    for rank, own in enumerate(learner.group.gather(b"")):
        if rank:
            tensors |= {f"{rank}.{name}": tensor for name, tensor in load(own).items()}
    about = json.dumps({"format": FORMAT, "learner": learner.numbers(), "notes": notes})
    tensors[ABOUT] = torch.frombuffer(bytearray(about.encode()), dtype=torch.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    remove_half_written(folder, time.time())
    write_here(folder / f"{named_by(learner.decisions)}{ENDING}", packed(tensors))
    for old in all_in(folder)[:-KEPT]:
        remove_file(old)


def save_part(learner: PPO) -> None:
    """Send what a worker has of its own to rank 0, which keeps it beside the rest."""
    tensors = learner.tensors()
    learner.group.gather(packed({name: tensors[name] for name in PER_WORKER} | learner.games.tensors()))


def packed(tensors: dict[str, Tensor]) -> bytes:
    return save({name: tensor.contiguous().cpu() for name, tensor in tensors.items()})


def restore(path: Path, learner: PPO, settings: Settings) -> dict[str, Any]:
    """Bring a learner and its games to where a checkpoint has them; returns the notes."""
    try:
        tensors = load(read_bytes(path, LARGEST))
        about = parse_json(tensors.pop(ABOUT).numpy().tobytes().decode())
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {in_short(about['format'])}, not {FORMAT!r}")
        of_workers = {name: tensor for name, tensor in tensors.items() if name[0].isdecimal()}
        own = f"{learner.group.rank}."
        tensors = {name: tensor for name, tensor in tensors.items() if name not in of_workers}
        tensors |= {name.removeprefix(own): tensor for name, tensor in of_workers.items() if name.startswith(own)}
        games = {name: tensors.pop(name) for name in [*tensors] if name.startswith(GAMES)}
        check_tensors(tensors, learner.tensors())
        check_numbers(about["learner"])
        check_notes(about["notes"], settings)
        learner.games.restore(games)
        learner.restore(tensors, about["learner"])
        notes: dict[str, Any] = about["notes"]
    except Exception as error:  # a damaged file can raise nearly anything
        reason = on_one_line(str(error) or type(error).__name__)
        raise CheckpointError(f"{path}: cannot go on from this checkpoint: {reason}{_remedy(path)}") from error
    return notes


def _remedy(path: Path) -> str:
    """What one can do about a damaged checkpoint, if there is an older one."""
    older = [other for other in all_in(path.parent) if other < path]
    return f"; move it away, and --resume goes on from {older[-1].name}" if older else ""


def learner_from(path: Path | None, settings: Settings, group: ProcessGroup) -> tuple[PPO, dict[str, Any]]:
    """The learner of a checkpoint, and its notes; a new one and no notes if there is none."""
    learner = create_learner(settings, group, resuming=path is not None)
    return learner, restore(path, learner, settings) if path else {}


def check_tensors(found: dict[str, Tensor], own: dict[str, Tensor]) -> None:
    """Refuse tensors that no learner of these settings has."""
    if set(found) != set(own):
        raise ValueError(f"it is of another network: it should hold {in_short(sorted(own))}")
    for name, tensor in found.items():
        if (tensor.shape, tensor.dtype) != (own[name].shape, own[name].dtype):
            raise ValueError(f"{in_short(name)} is of another type or shape than it should be")
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{in_short(name)} holds numbers that are none")


def check_numbers(numbers: dict[str, float]) -> None:
    """Refuse numbers that no learner has."""
    if set(numbers) != set(NUMBERS):
        raise ValueError(f"a learner has {', '.join(NUMBERS)}")
    counts, parts = ([numbers[name] for name in names] for names in (NUMBERS[:3], NUMBERS[3:]))
    if not all(type(count) is int and 0 <= count < 2**62 for count in counts):
        raise ValueError(f"{', '.join(NUMBERS[:3])} are whole numbers from 0")
    if not all(type(part) in (int, float) and 0 <= part <= 1 for part in parts):
        raise ValueError(f"{' and '.join(NUMBERS[3:])} are numbers from 0 to 1")


def check_notes(notes: dict[str, Any], settings: Settings) -> None:
    """Refuse notes that no training of these settings has made."""
    measures = [measure.name for measure in MEASURES[settings.task]]
    measured = set(product(measures, settings.tables(), settings.counts()))
    values = [notes["seconds"], notes["best"] or 0]
    for entry in notes["curve"]:
        found = [Evaluation(**one) for one in entry["strength"]]
        if {(one.measure, one.against, one.players) for one in found} != measured:
            raise ValueError("its curve is that of another training")
        values += [entry["steps"], *(value for one in found for value in (one.value, one.low or 0, one.high or 0))]
    if type(notes["curve"]) is not list or not all(type(one) in (int, float) and abs(one) < MOST for one in values):
        raise ValueError("its curve is no list, or has a number that is none or too large")
    if notes["seconds"] < 0:
        raise ValueError("it has learnt for less than no time")
