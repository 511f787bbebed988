"""Model files: a trained policy as weights (safetensors) and a card (JSON) in one folder. Nothing is ever unpickled.

The network leads from the observation to one number for each action: layers of one width, each normed and rectified,
and added to what came before it; then one plain layer.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from borneo_env.engine.actions import ACTION_VERSION, action_table
from borneo_env.engine.observe import OBSERVATION_VERSION, length
from borneo_env.engine.state import slots_of
from borneo_env.ruleset import PLAYER_COUNTS, Ruleset

FORMAT = "borneo-policy/1"
WEIGHTS, CARD = "model.safetensors", "card.json"
LARGEST_FILE = 256 * 2**20  # bytes; no policy of ours comes near
NORM_EPSILON = np.float32(1e-5)
NO_CHANCE = np.float32(-1e9)  # in place of the number of an action that is not legal

Floats = NDArray[np.float32]


class Layer(NamedTuple):
    """One layer. All but the last have a norm, which is made to have mean 0 and variance 1 times `gain` plus `shift`."""

    weights: Floats  # (outputs, inputs)
    biases: Floats  # (outputs,)
    gain: Floats | None
    shift: Floats | None


Layers = list[Layer]


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


@dataclass(frozen=True)
class Model:
    """A policy: what it is, and its layers."""

    card: ModelCard
    layers: Layers

    def logits(self, observations: NDArray[Any]) -> Floats:
        """(n, actions): how much the policy likes each action, legal or not."""
        values = observations.astype(np.float32)
        for number, layer in enumerate(self.layers[:-1]):
            found = np.maximum(_normed(values @ layer.weights.T + layer.biases, layer), 0)
            values = values + found if number else found
        last = self.layers[-1]
        return values @ last.weights.T + last.biases


def _normed(values: Floats, layer: Layer) -> Floats:
    values -= values.mean(1, keepdims=True)
    values /= np.sqrt((values * values).mean(1, keepdims=True) + NORM_EPSILON)
    normed: Floats = values * layer.gain + layer.shift
    return normed


def best_actions(logits: Floats, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,): the legal action that is liked most."""
    return np.where(mask, logits, NO_CHANCE).argmax(1)


def drawn_actions(logits: Floats, mask: NDArray[np.bool_], dice: NDArray[np.uint64]) -> NDArray[np.int64]:
    """(n,): a legal action drawn by how much it is liked; `dice` are 64 random bits for each."""
    liked = np.where(mask, logits, NO_CHANCE)
    odds = np.exp(liked - liked.max(1, keepdims=True)) * mask
    heap = odds.cumsum(1, dtype=np.float64)
    point = (dice >> np.uint64(11)) * 2.0**-53 * heap[:, -1]  # below the whole heap, always
    return (heap > point[:, None]).argmax(1)


def write_model(folder: str | Path, model: Model) -> None:
    """Write a policy into a folder, which is made if need be."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for number, layer in enumerate(model.layers):
        tensors |= {f"{number}.{part}": values for part, values in layer._asdict().items() if values is not None}
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, folder / WEIGHTS)
    (folder / CARD).write_text(json.dumps(asdict(model.card), indent=2) + "\n", encoding="utf-8")


def read_model(folder: str | Path) -> Model:
    """The policy in a folder, checked from end to end."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ModelError(f"{folder}: there is no such folder; a policy is a folder with {WEIGHTS} and {CARD}")
    card = read_card(folder / CARD)
    return Model(card, _read_layers(folder / WEIGHTS, Ruleset(card.edition)))


def read_card(path: Path) -> ModelCard:
    """The card of a policy, checked."""
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file; a policy is a folder with {WEIGHTS} and {CARD}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: is no JSON: {error}") from None
    if not isinstance(about, dict):
        raise ModelError(f"{path}: is no card of a policy: it should be an object")
    if about.get("format") != FORMAT:
        raise ModelError(f"{path}: its format is {about.get('format')!r}; this version reads {FORMAT!r}")
    _check_version(path, "observation", about.get("observation_version"), OBSERVATION_VERSION)
    _check_version(path, "action", about.get("action_version"), ACTION_VERSION)
    kinds = {"str": str, "int": int, "list[int]": list, "list[dict[str, Any]]": list}
    for entry in fields(ModelCard):
        value = about.get(entry.name)
        kind = kinds.get(str(entry.type), dict)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ModelError(f"{path}: {entry.name} should be of type {entry.type}, not {value!r}")
    if about["edition"] not in ("board", "card"):
        raise ModelError(f"{path}: there is no edition {about['edition']!r}; it is board or card")
    if not about["players"] or not all(count in PLAYER_COUNTS for count in about["players"]):
        raise ModelError(f"{path}: players should be a list of 3, 4 and 5, not {about['players']!r}")
    return ModelCard(**{entry.name: about[entry.name] for entry in fields(ModelCard)})


def _check_version(path: Path, what: str, found: Any, known: int) -> None:
    if found != known:
        raise ModelError(
            f"{path}: the policy was trained for {what} version {found!r}, and this version of borneo-env has {known}: "
            "train it anew, or use the version of borneo-env named in its card"
        )


def _read_layers(path: Path, ruleset: Ruleset) -> Layers:
    """The layers in a file: shapes that fit each other and the game, and no number that is none."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError(f"{path}: is larger than {LARGEST_FILE // 2**20} MB, which no policy is")
        tensors = load_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file; a policy is a folder with {WEIGHTS} and {CARD}") from None
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise ModelError(f"{path}: is no safetensors file: {error}") from None
    count = len(tensors) // 2
    names = {f"{number}.{part}" for number in range(count) for part in ("weights", "biases")}
    if not count or set(tensors) != names:
        raise ModelError(f"{path}: should hold 0.weights, 0.biases, 1.weights, ..., not {', '.join(sorted(tensors))}")
    for name, tensor in tensors.items():
        if tensor.dtype not in (np.float32, np.float16) or not np.isfinite(tensor).all():
            raise ModelError(f"{path}: {name} should hold finite numbers of type float32 or float16")
    layers = [
        (tensors[f"{number}.weights"].astype(np.float32), tensors[f"{number}.biases"].astype(np.float32))
        for number in range(count)
    ]
    _check_shapes(path, layers, ruleset)
    return layers


def _check_shapes(path: Path, layers: Layers, ruleset: Ruleset) -> None:
    slots = slots_of(ruleset)
    for number, (weights, biases) in enumerate(layers):
        if weights.ndim != 2 or biases.shape != weights.shape[:1]:
            raise ModelError(f"{path}: the weights and biases of layer {number} do not fit each other")
    widths = [layers[0][0].shape[1], *(weights.shape[0] for weights, _ in layers)]
    if any(weights.shape[1] != before.shape[0] for (before, _), (weights, _) in pairwise(layers)):
        raise ModelError(f"{path}: the layers do not fit each other")
    wanted = (length(slots), len(action_table(slots)))
    if (widths[0], widths[-1]) != wanted:
        raise ModelError(
            f"{path}: a policy of the {ruleset.edition} edition has {wanted[0]} inputs and {wanted[1]} outputs, "
            f"not {widths[0]} and {widths[-1]}"
        )
