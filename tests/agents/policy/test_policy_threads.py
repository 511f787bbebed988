"""Policies think on the cores that the process may use."""

import numpy as np
import pytest
from borneo_agents.policy.agent import Policy
from networks import searcher

from borneo_env import Batch
from borneo_env.agent import Views


class Asked(Exception):
    """Carries the number of threads."""


def test_a_policy_thinks_on_the_cores_there_are(monkeypatch):
    def with_budget(search, views, log_probs, budget, threads):
        raise Asked(threads)

    monkeypatch.setattr("borneo_agents.policy.search.OptionSearch.with_budget", with_budget)
    monkeypatch.setattr("borneo_agents.policy.agent.available_cores", lambda: 3)
    batch = Batch(1)
    with pytest.raises(Asked, match="3"):
        Policy(searcher()).act(Views(batch.ruleset, *batch.view(np.array([0]))))
