"""What holds for every test."""

import gc
import sys

import pytest

gc.disable()  # until all tests are collected: what is made up to there stays


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def no_test_leaves_a_folder_behind(monkeypatch):
    """Finding an agent adds the current folder to the path, where the next test would find another bot of that name."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in sys.modules if name.startswith("my_bot")]:
        monkeypatch.delitem(sys.modules, name)


def pytest_collection_modifyitems(items):
    """Notebooks come first: one of them at the end, and a worker would wait for the other."""
    items.sort(key=lambda item: item.path.name != "test_notebooks.py")
