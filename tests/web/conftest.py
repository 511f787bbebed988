"""What tests of pages share."""

from functools import partial

import pytest
from borneo_agents.policy.threats import outlook_of


@pytest.fixture
def hasty(monkeypatch):
    """A coach that imagines few games."""
    monkeypatch.setattr("borneo_agents.policy.agent.outlook_of", partial(outlook_of, playouts=24))
