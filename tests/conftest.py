"""What holds for every test."""

import gc
import shutil
import sys
from functools import cache

import pytest
import typer.main
import typer.testing

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

gc.disable()  # until all tests are collected: what is made up to there stays


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # tests leave little behind, and not for long
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def commands_are_made_once():
    """Typer makes all of them for every call, which takes longer than most commands."""
    made = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", made)
        patch.setattr(typer.testing, "_get_command", made)
        yield


@pytest.fixture(autouse=True)
def no_test_leaves_a_folder_behind():
    """Finding an agent adds the current folder to the path, where the next test would find another bot of that name."""
    path, modules = list(sys.path), len(sys.modules)
    yield
    sys.path[:] = path
    if len(sys.modules) != modules:  # looking through thousands after every test takes seconds
        for name in [name for name in sys.modules if name.startswith("my_bot")]:
            del sys.modules[name]


def pytest_collection_modifyitems(items):
    """Notebooks come first: one of them at the end, and a worker would wait for the other."""
    items.sort(key=lambda item: item.path.name != "test_notebooks.py")


@pytest.fixture(scope="session")
def chromium():
    """A browser; without one, tests that need it are left out."""
    if CHROMIUM is None:
        pytest.skip("Chromium is missing: `make test-browser` installs it")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
