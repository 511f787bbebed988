"""What is told on a machine where no game can be played on a card."""

import ast
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from copies import Copy

from borneo_env.gpu import GpuBatch, GpuSeats, NoCard, cuda_private, device, kernels
from kontor.compile import INTERPRETED

without_numba_cuda = pytest.mark.skipif(find_spec("numba_cuda") is not None, reason="numba-cuda is installed here")


@without_numba_cuda
@pytest.mark.parametrize("make", [GpuBatch, GpuSeats])
def test_the_missing_extra_is_told_with_the_remedy(make):
    with pytest.raises(NoCard, match=r"numba-cuda is missing: pip install '\.\[gpu\]'"):
        make(10)


@pytest.mark.skipif(INTERPRETED, reason="no card is asked for")
def test_a_private_part_that_numba_cuda_lacks_is_named_with_its_version(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda", SimpleNamespace(__version__="9.9"))
    monkeypatch.setattr(device, "find_spec", lambda name: True)
    monkeypatch.setattr(cuda_private, "looked_up", lambda: ({}, ["numba.cuda.dispatcher._Kernel"]))
    with pytest.raises(NoCard, match=r"numba-cuda 9.9 has no numba.cuda.dispatcher._Kernel, .* or use Batch, on the"):
        device.check_card.__wrapped__()
    assert device.kernel(lambda: None) is not None, "the rest of the package can be imported"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"seat": 4}, r"seat 4 does not exist; use 0 to 3, or 'random' or 'all'"),
        (
            {"opponents": "merchant"},
            "opponents on the card are 'random' or a function, not 'merchant'; Seats has others",
        ),
        ({"dtype": "int64"}, "dtype 'int64' is not offered; use one of int8, float16, float32"),
        ({"reward": "glory"}, "there is no reward 'glory'"),
        ({"reward": lambda ruleset, before, after: 0}, "goes by its name"),
        ({"players": 7}, "players"),
    ],
)
def test_wrong_seats_are_refused_before_a_card_is_looked_for(wrong, reason):
    with pytest.raises(ValueError, match=reason):
        GpuSeats(10, **wrong)


def test_what_a_kernel_calls_stands_above_it():
    """What goes into the machine code is found when a kernel is made: what stands below would be missed."""
    module = ast.parse(Path(kernels.__file__).read_text(encoding="utf-8"))
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    names = {node.name for node in functions}
    above: set[str] = set()
    for function in functions:
        called = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & names
        if any(isinstance(mark, ast.Name) and mark.id == "kernel" for mark in function.decorator_list):
            assert called <= above, f"{function.name} calls {called - above}"
        above.add(function.name)


def test_the_package_does_not_load_what_a_card_needs(tmp_path):
    told = "import sys, borneo_env; print('borneo_env.gpu' in sys.modules)"
    assert Copy(told, place=tmp_path, anew=True).said() == ("False", "")
