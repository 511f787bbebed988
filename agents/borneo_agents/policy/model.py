"""Model files: a trained policy as weights (safetensors) and a card (JSON) in one folder. Nothing is ever unpickled."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from borneo_agents.policy.network import Floats, Layer, Layers
from borneo_env.engine.actions import ACTION_VERSION, action_table
from borneo_env.engine.observe import OBSERVATION_VERSION, length, state_length
from borneo_env.engine.state import SEATS, slots_of
from borneo_env.ruleset import EDITIONS, PLAYER_COUNTS, Ruleset
from kontor.files import FileError, in_short, make_folder, on_one_line, parse_json, read_bytes, write_file

FORMAT = "borneo-policy/9"
WEIGHTS, CARD = "model.safetensors", "card.json"
BEST = "best"  # folder of the best policy, in that of its training
CRITIC, ROLLOUT = "critic.", "rollout."  # how names of tensors begin; those of the actor have numbers alone
LARGEST_WEIGHTS, LARGEST_CARD = 256 * 2**20, 2**20  # bytes; no policy of ours comes near
MOST_LAYERS = 64  # the same; each takes some memory, however narrow
MARGIN, MOST_MARGIN = 12.0, 1.5  # points ahead that count as one margin, and the most margins that count
USUAL_MARGIN, LARGEST_MARGIN = 0.5, 10.0  # --margin-coef of a training that does not say it; no training has more
MARGIN_END = 0.2  # part of --margin-coef that is left at the end of a training

PLAIN, NORMED = Layer._fields[:2], Layer._fields  # the parts of the last layer, and of all others


class ModelError(ValueError):
    """Files that are no policy for this version of the game."""


@dataclass(frozen=True)
class ModelCard:
    """What one should know of a policy before using it."""

    edition: str  # of the rules it was trained for
    players: list[int]  # player counts it was trained for
    task: str  # what it was trained to do
    steps: int  # decisions of the learner in training
    seed: int
    command: str  # that trains it
    settings: dict[str, Any] = field(default_factory=dict)  # of the training, all of them
    strength: list[dict[str, Any]] = field(default_factory=list)  # measurements, each with games, seed and interval
    software: dict[str, str] = field(default_factory=dict)  # versions that trained it
    observation_version: int = OBSERVATION_VERSION
    action_version: int = ACTION_VERSION
    format: str = FORMAT


CARD_FIELDS = fields(ModelCard)


@dataclass(frozen=True)
class Model:
    """A policy: what it is, and its networks."""

    card: ModelCard
    layers: Layers  # of the actor: from an observation to logits
    critic: Layers | None = None  # from the whole table to a value for each seat, counted from the one who decides;
    # the last numbers it looks at say of each seat whether an opponent has it, who plays in another way
    rollout: Layers | None = None  # a smaller actor, which plays on in a search; without it, the actor does

    @property
    def margin_coef(self) -> float:
        """What a lead of 12 points counts beside a win to its critic: as at the end of its training."""
        coef = self.card.settings.get("margin_coef", USUAL_MARGIN)
        valid = type(coef) in (int, float) and 0 <= coef <= LARGEST_MARGIN
        return (coef if valid else USUAL_MARGIN) * MARGIN_END

    @property
    def networks(self) -> dict[str, Layers]:
        """All of its networks, by how the names of their tensors begin."""
        found = {"": self.layers, CRITIC: self.critic, ROLLOUT: self.rollout}
        return {name: layers for name, layers in found.items() if layers is not None}

    def tensors(self) -> dict[str, Floats]:
        """All of its numbers, by their names in a file."""
        return {
            f"{network}{number}.{part}": np.ascontiguousarray(tensor, np.float32)
            for network, layers in self.networks.items()
            for number, layer in enumerate(layers)
            for part, tensor in layer._asdict().items()
            if tensor is not None
        }


def write_model(folder: str | Path, model: Model) -> None:
    """Write a policy into a folder, which is made if need be; nothing is, if its card could not be read again."""
    card = {entry.name: _as_json(entry.name, str(entry.type), getattr(model.card, entry.name)) for entry in CARD_FIELDS}
    folder = make_folder(folder)
    write_file(folder / WEIGHTS, save(model.tensors()))
    write_file(folder / CARD, json.dumps(card, indent=2) + "\n")


def _as_json(name: str, kind: str, value: Any) -> Any:
    """A field of a card as it is read again; ModelError if it cannot be."""
    try:
        read = parse_json(json.dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"the card's {name} cannot be written as JSON: {on_one_line(str(error))}") from None
    if not KINDS[kind](read):
        raise ModelError(f"the card's {name} should be of type {kind}, not {in_short(value)}")
    return read


def read_model(folder: str | Path) -> Model:
    """The policy in a folder, checked from end to end."""
    folder = Path(folder)
    if not os.path.lexists(folder / CARD) and os.path.lexists(folder / BEST / CARD):
        raise ModelError(f"{on_one_line(str(folder))}: is the folder of a training: its policy is in {BEST} there")
    return _read_weights(folder / WEIGHTS, read_card(folder / CARD))


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
                f"reads {known!r}: train the policy anew, or use the version of borneo-env named in its card"
            )
    for entry in CARD_FIELDS:
        if not KINDS[str(entry.type)](about.get(entry.name)):
            raise _refusal(path, f"{entry.name} should be of type {entry.type}, not {in_short(about.get(entry.name))}")
    if about["edition"] not in EDITIONS:
        raise _refusal(path, f"the edition should be {' or '.join(EDITIONS)}, not {in_short(about['edition'])}")
    if not about["players"] or not set(about["players"]) <= set(PLAYER_COUNTS):
        raise _refusal(path, f"players should be a list of 3, 4 and 5, not {in_short(about['players'])}")
    return ModelCard(**{entry.name: about[entry.name] for entry in CARD_FIELDS})


# What a card must say to be read at all.
VERSIONS = {"format": FORMAT, "observation_version": OBSERVATION_VERSION, "action_version": ACTION_VERSION}

# Whether a value from JSON is of the type of a card's field.
KINDS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: type(value) is str,
    "int": lambda value: type(value) is int,  # bool is a kind of int elsewhere
    "list[int]": lambda value: type(value) is list and all(type(one) is int for one in value),
    "list[dict[str, Any]]": lambda value: type(value) is list and all(type(one) is dict for one in value),
    "dict[str, Any]": lambda value: type(value) is dict,
    "dict[str, str]": lambda value: type(value) is dict and all(type(one) is str for one in value.values()),
}


def _read_weights(path: Path, card: ModelCard) -> Model:
    """The networks in a file: shapes that fit each other and the game, and finite numbers."""
    data = _read(path, LARGEST_WEIGHTS)
    try:
        tensors: dict[str, NDArray[Any]] = load(data)
    except (SafetensorError, ValueError, KeyError, OverflowError) as error:
        raise _refusal(path, f"is no safetensors file of float32 or float16 numbers: {in_short(str(error))}") from None
    parts = {network: _taken(tensors, network) for network in (CRITIC, ROLLOUT)}
    actor = _checked_layers(path, tensors, card)
    more = [_checked_layers(path, found, card, network) if found else None for network, found in parts.items()]
    return Model(card, actor, *more)


def _taken(tensors: dict[str, Any], network: str) -> dict[str, Any]:
    """The tensors of one network, taken from all, by the names they have in it."""
    names = [name for name in tensors if name.startswith(network)]
    return {name.removeprefix(network): tensors.pop(name) for name in names}


def _checked_layers(path: Path, tensors: dict[str, Any], card: ModelCard, network: str = "") -> Layers:
    last = len(tensors) // len(NORMED)
    parts = [NORMED] * last + [PLAIN]
    names = [[f"{number}.{part}" for part in layer] for number, layer in enumerate(parts)]
    if last == 0 or set(tensors) != {name for layer in names for name in layer}:
        wanted = ", ".join(f"{network}{name}" for name in ("0.weights", "0.biases", "0.gain", "0.shift", "1.weights"))
        raise _refusal(
            path,
            f"should hold {wanted}, ... and of the last layer, which is not the only one, weights and biases alone, "
            f"not {in_short(sorted(network + name for name in tensors))}",
        )
    if last >= MOST_LAYERS:
        raise _refusal(path, f"{network or 'the actor'} should have {MOST_LAYERS} layers at most, not {last + 1}")
    _check_tensors(path, tensors, last, card, network)
    return [Layer(*(tensors[name].astype(np.float32) for name in layer)) for layer in names]


def _check_tensors(path: Path, tensors: dict[str, NDArray[Any]], last: int, card: ModelCard, network: str) -> None:
    width = max(1, tensors["0.biases"].size)
    inputs, outputs = _ends_of(network, card, tensors["0.weights"].shape)
    for name, tensor in sorted(tensors.items()):
        if tensor.dtype not in (np.float32, np.float16) or not np.isfinite(tensor).all():
            raise _refusal(path, f"{network}{name} should hold finite numbers of type float32 or float16")
        number, part = name.split(".")
        shape: tuple[int, ...] = (width if int(number) < last else outputs,)
        if part == "weights":
            shape += (width if int(number) > 0 else inputs,)
        if tensor.shape != shape:
            raise _refusal(
                path,
                f"{network}{name} should be of shape {shape}, not {in_short(tensor.shape)}: a policy of the "
                f"{card.edition} edition leads from {inputs} numbers to {outputs} through layers as wide as "
                f"{network}0.biases, here {width}",
            )


def _ends_of(network: str, card: ModelCard, first: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs and outputs a network has. A critic may look at the first numbers only."""
    slots = slots_of(Ruleset(card.edition))
    if network != CRITIC:
        return length(slots), len(action_table(slots))
    return max(1, min(first[-1] if first else 1, critic_length(card.edition))), SEATS


def critic_length(edition: str) -> int:
    """How many numbers a critic may look at: a table, and who is an opponent there."""
    return state_length(slots_of(Ruleset(edition))) + SEATS


def _read(path: Path, most: int) -> bytes:
    try:
        return read_bytes(path, most)
    except FileError as error:
        raise _refusal(path, error.reason) from None


def _refusal(path: Path, reason: str) -> ModelError:
    remedy = f"a policy is a folder with {WEIGHTS} and {CARD}: get both anew, or train the policy again"
    return ModelError(f"{on_one_line(str(path))}: {reason}; {remedy}")
