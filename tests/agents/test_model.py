"""Model files: what is written is read again, and what strangers send is refused with the file and a remedy."""

import json
import os
import pickle
import re
import struct
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from borneo_agents.model import (
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
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import card, network
from safetensors.numpy import load_file, save, save_file

REMEDY = "get both anew, or train the policy again"


@pytest.fixture
def folder(tmp_path):
    """A folder with a policy that is right."""
    write_model(tmp_path / "policy", network(hidden=(4,)))
    return tmp_path / "policy"


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
    tensors = load_file(folder / WEIGHTS) | {name.replace("_", ".", 1): tensor for name, tensor in changes.items()}
    save_file({name: tensor for name, tensor in tensors.items() if tensor is not None}, folder / WEIGHTS)


# ---------------------------------------------------------------- writing and reading


@pytest.mark.parametrize("edition", ["board", "card"])
@pytest.mark.parametrize("hidden", [(), (5,), (7, 3, 6)])
def test_what_is_written_is_read_again(edition, hidden, tmp_path):
    about = card(
        edition, players=[4], settings={"rate": 3e-4, "deep": {"er": [1, None]}}, software={"torch": "2"},
        strength=[{"against": "merchant", "value": 0.25, "low": None}], command="borneo größer",
    )  # fmt: skip
    written = Model(about, network(edition, hidden).layers)
    write_model(tmp_path / "a" / "new" / "folder", written)
    found = read_model(str(tmp_path / "a" / "new" / "folder"))
    assert found.card == about
    for (weights, biases), (also_weights, also_biases) in zip(written.layers, found.layers, strict=True):
        assert weights.dtype == also_weights.dtype == also_biases.dtype == np.float32
        assert np.array_equal(weights, also_weights)
        assert np.array_equal(biases, also_biases)


def test_layers_of_any_order_in_memory_are_written_as_float32(tmp_path):
    (weights, biases), *rest = network(hidden=(4,)).layers
    model = Model(card(), [(np.asfortranarray(weights.astype(np.float64)), biases[::-1]), *rest])
    write_model(tmp_path, model)
    (also_weights, also_biases), *_ = read_model(tmp_path).layers
    assert np.array_equal(weights, also_weights)
    assert np.array_equal(biases[::-1], also_biases)


def test_float16_is_read_as_float32(folder):
    halves = {name: tensor.astype(np.float16) for name, tensor in load_file(folder / WEIGHTS).items()}
    save_file(halves, folder / WEIGHTS)
    for number, layer in enumerate(read_model(folder).layers):
        for part, found in zip(("weights", "biases"), layer, strict=True):
            assert found.dtype == np.float32
            assert np.array_equal(found, halves[f"{number}.{part}"])


def test_logits_are_those_of_rectified_layers():
    weights = [np.array([[1, -1], [2, 0]], np.float32), np.array([[1, 1], [1, -1], [0, 3]], np.float32)]
    biases = [np.array([0, -3], np.float32), np.array([0.5, 0, -1], np.float32)]
    model = Model(card(), list(zip(weights, biases, strict=True)))
    # By hand: (3, 1) becomes (2, 3), and (1, 3) becomes (-2, -1), which the rectifiers make (0, 0).
    found = model.logits(np.array([[3, 1], [1, 3]], np.int8))
    assert found.dtype == np.float32
    assert found.tolist() == [[5.5, -1, 8], [0.5, 0, -1]]


def test_a_negative_liking_is_not_rectified():
    model = Model(card(), [(np.array([[1.0], [-1.0]], np.float32), np.zeros(2, np.float32))])
    assert model.logits(np.array([[2]], np.int8)).tolist() == [[2, -2]]


def test_entries_that_no_card_has_are_ignored(folder):
    before = read_model(folder).card
    rewrite_card(folder, colour="red", licence={"deep": [1]})
    assert read_model(folder).card == before
    assert read_card(folder / CARD) == before


# ---------------------------------------------------------------- folders and files that are none


def test_a_folder_that_is_not_there(tmp_path):
    refused(tmp_path / "nowhere", CARD, "No such file or directory; a policy is a folder with model.safetensors and")


@pytest.mark.parametrize("name", ["x" * 300, "nul\0byte", "lone\udc80surrogate\ud800"])
def test_a_path_that_can_be_none(name, tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        read_model(tmp_path / name)


def test_a_file_instead_of_a_folder(folder):
    with pytest.raises(ModelError, match=r"Not a directory; a policy is a folder with"):
        read_model(folder / WEIGHTS)


@pytest.mark.parametrize("file", [CARD, WEIGHTS])
def test_a_folder_without_one_of_the_files(file, folder):
    (folder / file).unlink()
    refused(folder, file, "No such file or directory")


@pytest.mark.parametrize("file", [CARD, WEIGHTS])
def test_a_folder_in_place_of_a_file(file, folder):
    (folder / file).unlink()
    (folder / file).mkdir()
    refused(folder, file, "is no file")


@pytest.mark.parametrize("file", [CARD, WEIGHTS])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(file, folder):
    (folder / file).unlink()
    os.mkfifo(folder / file)
    refused(folder, file, "is no file")


@pytest.mark.parametrize(("file", "largest"), [(CARD, LARGEST_CARD), (WEIGHTS, LARGEST_WEIGHTS)])
def test_a_file_that_is_too_large_is_not_read(file, largest, folder, monkeypatch):
    os.truncate(folder / file, largest + 1)  # takes no room on the disk
    before, read = Path.read_bytes, []
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or before(path))
    refused(folder, file, f"is larger than {largest // 2**20} MB")
    assert file not in read


@pytest.mark.parametrize("file", [CARD, WEIGHTS])
def test_an_empty_file(file, folder):
    (folder / file).write_bytes(b"")
    refused(folder, file, "is no (JSON|safetensors file)")


# ---------------------------------------------------------------- cards


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "is no JSON"),
        (b"{} {}", "is no JSON"),
        (b"\xff\xfe{}", "is no JSON: 'utf-8' codec can't decode"),
        ("{}".encode("utf-16"), "is no JSON"),
        (b"\xef\xbb\xbf{}", "is no JSON"),
        (b"[" * 100_000, "is no JSON: maximum recursion depth"),
        (b'{"format": ' * 90_000, "is no JSON: maximum recursion depth"),
        (b'{"steps": ' + b"9" * 5000 + b"}", "is no JSON: Exceeds the limit"),
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
    [0, 2, 10**300, "1", None, [1], "x" * 10_000, "\x1b[2J\n", {"deep": [[[[[[[[1]]]]]]]]}, float("inf")],
    ids=lambda version: str(version)[:8],
)
@pytest.mark.parametrize("name", ["format", "observation_version", "action_version"])
def test_another_version_is_refused_and_named(name, version, folder):
    rewrite_card(folder, **{name: version})
    refused(
        folder, CARD, f"its {name} is .*this version of borneo-env reads", "train the policy anew, or use the version"
    )


@pytest.mark.parametrize("name", ["format", "observation_version", "edition", "players"])
def test_an_entry_nested_so_deeply_that_it_is_just_read(name, folder):
    about = json.dumps(json.loads((folder / CARD).read_text()) | {name: "HERE"})
    for depth in [20, *range(500, 1000, 3)]:
        (folder / CARD).write_text(about.replace('"HERE"', "[" * depth + "]" * depth))
        refused(folder, CARD, f"{name} (is|should be of type)" if depth == 20 else f"{name}|is no JSON", "")


@pytest.mark.parametrize("name", ["observation_version", "action_version", "steps", "seed"])
@pytest.mark.parametrize("value", [True, 1.0, "1", None, float("nan"), 1e999, []])
def test_only_whole_numbers_are_whole_numbers(name, value, folder):
    rewrite_card(folder, **{name: value})
    refused(folder, CARD, f"{name} (should be of type int, not|is )", "")


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"edition": "dice"}, "the edition should be board or card, not 'dice'"),
        ({"edition": "Board"}, "the edition should be board or card"),
        ({"edition": ["board"]}, r"edition should be of type str, not \['board'\]"),
        ({"edition": None}, "edition should be of type str, not None"),
        ({"players": []}, r"players should be a list of 3, 4 and 5, not \[\]"),
        ({"players": [4, 6]}, "players should be a list of 3, 4 and 5"),
        ({"players": [10**300]}, "players should be a list of 3, 4 and 5"),
        ({"players": [2] * 10_000}, "players should be a list of 3, 4 and 5"),
        ({"players": 4}, "players should be of type list"),
        ({"players": "345"}, "players should be of type list"),
        ({"players": {"3": 4}}, "players should be of type list"),
        ({"players": [3.0]}, r"players should be of type list\[int\], not \[3.0\]"),
        ({"players": ["3"]}, "players should be of type list"),
        ({"players": [True]}, "players should be of type list"),
        ({"players": [[3]]}, "players should be of type list"),
        ({"players": [3, None]}, "players should be of type list"),
        ({"task": 3}, "task should be of type str"),
        ({"command": ["rm"]}, "command should be of type str"),
        ({"settings": []}, "settings should be of type dict"),
        ({"software": {"torch": 2}}, "software should be of type dict"),
        ({"software": "torch"}, "software should be of type dict"),
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


def ones(*shape):
    return np.ones(shape, np.float32)


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"0_biases": None}, "should hold 0.weights, 0.biases, 1.weights, ..., not"),
        ({"0_biases": None, "0_weights": None}, "should hold 0.weights"),
        ({"1_biases": None, "1_weights": None}, "has 969 inputs and 370 outputs, not 969 and 4"),
        ({"3_biases": FOUR, "3_weights": ones(4, 4)}, "should hold 0.weights"),
        ({"1_scales": MANY}, "should hold 0.weights"),
        ({"0_biases": None, "0_Biases": FOUR}, "should hold 0.weights"),
        ({f"{i}_x\n\x1b[2J": FOUR for i in range(999)}, "should hold 0.weights"),
        ({"x" * 100_000: FOUR}, "should hold 0.weights"),
        ({"0_weights": ones(4, 968)}, "has 969 inputs and 370 outputs, not 968 and 370"),
        ({"1_weights": ones(371, 4), "1_biases": ones(371)}, "969 inputs and 370 outputs, not 969 and 371"),
        ({"1_weights": ones(870, 4), "1_biases": ones(870)}, "of the board edition has .* not 969 and 870"),
        ({"0_weights": ones(5, 969), "0_biases": ones(5)}, "the layers do not fit each other"),
        ({"0_biases": ones(5)}, "the weights and biases of layer 0 do not fit each other"),
        ({"1_biases": ones(370, 1)}, "the weights and biases of layer 1 do not fit each other"),
        ({"1_biases": ones()}, "the weights and biases of layer 1 do not fit each other"),
        ({"0_weights": ones(4)}, "the weights and biases of layer 0 do not fit each other"),
        ({"0_weights": ones(4, 969, 1)}, "the weights and biases of layer 0 do not fit each other"),
        ({"0_weights": ones()}, "the weights and biases of layer 0 do not fit each other"),
        ({"0_biases": FOUR.astype(np.float64)}, "0.biases should hold finite numbers of type float32 or float16"),
        ({"0_biases": FOUR.astype(np.int32)}, "0.biases should hold finite numbers"),
        ({"0_biases": FOUR.astype(np.int8)}, "0.biases should hold finite numbers"),
        ({"0_biases": FOUR.astype(bool)}, "0.biases should hold finite numbers"),
        ({"0_biases": FOUR.astype(np.complex64)}, "0.biases should hold finite numbers"),
        ({"1_biases": np.where(np.arange(370) == 7, np.float32("nan"), MANY)}, "1.biases should hold finite numbers"),
        ({"0_weights": np.full((4, 969), -np.inf, np.float32)}, "0.weights should hold finite numbers"),
        ({"0_biases": np.full(4, np.inf, np.float16)}, "0.biases should hold finite numbers"),
    ],
)
def test_tensors_that_make_no_policy(tensors, reason, folder):
    rewrite_weights(folder, **tensors)
    refused(folder, WEIGHTS, re.compile(reason))


def test_a_policy_of_the_other_edition_does_not_fit_the_card(folder):
    write_model(folder, Model(card("board"), network("card", (4,)).layers))
    refused(folder, WEIGHTS, "a policy of the board edition has 969 inputs and 370 outputs, not 1169 and 870")


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
        struct.pack("<Q", 3) + b"{}",
        by_header({}),
        by_header(b"{" * 9999),
        by_header(b'{"a":' + b"[" * 99_999),
        by_header(b"\xff\xff"),
        by_header({"__metadata__": {"a": 3}}),
        by_header({"0.weights": tensor("F32", [9], 0, 36)}, b"1234"),
        by_header({"0.weights": tensor("F32", [2], 0, 4)}, b"1234"),
        by_header({"0.weights": tensor("F32", [1], 4, 0)}, b"1234"),
        by_header({"0.weights": tensor("F32", [-1], 0, 4)}, b"1234"),
        by_header({"0.weights": tensor("F32", [1], 0, 4)}, b"12345678"),
        by_header({name: tensor("F32", [1], 0, 4) for name in ("0.weights", "0.biases")}, b"1234"),
        by_header({"0.weights": tensor("F32", [1] * 99, 0, 4)}, b"1234"),
        by_header({"0.weights": tensor("F32", [2**33, 2**33], 0, 4)}, b"1234"),
        by_header({"0.weights": tensor("F32", [0, 2**63], 0, 0)}),
        by_header({"0.weights": tensor("F32", [0, 2**64 - 1], 0, 0)}),
        by_header({"0.weights": tensor("BF16", [2], 0, 4)}, b"1234"),
        by_header({"0.weights": tensor("F8_E4M3", [4], 0, 4)}, b"1234"),
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


def test_a_file_of_torch_is_refused(folder, tmp_path):
    torch = pytest.importorskip("torch")
    sprung = tmp_path / "sprung"
    torch.save({"0.weights": torch.zeros(4), "trap": Trap(sprung)}, folder / WEIGHTS)
    refused(folder, WEIGHTS, "is no safetensors file")
    assert not sprung.exists()


# ---------------------------------------------------------------- any damage

SMALL = network(hidden=())
GOOD = {
    CARD: json.dumps(card().__dict__).encode(),
    WEIGHTS: save({"0.weights": SMALL.layers[0][0].astype(np.float16), "0.biases": SMALL.layers[0][1]}),
}


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
            assert model.logits(np.ones((2, 969), np.int8)).shape == (2, 370)


def test_the_files_to_be_damaged_are_good(tmp_path):
    for name, content in GOOD.items():
        (tmp_path / name).write_bytes(content)
    assert len(read_model(tmp_path).layers) == 1


@st.composite
def damaged(draw, whole, within):
    """Some of a file's first bytes changed, cut out, or put in."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, within))
        end = at + draw(st.integers(0, 8))
        content[at:end] = draw(st.binary(max_size=8) | st.binary(min_size=end - at, max_size=end - at))
    return bytes(content)


@settings(max_examples=200, deadline=None)
@given(damaged(GOOD[CARD], len(GOOD[CARD])))
def test_a_damaged_card_is_read_or_refused(content):
    survives(card=content)


@settings(max_examples=200, deadline=None)
@given(damaged(GOOD[WEIGHTS], 200))
def test_a_damaged_weights_file_is_read_or_refused(content):
    survives(model=content)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["board", "card", 3, 1]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(ModelCard.__dataclass_fields__)), ANY_JSON, max_size=3))
def test_a_card_with_any_entries_is_read_or_refused(entries):
    survives(card=json.dumps(card().__dict__ | entries).encode())


SHAPES = st.lists(st.sampled_from([0, 1, 2, 369, 370, 969, 2**31, 2**62, 2**63, 2**64 - 1]), max_size=4)
TYPES = st.sampled_from(["F32", "F16", "F64", "BF16", "I8", "U64", "BOOL", "C64", "F4", "F8_E5M2", "", "O"])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["0.weights", "0.biases", "1.weights"]), TYPES, SHAPES), max_size=3))
def test_any_header_is_read_or_refused(entries):
    sizes, header, at = {"F32": 4, "F16": 2, "F64": 8, "BF16": 2, "U64": 8, "C64": 8}, {}, 0
    for name, dtype, shape in entries:
        size = min(int(np.prod(shape, dtype=object)) * sizes.get(dtype, 1), 2**20)
        header[name] = tensor(dtype, shape, at, at + size)
        at += size
    survives(model=by_header(header, bytes(at)))
