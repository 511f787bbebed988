"""What holds for every test."""

import shutil
import sys

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


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
