"""Model files: a trained policy as weights (safetensors) and a card (JSON) in one folder. Nothing is ever unpickled.

The network leads from the observation to one number for each action: layers of one width, each normed and rectified
and, but for the first, added to what came before it; then one plain layer. A policy that is briefed adds what a small
network makes of the notes on each option (see `borneo_agents.briefing`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from borneo_agents.briefing import NOTES
from borneo_env.engine.actions import ACTION_VERSION, action_table
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.observe import OBSERVATION_VERSION, length
from borneo_env.engine.state import slots_of
from borneo_env.files import FileError, in_short, make_folder, on_one_line, parse_json, read_bytes, write_file
from borneo_env.ruleset import EDITIONS, PLAYER_COUNTS, Ruleset

FORMAT = "borneo-policy/5"
WEIGHTS, CARD = "model.safetensors", "card.json"
JUDGE = "judge."  # how names of tensors begin that a policy has if it is briefed
NORM_EPSILON = np.float32(1e-5)  # keeps a norm from dividing by nothing
LARGEST_WEIGHTS, LARGEST_CARD = 256 * 2**20, 2**20  # bytes; no policy of ours comes near
MOST_LIKED = np.float32(1e30)  # likings beyond are cut, so that two of them still have a difference

Floats = NDArray[np.float32]


class Layer(NamedTuple):
    """A layer. In the file, its parts are called 0.weights, 0.biases, 0.gain, 0.shift, 1.weights, ..."""

    weights: Floats  # (outputs, inputs)
    biases: Floats  # (outputs,)
    gain: Floats | None = None  # (outputs,): what the norm multiplies with; the last layer has no norm
    shift: Floats | None = None  # (outputs,): what it adds


Layers = list[Layer]


class Judge(NamedTuple):
    """Judges an option by the notes on it and by the last values of the layers. In the file: judge.notes, ..."""

    notes: Floats  # (judges, notes)
    context: Floats  # (judges, width)
    actions: Floats  # (actions, judges): what is added for each action
    hidden: Floats  # (judges, judges)
    biases: Floats  # (judges,)
    last: Floats  # (judges,)
    direct: Floats  # (notes,): how much each note counts by itself


PLAIN, NORMED = Layer._fields[:2], Layer._fields  # the parts of the last layer, and of all others


class ModelError(ValueError):
    """Files that are no policy for this version of the game."""


@dataclass(frozen=True)
class ModelCard:
    """What one should know of a policy before using it."""

    edition: str  # of the rules it was trained for
    players: list[int]  # player counts it was trained for
    task: str  # what it was trained to do
    briefed: bool  # whether it is told about its options
    steps: int  # decisions of the learner in training
    seed: int
    command: str  # that trains it
    settings: dict[str, Any] = field(default_factory=dict)  # of the training, all of them
    strength: list[dict[str, Any]] = field(default_factory=list)  # measurements, each with games, seed and interval
    software: dict[str, str] = field(default_factory=dict)  # versions that trained it
    observation_version: int = OBSERVATION_VERSION
    action_version: int = ACTION_VERSION
    format: str = FORMAT


@dataclass(frozen=True)
class Model:
    """A policy: what it is, and its layers."""

    card: ModelCard
    layers: Layers
    judge: Judge | None = None  # of a policy that is briefed

    def logits(self, shown: NDArray[Any], mask: NDArray[np.bool_]) -> Floats:
        """(n, actions): how much the policy likes each action, legal or not.

        `shown` are observations, followed by the notes on the options if it is briefed.
        """
        seen = self.layers[0].weights.shape[1]
        values = shown[:, :seen].astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # a strange file may lead anywhere: see `_liked`
            for number, layer in enumerate(self.layers[:-1]):
                found = np.maximum(_normed(values @ layer.weights.T + layer.biases, layer), 0)
                values = values + found if number else found
            last = self.layers[-1]
            logits: Floats = values @ last.weights.T + last.biases
            if self.judge is not None:
                rows, actions, notes = notes_on_options(shown[:, seen:], mask)
                logits[rows, actions] += _judged(self.judge, values, rows, actions, notes)
        return logits


def notes_on_options(notes: NDArray[Any], mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """All legal actions of all decisions: the decisions they belong to, which they are, and the notes on them."""
    rows, actions = np.nonzero(mask)
    place = (mask.cumsum(1) - 1)[rows, actions]
    return rows, actions, notes.reshape(len(mask), MAX_OPTIONS, NOTES)[rows, place].astype(np.float32)


def _judged(judge: Judge, values: Floats, rows: NDArray[np.intp], actions: NDArray[np.intp], notes: Floats) -> Floats:
    first = np.maximum(notes @ judge.notes.T + (values @ judge.context.T)[rows] + judge.actions[actions], 0)
    second = np.maximum(first @ judge.hidden.T + judge.biases, 0)
    judged: Floats = second @ judge.last + notes @ judge.direct
    return judged


def _normed(values: Floats, layer: Layer) -> Floats:
    """Values of mean 0 and variance 1, times the gain, plus the shift."""
    assert layer.gain is not None and layer.shift is not None, "all layers but the last have a norm"
    values = values - values.mean(1, keepdims=True)
    variance = (values * values).mean(1, keepdims=True)
    normed: Floats = values / np.sqrt(variance + NORM_EPSILON) * layer.gain + layer.shift
    return normed


def best_actions(logits: Floats, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,): the legal action that is liked most, the first of equals."""
    actions: NDArray[np.int64] = _liked(logits, mask).argmax(1)
    return actions


def drawn_actions(logits: Floats, mask: NDArray[np.bool_], dice: NDArray[np.uint64]) -> NDArray[np.int64]:
    """(n,): a legal action drawn by how much it is liked; `dice` are 64 random bits for each."""
    liked = _liked(logits, mask)
    heap = np.exp(liked - liked.max(1, keepdims=True)).cumsum(1, dtype=np.float64)
    point = (dice >> np.uint64(11)) * 2.0**-53 * heap[:, -1]  # below the whole heap, always
    actions: NDArray[np.int64] = (heap > point[:, None]).argmax(1)
    return actions


def odds_of(logits: Floats, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(n, actions): the chance of each action when it is drawn by how much it is liked, 0 for illegal ones."""
    liked = _liked(logits, mask).astype(np.float64)
    heap = np.exp(liked - liked.max(1, keepdims=True))
    odds: NDArray[np.float64] = heap / heap.sum(1, keepdims=True)
    return odds


def _liked(logits: Floats, mask: NDArray[np.bool_]) -> Floats:
    """How much each action is liked: finite for legal ones, no number counts as least, and nothing for all others."""
    return np.where(mask, np.fmin(np.fmax(logits, -MOST_LIKED), MOST_LIKED), np.float32(-np.inf))


def write_model(folder: str | Path, model: Model) -> None:
    """Write a policy into a folder, which is made if need be."""
    folder = make_folder(folder)
    tensors = {
        f"{number}.{part}": np.ascontiguousarray(tensor, np.float32)
        for number, layer in enumerate(model.layers)
        for part, tensor in layer._asdict().items()
        if tensor is not None
    }
    if model.judge is not None:
        tensors |= {
            JUDGE + part: np.ascontiguousarray(tensor, np.float32) for part, tensor in model.judge._asdict().items()
        }
    write_file(folder / WEIGHTS, save(tensors))
    write_file(folder / CARD, json.dumps(asdict(model.card), indent=2) + "\n")


def read_model(folder: str | Path) -> Model:
    """The policy in a folder, checked from end to end."""
    card = read_card(Path(folder) / CARD)
    return Model(card, *_read_weights(Path(folder) / WEIGHTS, card))


def read_card(path: Path) -> ModelCard:
    """The card of a policy, checked. Entries that no card has are ignored."""
    data = _read(path, LARGEST_CARD)
    try:
        about = parse_json(data.decode("utf-8"))
    except ValueError as error:
        raise _refusal(path, f"is no JSON: {on_one_line(str(error))}") from None
    if not isinstance(about, dict):
        raise _refusal(path, "is no card of a policy: it should be an object")
    for name, known in VERSIONS.items():
        if about.get(name) != known:
            raise ModelError(
                f"{on_one_line(str(path))}: its {name} is {in_short(about.get(name))}, and this version of borneo-env "
                f"reads {known!r}: "
                "train the policy anew, or use the version of borneo-env named in its card"
            )
    for entry in fields(ModelCard):
        if not KINDS[str(entry.type)](about.get(entry.name)):
            raise _refusal(path, f"{entry.name} should be of type {entry.type}, not {in_short(about.get(entry.name))}")
    if about["edition"] not in EDITIONS:
        raise _refusal(path, f"the edition should be {' or '.join(EDITIONS)}, not {in_short(about['edition'])}")
    if not about["players"] or not set(about["players"]) <= set(PLAYER_COUNTS):
        raise _refusal(path, f"players should be a list of 3, 4 and 5, not {in_short(about['players'])}")
    return ModelCard(**{entry.name: about[entry.name] for entry in fields(ModelCard)})


# What a card must say to be read at all.
VERSIONS = {"format": FORMAT, "observation_version": OBSERVATION_VERSION, "action_version": ACTION_VERSION}

# Whether a value from JSON is of the type of a card's field.
KINDS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: type(value) is str,
    "bool": lambda value: type(value) is bool,
    "int": lambda value: type(value) is int,  # bool is a kind of int elsewhere
    "list[int]": lambda value: type(value) is list and all(type(one) is int for one in value),
    "list[dict[str, Any]]": lambda value: type(value) is list and all(type(one) is dict for one in value),
    "dict[str, Any]": lambda value: type(value) is dict,
    "dict[str, str]": lambda value: type(value) is dict and all(type(one) is str for one in value.values()),
}


def _read_weights(path: Path, card: ModelCard) -> tuple[Layers, Judge | None]:
    """The layers in a file, and the judge: shapes that fit each other and the game, and no number that is none."""
    data = _read(path, LARGEST_WEIGHTS)
    try:
        tensors: dict[str, NDArray[Any]] = load(data)
    except (SafetensorError, ValueError, KeyError, OverflowError) as error:
        raise _refusal(path, f"is no safetensors file of float32 or float16 numbers: {in_short(str(error))}") from None
    of_judge = {part: tensors.pop(JUDGE + part, None) for part in Judge._fields} if card.briefed else {}
    if any(tensor is None for tensor in of_judge.values()):
        wanted = ", ".join(JUDGE + part for part in Judge._fields)
        raise _refusal(path, f"of a policy that is briefed it should hold {wanted}")
    last = len(tensors) // len(NORMED)
    parts = [NORMED] * last + [PLAIN]
    names = [[f"{number}.{part}" for part in layer] for number, layer in enumerate(parts)]
    if last == 0 or set(tensors) != {name for layer in names for name in layer}:
        raise _refusal(
            path,
            "should hold 0.weights, 0.biases, 0.gain, 0.shift, 1.weights, ... and of the last layer, which is not the "
            f"only one, weights and biases alone, not {in_short(sorted(tensors))}",
        )
    _check_tensors(path, tensors, last, card)
    judge = _checked_judge(path, of_judge, tensors["0.biases"].size, card) if card.briefed else None
    return [Layer(*(tensors[name].astype(np.float32) for name in layer)) for layer in names], judge


def _checked_judge(path: Path, parts: dict[str, Any], width: int, card: ModelCard) -> Judge:
    judges, actions = max(1, parts["biases"].size), len(action_table(slots_of(Ruleset(card.edition))))
    shapes = (judges, NOTES), (judges, width), (actions, judges), (judges, judges), (judges,), (judges,), (NOTES,)
    for part, shape in zip(Judge._fields, shapes, strict=True):
        _check_numbers(path, JUDGE + part, parts[part])
        if parts[part].shape != shape:
            raise _refusal(path, f"{JUDGE}{part} should be of shape {shape}, not {in_short(parts[part].shape)}")
    return Judge(*(parts[part].astype(np.float32) for part in Judge._fields))


def _check_numbers(path: Path, name: str, tensor: NDArray[Any]) -> None:
    if tensor.dtype not in (np.float32, np.float16) or not np.isfinite(tensor).all():
        raise _refusal(path, f"{name} should hold finite numbers of type float32 or float16")


def _check_tensors(path: Path, tensors: dict[str, NDArray[Any]], last: int, card: ModelCard) -> None:
    slots = slots_of(Ruleset(card.edition))
    width, outputs = max(1, tensors["0.biases"].size), len(action_table(slots))
    inputs = length(slots)
    for name, tensor in sorted(tensors.items()):
        _check_numbers(path, name, tensor)
        number, part = name.split(".")
        shape: tuple[int, ...] = (width if int(number) < last else outputs,)
        if part == "weights":
            shape += (width if int(number) > 0 else inputs,)
        if tensor.shape != shape:
            raise _refusal(
                path,
                f"{name} should be of shape {shape}, not {in_short(tensor.shape)}: a policy of the {card.edition} "
                f"edition leads from {inputs} numbers to {outputs} through layers as wide as 0.biases, here {width}",
            )


def _read(path: Path, most: int) -> bytes:
    try:
        return read_bytes(path, most)
    except FileError as error:
        raise _refusal(path, error.reason) from None


def _refusal(path: Path, reason: str) -> ModelError:
    remedy = f"a policy is a folder with {WEIGHTS} and {CARD}: get both anew, or train the policy again"
    return ModelError(f"{on_one_line(str(path))}: {reason}; {remedy}")
