"""What the tests of the arena share."""

import sys
from functools import cache

import pytest
from arena_games import BOTS
from borneo_agents.arena import sources


@pytest.fixture(scope="session", autouse=True)
def folders_of_modules_are_looked_up_once():
    """Every run in a folder asks for those of all modules, of which tests have many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "_folder_of", cache(sources._folder_of))
        yield


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """A folder with bots, which is the current one."""
    (tmp_path / "arena_bots.py").write_text(BOTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]
