"""Model files: what is written is read again, and what strangers send is refused with the file and a remedy."""

import errno
import json
import math
import os
import pickle
import re
import struct
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from borneo_agents.policy.model import (
    CARD,
    LARGEST_CARD,
    LARGEST_WEIGHTS,
    WEIGHTS,
    Model,
    ModelCard,
    ModelError,
    read_card,
    read_model,
    write_model,
)
from borneo_agents.policy.network import Layer, logits_of
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import card, network, searcher
from safetensors.numpy import load_file, save, save_file

LARGEST = {CARD: LARGEST_CARD, WEIGHTS: LARGEST_WEIGHTS}
REMEDY = "get both anew, or train the policy again"


@pytest.fixture
def folder(tmp_path):
    """A folder with a policy that is right."""
    write_model(tmp_path / "policy", network(width=4))
    return tmp_path / "policy"


@pytest.fixture
def searching(tmp_path):
    """A folder with a policy that has a critic and a rollout network."""
    write_model(tmp_path / "searching", searcher(width=4, rollout=True))
    return tmp_path / "searching"


def refused(folder, file, reason, remedy=REMEDY):
    with pytest.raises(ModelError, match=reason) as caught:
        read_model(folder)
    message = str(caught.value)
    assert message.startswith(f"{Path(folder) / file}: ")
    assert remedy in message
    assert len(message) < 600 + len(str(folder))
    assert message.isprintable(), "one line, and nothing a terminal would obey"


def rewrite_card(folder, **changes):
    about = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps(about | changes))


def rewrite_weights(folder, **changes):
    """Change tensors of the file; None leaves one out."""
    tensors = load_file(folder / WEIGHTS) | changes
    save_file({name: tensor for name, tensor in tensors.items() if tensor is not None}, folder / WEIGHTS)


# ---------------------------------------------------------------- writing and reading


@pytest.mark.parametrize("edition", ["board", "card"])
@pytest.mark.parametrize(("width", "depth"), [(5, 1), (1, 2), (7, 4), (3, 12)])
def test_what_is_written_is_read_again(edition, width, depth, tmp_path):
    about = card(
        edition, players=[4], settings={"rate": 3e-4, "deep": {"er": [1, None]}}, software={"torch": "2"},
        strength=[{"against": "merchant", "value": 0.25, "low": None}], command="borneo größer",
    )  # fmt: skip
    written = Model(about, network(edition, width, depth).layers)
    write_model(tmp_path / "a" / "new" / "folder", written)
    found = read_model(str(tmp_path / "a" / "new" / "folder"))
    assert found.card == about
    assert same_layers(written.layers, found.layers)
    assert len(found.layers) == depth + 1
    assert all(part.dtype == np.float32 for layer in found.layers for part in layer if part is not None)


def same_layers(some, others):
    """Whether layers have the same parts, and these the same numbers."""
    pairs = [pair for two in zip(some, others, strict=True) for pair in zip(*two, strict=True)]
    return all(np.array_equal(one, other) if one is not None else other is None for one, other in pairs)


def test_the_parts_of_a_file_have_the_names_that_are_told(tmp_path):
    write_model(tmp_path, model := network(width=4, depth=2))
    normed = ("weights", "biases", "gain", "shift")
    found = load_file(tmp_path / WEIGHTS)
    assert set(found) == {f"{number}.{part}" for number in (0, 1) for part in normed} | {"2.weights", "2.biases"}
    for name, tensor in found.items():
        number, part = name.split(".")
        assert np.array_equal(tensor, getattr(model.layers[int(number)], part))


def test_float16_is_read_as_float32(folder):
    halves = {name: tensor.astype(np.float16) for name, tensor in load_file(folder / WEIGHTS).items()}
    save_file(halves, folder / WEIGHTS)
    found = read_model(folder).tensors()
    assert found.keys() == halves.keys()
    for name, tensor in found.items():
        assert tensor.dtype == np.float32 and np.array_equal(tensor, halves[name])


def test_layers_that_say_nothing_leave_only_shifts_and_biases():
    """A variance of 0 divides by nothing."""

    def layer(*parts):
        return Layer(*(np.array(part, np.float32) for part in parts))

    layers = [layer([[0], [0]], [7, 7], [1, 1], [-1, 4]), layer([[1, 1]], [0.5])]
    assert logits_of(layers, np.array([[3]], np.int8)).tolist() == [[4.5]]


def test_entries_that_no_card_has_are_ignored(folder):
    before = read_model(folder).card
    rewrite_card(folder, colour="red", licence={"deep": [1]})
    assert read_model(folder).card == before
    assert read_card(folder / CARD) == before


def test_a_policy_that_cannot_be_written_leaves_the_one_before(folder, monkeypatch):
    before = {file: (folder / file).read_bytes() for file in (CARD, WEIGHTS)}

    def full(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match=rf"{WEIGHTS}: cannot be written: No space left on device"):
        write_model(folder, network(width=8))
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


# ---------------------------------------------------------------- folders and files that are none


CIRCLE = {}
CIRCLE["more"] = [CIRCLE]
DEEP = {}
for _ in range(10_000):
    DEEP = {"more": DEEP}


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("settings", CIRCLE, "Circular reference"),
        ("strength", [CIRCLE], "Circular reference"),
        ("settings", DEEP, "recursion"),
        ("settings", {"margin_coef": math.nan}, r"a number that is none \(NaN or infinite\)"),
        ("settings", {"margin_coef": b"x"}, "bytes"),
        ("settings", {"margin_coef": {1, 2}}, "set"),
        ("settings", {("a", 1): 2}, "keys must be"),
        ("settings", {1: 2, "1": 3}, "two entries '1'"),
        ("settings", {"margin_coef": "\ud800"}, "half a character"),
        ("steps", np.int64(3), "int64"),
        ("seed", True, "should be of type int, not True"),
        ("software", {"numpy": 2}, r"should be of type dict\[str, str\]"),
    ],
)
def test_a_card_that_could_not_be_read_again_is_not_written(field, value, reason, tmp_path):
    model = network(width=4)
    write_model(tmp_path, model)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ModelError, match=rf"^the card's {field} .*{reason}") as caught:
        write_model(tmp_path, replace(model, card=replace(model.card, **{field: value})))
    assert len(str(caught.value)) < 300
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["x" * 300, "nul\0byte", "lone\udc80surrogate\ud800"])
def test_a_path_that_can_be_none(name, tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        read_model(tmp_path / name)


def a_folder(path):
    path.unlink()
    path.mkdir()


def a_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("file", [CARD, WEIGHTS])
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (Path.unlink, "cannot be read: No such file or directory; a policy is a folder with model.safetensors and"),
        (a_folder, "cannot be read: Is a directory"),
        (a_pipe, "cannot be read: it is no plain file"),
        (lambda path: path.write_bytes(b""), "is no (JSON|safetensors file)"),
        (lambda path: os.truncate(path, LARGEST[path.name] + 1), "is larger than [0-9,]+ bytes"),
        (lambda path: os.truncate(path, 2**40), "is larger than [0-9,]+ bytes"),  # takes no room on the disk
    ],
    ids=["gone", "folder", "pipe", "empty", "large", "huge"],
)
def test_a_file_that_is_none(file, spoil, reason, folder):
    spoil(folder / file)
    refused(folder, file, reason)


# ---------------------------------------------------------------- cards


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "is no JSON"),
        (b"{} {}", "is no JSON"),
        (b"\xff\xfe{}", "is no JSON: 'utf-8' codec can't decode"),
        ("{}".encode("utf-16"), "is no JSON"),
        (b"\xef\xbb\xbf{}", "is no JSON"),
        (b"[" * 100_000, "is no JSON: it is nested too deeply"),
        (b'{"format": ' * 90_000, "is no JSON: it is nested too deeply"),
        (b'{"steps": ' + b"9" * 5000 + b"}", "is no JSON: it holds a number of too many digits"),
        (b'{"steps": NaN}', "is no JSON: it holds a number that is none"),
        (b'{"steps": 1e999}', "is no JSON: it holds a number that is none"),
        (b'{"steps": 1, "steps": 2}', "is no JSON: it has two entries 'steps'"),
        (b'{"task": "\\ud800"}', "is no JSON: it holds half a character"),
        (b"[]", "should be an object"),
        (b"null", "should be an object"),
        (b'"' + b"x" * 10_000 + b'"', "should be an object"),
    ],
)
def test_a_card_that_is_none(content, reason, folder):
    (folder / CARD).write_bytes(content)
    refused(folder, CARD, reason)


@pytest.mark.parametrize(
    "version",
    ["borneo-policy/8", 0, 10**300, None, "x" * 10_000, "\x1b[2J\n", {"deep": [[[[[[[[1]]]]]]]]}],
    ids=lambda version: str(version)[:8],
)
@pytest.mark.parametrize("name", ["format", "observation_version", "action_version"])
def test_another_version_is_refused_and_named(name, version, folder):
    rewrite_card(folder, **{name: version})
    reason = f"its {name} is .*, and this version of borneo-env reads "
    refused(folder, CARD, reason, "train the policy anew, or use the version of borneo-env named in its card")


@pytest.mark.parametrize("name", ["observation_version", "action_version", "steps", "seed"])
@pytest.mark.parametrize("value", [True, 1.0, "1", None, []])
def test_only_whole_numbers_are_whole_numbers(name, value, folder):
    rewrite_card(folder, **{name: value})
    refused(folder, CARD, f"{name} (should be of type int, not|is )", "")


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"edition": "dice"}, "the edition should be board or card, not 'dice'"),
        ({"edition": ["board"]}, r"edition should be of type str, not \['board'\]"),
        ({"edition": None}, "edition should be of type str, not None"),
        ({"players": []}, r"players should be a list of 3, 4 and 5, not \[\]"),
        ({"players": [4, 6]}, "players should be a list of 3, 4 and 5"),
        ({"players": [2] * 10_000}, "players should be a list of 3, 4 and 5"),
        ({"players": 4}, "players should be of type list"),
        ({"players": [3.0]}, r"players should be of type list\[int\], not \[3.0\]"),
        ({"players": [True]}, "players should be of type list"),
        ({"task": 3}, "task should be of type str"),
        ({"command": ["rm"]}, "command should be of type str"),
        ({"settings": []}, "settings should be of type dict"),
        ({"software": {"torch": 2}}, "software should be of type dict"),
        ({"strength": {}}, "strength should be of type list"),
        ({"strength": ["much"]}, "strength should be of type list"),
        ({"strength": "\x1b[2J" * 9999}, "strength should be of type list"),
    ],
)
def test_entries_of_the_wrong_type(entries, reason, folder):
    rewrite_card(folder, **entries)
    refused(folder, CARD, reason)


@pytest.mark.parametrize("name", ModelCard.__dataclass_fields__)
def test_an_entry_that_is_missing(name, folder):
    about = json.loads((folder / CARD).read_text())
    del about[name]
    (folder / CARD).write_text(json.dumps(about))
    refused(folder, CARD, f"{name} (should be of type|is None)", "")


# ---------------------------------------------------------------- weights


FOUR, MANY = np.zeros(4, np.float32), np.zeros(370, np.float32)
NAMES = (
    "should hold 0.weights, 0.biases, 0.gain, 0.shift, 1.weights, ... and of the last layer, which is not the only "
    "one, weights and biases alone, not ['0."
)


def ones(*shape):
    return np.ones(shape, np.float32)


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"0.biases": None}, NAMES),
        ({"0.gain": None, "0.shift": None}, NAMES),
        ({f"0.{part}": None for part in Layer._fields}, "alone, not ['1.biases', '1.weights']; a policy is"),
        ({"1.biases": None, "1.weights": None}, NAMES),
        ({"0.weights": ones(370, 969), "0.biases": MANY}
         | dict.fromkeys(("0.gain", "0.shift", "1.weights", "1.biases")), NAMES),
        ({"1.gain": MANY, "1.shift": MANY}, NAMES),
        ({"3.biases": FOUR, "3.weights": ones(4, 4), "3.gain": FOUR, "3.shift": FOUR}, NAMES),
        ({"0.biases": None, "00.biases": FOUR}, NAMES),
        ({f"{i}_x\n\x1b[2J": FOUR for i in range(999)}, NAMES),
        ({"x" * 100_000: FOUR}, NAMES),
        ({"quick.0.weights": ones(7, 969)}, NAMES),
        ({"critic.0.gain": None}, "should hold critic.0.weights, critic.0.biases, critic.0.gain, critic.0.shift, cri"),
        ({"critic.more": ones(5)}, "should hold critic.0.weights"),
        ({"rollout.0.gain": None}, "should hold rollout.0.weights, rollout.0.biases, rollout.0.gain, rollout.0.shift"),
        ({"0.weights": ones(4, 968)}, "0.weights should be of shape (4, 969), not (4, 968): a policy of the board "
         "edition leads from 969 numbers to 370 through layers as wide as 0.biases, here 4; a policy is"),
        ({"1.weights": ones(371, 4), "1.biases": ones(371)}, "1.biases should be of shape (370,), not (371,): a"),
        ({"0.weights": ones(5, 969), "0.gain": ones(5), "0.shift": ones(5), "0.biases": ones(5)},
         "1.weights should be of shape (370, 5), not (370, 4): a policy"),
        ({"0.gain": ones(1)}, "0.gain should be of shape (4,), not (1,): a policy"),
        ({"0.shift": ones()}, "0.shift should be of shape (4,), not (): a policy"),
        ({"0.biases": ones(4, 1)}, "0.biases should be of shape (4,), not (4, 1): a policy"),
        ({"0.biases": ones()}, "0.biases should be of shape (1,), not (): a policy"),
        ({"0.weights": ones(4)}, "0.weights should be of shape (4, 969), not (4,): a policy"),
        ({"0.weights": ones()}, "0.weights should be of shape (4, 969), not (): a policy"),
        ({"0.weights": ones(*[1] * 60)}, "0.weights should be of shape (4, 969), not (1, 1, 1, 1, 1, 1, ...): a"),
        ({"critic.0.weights": ones(5, 1426)}, "critic.0.weights should be of shape (5, 1425), not (5, 1426): a policy"),
        ({"critic.0.weights": ones(5, 0)}, "critic.0.weights should be of shape (5, 1), not (5, 0): a policy"),
        ({"critic.0.weights": ones()}, "critic.0.weights should be of shape (5, 1), not (): a policy"),
        ({"critic.1.weights": ones(5, 4)}, "critic.1.weights should be of shape (5, 5), not (5, 4): a policy of the "
         "board edition leads from 1425 numbers to 5 through layers as wide as critic.0.biases, here 5; a policy is"),
        ({"critic.2.biases": ones(370)}, "critic.2.biases should be of shape (5,), not (370,): a policy"),
        ({"rollout.0.weights": ones(7, 9)}, "rollout.0.weights should be of shape (7, 969), not (7, 9): a policy"),
        ({"0.biases": FOUR.astype(np.float64)}, "0.biases should hold finite numbers of type float32 or float16"),
        ({"0.biases": FOUR.astype(np.int8)}, "0.biases should hold finite numbers"),
        ({"0.biases": FOUR.astype(np.complex64)}, "0.biases should hold finite numbers"),
        ({"1.biases": np.where(np.arange(370) == 7, np.float32("nan"), MANY)}, "1.biases should hold finite numbers"),
        ({"0.biases": np.full(4, np.inf, np.float16)}, "0.biases should hold finite numbers"),
        ({"critic.0.shift": ones(5) * np.float32("nan")}, "critic.0.shift should hold finite numbers"),
        ({"rollout.0.shift": np.ones(7)}, "rollout.0.shift should hold finite numbers of type float32 or float16"),
    ],
)  # fmt: skip
def test_tensors_that_make_no_policy(tensors, reason, searching):
    rewrite_weights(searching, **tensors)
    refused(searching, WEIGHTS, re.escape(reason))


def test_layers_are_many_but_not_thousands(tmp_path):
    write_model(tmp_path / "deep", network(width=1, depth=63))
    assert len(read_model(tmp_path / "deep").layers) == 64
    write_model(tmp_path / "deeper", network(width=1, depth=64))
    refused(tmp_path / "deeper", WEIGHTS, "the actor should have 64 layers at most, not 65")


@pytest.mark.parametrize("wide", [0, 1, 4])
def test_layers_of_any_width_but_none(wide, folder):
    empty = {"0.weights": ones(wide, 969), "1.weights": ones(370, wide)}
    rewrite_weights(folder, **empty, **{f"0.{part}": ones(wide) for part in ("biases", "gain", "shift")})
    if wide:
        assert len(read_model(folder).layers[0].biases) == wide
    else:
        refused(folder, WEIGHTS, r"0.\w+ should be of shape \(1,.*\), not \(0,.*\): a policy")


def by_header(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, start, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


@pytest.mark.parametrize(
    "content",
    [
        b"\0",
        struct.pack("<Q", 2**64 - 1) + b"{}",
        by_header({}),
        by_header(b"{" * 9999),
        by_header(b'{"a":' + b"[" * 99_999),
        by_header({"0.weights": tensor("F32", [9], 0, 36)}, b"1234"),
        by_header({"0.weights": tensor("F32", [1], 4, 0)}, b"1234"),
        by_header({"0.weights": tensor("F32", [1], 0, 4)}, b"12345678"),
        by_header({name: tensor("F32", [1], 0, 4) for name in ("0.weights", "0.biases")}, b"1234"),
        by_header({"0.weights": tensor("F32", [1] * 99, 0, 4)}, b"1234"),
        by_header({"0.weights": tensor("F32", [2**33, 2**33], 0, 4)}, b"1234"),
        by_header({"0.weights": tensor("F32", [0, 2**64 - 1], 0, 0)}),
        by_header({"0.weights": tensor("BF16", [2], 0, 4)}, b"1234"),
        by_header({"0.weights": tensor("O", [4], 0, 4)}, b"1234"),
        by_header({"x\n\x1b[2J" * 9999: tensor("F32", [2], 0, 4)}, b"1234"),
        by_header({name * 9999: tensor("F32", [1], 0, 4) for name in ("x\n\x1b[2J", "y\n\x1b[2J")}, b"1234"),
    ],
)
def test_a_weights_file_that_is_none(content, folder):
    (folder / WEIGHTS).write_bytes(content)
    refused(folder, WEIGHTS, "is no safetensors file|should hold 0.weights")


def test_a_weights_file_that_was_cut_short(folder):
    whole = (folder / WEIGHTS).read_bytes()
    for size in [*range(0, 400, 7), len(whole) // 2, len(whole) - 1]:
        (folder / WEIGHTS).write_bytes(whole[:size])
        refused(folder, WEIGHTS, "is no safetensors file")


class Trap:
    """Whoever unpickles this has touched a file."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


@pytest.mark.parametrize("file", [CARD, WEIGHTS])
def test_nothing_is_unpickled(file, folder, tmp_path):
    sprung = tmp_path / "sprung"
    (folder / file).write_bytes(pickle.dumps(Trap(sprung)))
    refused(folder, file, "is no (JSON|safetensors file)")
    assert not sprung.exists()
    pickle.loads((folder / file).read_bytes())
    assert sprung.exists(), "the trap works"


# ---------------------------------------------------------------- what a search asks beside the actor


def test_all_networks_are_read_again(searching):
    written, found = searcher(width=4, rollout=True), read_model(searching)
    for name in ("layers", "critic", "rollout"):
        assert same_layers(getattr(written, name), getattr(found, name))
    names = {name.split(".")[0] for name in load_file(searching / WEIGHTS)}
    assert names == {"0", "1", "critic", "rollout"}


@pytest.mark.parametrize("part", ["critic", "rollout"])
def test_a_policy_may_do_without_one(part, searching):
    rewrite_weights(searching, **{name: None for name in load_file(searching / WEIGHTS) if name.startswith(part)})
    found = read_model(searching)
    assert [name for name in ("layers", "critic", "rollout") if getattr(found, name) is None] == [part]


@pytest.mark.parametrize("numbers", [1, 969, 1420])
def test_a_critic_may_look_at_the_first_numbers_only(numbers, searching):
    rewrite_weights(searching, **{"critic.0.weights": ones(5, numbers)})
    assert read_model(searching).critic[0].weights.shape == (5, numbers)


# ---------------------------------------------------------------- any damage

SMALL = searcher(width=1, rollout=True)
GOOD = {
    CARD: json.dumps(card().__dict__).encode(),
    WEIGHTS: save({
        f"{name}{number}.{part}": tensor.astype(np.float16 if part == "weights" else np.float32)
        for name, layers in SMALL.networks.items()
        for number, layer in enumerate(layers)
        for part, tensor in layer._asdict().items()
        if tensor is not None
    }),
}  # fmt: skip
HEADER = 8 + struct.unpack("<Q", GOOD[WEIGHTS][:8])[0]


def survives(**files):
    """Either these files are a policy that can be asked, or a ModelError says why not."""
    with TemporaryDirectory() as folder:
        for name, content in GOOD.items():
            (Path(folder) / name).write_bytes(files.get(name.split(".")[0], content))
        try:
            model = read_model(folder)
        except ModelError as error:
            assert folder in str(error)
        else:
            assert logits_of(model.layers, np.ones((2, 969), np.int8)).shape == (2, 370)


@st.composite
def damaged(draw, whole, within):
    """Some of a file's first bytes changed, cut out, or put in."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, within))
        end = at + draw(st.integers(0, 8))
        content[at:end] = draw(st.binary(max_size=8) | st.binary(min_size=end - at, max_size=end - at))
    return bytes(content)


@settings(max_examples=60, deadline=None)
@given(damaged(GOOD[CARD], len(GOOD[CARD])))
def test_a_damaged_card_is_read_or_refused(content):
    survives(card=content)


@settings(max_examples=60, deadline=None)
@given(damaged(GOOD[WEIGHTS], HEADER) | damaged(GOOD[WEIGHTS], len(GOOD[WEIGHTS])))
def test_a_damaged_weights_file_is_read_or_refused(content):
    survives(model=content)


@pytest.mark.parametrize("lead", ["much", True, None, -1, 1e9, float("nan")])
def test_a_lead_that_no_training_has_counts_as_usual(lead):
    assert replace(network(), card=card(settings={"margin_coef": lead})).margin_coef == pytest.approx(0.1)
    assert replace(network(), card=card(settings={})).margin_coef == pytest.approx(0.1)
    assert replace(network(), card=card(settings={"margin_coef": 0.2})).margin_coef == pytest.approx(0.04)
