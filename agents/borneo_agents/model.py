"""Model files: a trained policy as weights (safetensors) and a card (JSON) in one folder. Nothing is ever unpickled.

The network leads from the observation to one number for each action: layers of one width, each normed and rectified
and, but for the first, added to what came before it; then one plain layer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from reprlib import repr as in_short
from stat import S_ISREG
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save_file

from borneo_agents.advice import PER_POINT
from borneo_env.engine.actions import ACTION_VERSION, action_table
from borneo_env.engine.observe import OBSERVATION_VERSION, length
from borneo_env.engine.state import slots_of
from borneo_env.ruleset import EDITIONS, PLAYER_COUNTS, Ruleset

FORMAT = "borneo-policy/1"
WEIGHTS, CARD = "model.safetensors", "card.json"
TRUST = "trust"  # the tensor of a policy with an advisor
NO_TRUST = np.zeros(1, np.float32)
ADVISOR = "merchant"  # the only one there is
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
PLAIN, NORMED = Layer._fields[:2], Layer._fields  # the parts of the last layer, and of all others


class ModelError(ValueError):
    """Files that are no policy for this version of the game."""


@dataclass(frozen=True)
class ModelCard:
    """What one should know of a policy before using it."""

    edition: str  # of the rules it was trained for
    players: list[int]  # player counts it was trained for
    task: str  # what it was trained to do
    advisor: str  # ADVISOR, if it is told what the merchant thinks of every action, or nothing
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
    trust: float = 0.0  # how much more it likes an action for each point that the advisor likes it more

    def logits(self, observations: NDArray[Any]) -> Floats:
        """(n, actions): how much the policy likes each action, legal or not.

        A policy with an advisor wants observations followed by the advice, see `borneo_agents.advice`.
        """
        values = observations.astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # a strange file may lead anywhere: see `_liked`
            for number, layer in enumerate(self.layers[:-1]):
                found = np.maximum(_normed(values @ layer.weights.T + layer.biases, layer), 0)
                values = values + found if number else found
            last = self.layers[-1]
            logits: Floats = values @ last.weights.T + last.biases
        if self.card.advisor:
            logits += np.float32(self.trust / PER_POINT) * observations[:, -len(last.biases) :]
        return logits


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
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        f"{number}.{part}": np.ascontiguousarray(tensor, np.float32)
        for number, layer in enumerate(model.layers)
        for part, tensor in layer._asdict().items()
        if tensor is not None
    }
    if model.card.advisor:
        tensors[TRUST] = np.array([model.trust], np.float32)
    save_file(tensors, folder / WEIGHTS)
    (folder / CARD).write_text(json.dumps(asdict(model.card), indent=2) + "\n", encoding="utf-8")


def read_model(folder: str | Path) -> Model:
    """The policy in a folder, checked from end to end."""
    card = read_card(Path(folder) / CARD)
    return Model(card, *_read_weights(Path(folder) / WEIGHTS, card))


def read_card(path: Path) -> ModelCard:
    """The card of a policy, checked. Entries that no card has are ignored."""
    data = _read(path, LARGEST_CARD)
    try:
        about = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _refusal(path, f"is no JSON: {error}") from None
    if not isinstance(about, dict):
        raise _refusal(path, "is no card of a policy: it should be an object")
    for name, known in VERSIONS.items():
        if about.get(name) != known:
            raise ModelError(
                f"{path}: its {name} is {in_short(about.get(name))}, and this version of borneo-env reads {known!r}: "
                "train the policy anew, or use the version of borneo-env named in its card"
            )
    for entry in fields(ModelCard):
        if not KINDS[str(entry.type)](about.get(entry.name)):
            raise _refusal(path, f"{entry.name} should be of type {entry.type}, not {in_short(about.get(entry.name))}")
    if about["edition"] not in EDITIONS:
        raise _refusal(path, f"the edition should be {' or '.join(EDITIONS)}, not {in_short(about['edition'])}")
    if about["advisor"] not in ("", ADVISOR):
        raise _refusal(path, f"the advisor should be empty or {ADVISOR}, not {in_short(about['advisor'])}")
    if not about["players"] or not set(about["players"]) <= set(PLAYER_COUNTS):
        raise _refusal(path, f"players should be a list of 3, 4 and 5, not {in_short(about['players'])}")
    return ModelCard(**{entry.name: about[entry.name] for entry in fields(ModelCard)})


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


def _read_weights(path: Path, card: ModelCard) -> tuple[Layers, float]:
    """The layers in a file, and the trust: shapes that fit each other and the game, and no number that is none."""
    data = _read(path, LARGEST_WEIGHTS)
    try:
        tensors: dict[str, NDArray[Any]] = load(data)
    except (SafetensorError, ValueError, KeyError, OverflowError) as error:
        raise _refusal(path, f"is no safetensors file of float32 or float16 numbers: {str(error)[:200]!r}") from None
    trust = tensors.pop(TRUST, None) if card.advisor else NO_TRUST
    if trust is None or trust.shape != (1,) or trust.dtype != np.float32 or not np.isfinite(trust).all():
        raise _refusal(path, f"of a policy with an advisor it should hold {TRUST}, one number of type float32")
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
    return [Layer(*(tensors[name].astype(np.float32) for name in layer)) for layer in names], float(trust[0])


def _check_tensors(path: Path, tensors: dict[str, NDArray[Any]], last: int, card: ModelCard) -> None:
    slots = slots_of(Ruleset(card.edition))
    width, outputs = max(1, tensors["0.biases"].size), len(action_table(slots))
    inputs = length(slots) + (outputs if card.advisor else 0)
    for name, tensor in sorted(tensors.items()):
        if tensor.dtype not in (np.float32, np.float16) or not np.isfinite(tensor).all():
            raise _refusal(path, f"{name} should hold finite numbers of type float32 or float16")
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
    """All of a file; what is too large, or no plain file, is not even opened."""
    try:
        about = path.stat()
        if S_ISREG(about.st_mode) and about.st_size <= most:
            return path.read_bytes()
    except OSError as error:
        raise _refusal(path, f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # a path that cannot be one
        raise _refusal(path, f"cannot be read: {error}") from None
    if S_ISREG(about.st_mode):
        raise _refusal(path, f"is larger than {most // 2**20} MB, which no policy is")
    raise _refusal(path, "is no file")


def _refusal(path: Path, reason: str) -> ModelError:
    remedy = f"a policy is a folder with {WEIGHTS} and {CARD}: get both anew, or train the policy again"
    return ModelError(f"{path}: {reason}; {remedy}")
