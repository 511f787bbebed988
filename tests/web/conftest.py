"""What tests of pages share."""

from functools import partial

import pytest
from borneo_agents.policy.threats import outlook_of
from web_games import served


@pytest.fixture
def hasty(monkeypatch):
    """A coach that imagines few games."""
    monkeypatch.setattr("borneo_agents.policy.agent.outlook_of", partial(outlook_of, playouts=24))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Games, and the address of their server, for all tests of a file."""
    with served(tmp_path_factory.mktemp("games")) as found:
        yield found
