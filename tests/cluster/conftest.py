"""Clusters of several nodes on this machine."""

import os

import pytest
from arena_games import BOTS


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """A folder with bots, in which the test works."""
    (tmp_path / "my_bots.py").write_text(BOTS + "\nfrom my_bots_order import take\nFirst.act = take\n")
    (tmp_path / "my_bots_order.py").write_text("def take(self, views):\n    return views.mask.argmax(1)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cluster(monkeypatch):
    """Makes a cluster with so many nodes of one core each, beside a head that plays nothing."""
    pytest.importorskip("ray", reason="Ray is missing: `make test-ray` installs it")
    from borneo_agents.cluster import QUIET
    from ray.cluster_utils import Cluster

    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    made = []

    def make(nodes, **options):
        # Beats of nodes are waited for long: the machine may be busy.
        one = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "_system_config": {"health_check_timeout_ms": 60_000}, **options},
        )
        made.append(one)
        for _ in range(nodes):
            one.add_node(num_cpus=1, **options)
        return one

    before = dict(os.environ)
    yield make
    import ray

    ray.shutdown()
    for one in made:
        one.shutdown()
    os.environ.clear()
    os.environ.update(before)
