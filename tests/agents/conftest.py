"""What the tests of the arena share."""

import sys

import pytest
from arena_games import BOTS


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
