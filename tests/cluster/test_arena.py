"""The arena on clusters of Ray: the same games, whatever becomes of nodes, memory and agents."""

import os
import signal

import numpy as np
import pytest
from arena_games import TINY
from borneo_agents.arena import ArenaStopped, play_arena
from borneo_agents.arena.workers.pool import ArenaError

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray's own

AGENTS = ["my_bots:First", "my_bots:Last"]
RUN = {"ruleset": TINY, "games": 96, "chunk": 6, "seed": 3}


def csv(folder):
    return (folder / "games.csv").read_bytes()


def test_games_are_the_same_and_a_lost_node_costs_none(bots, cluster):
    made = cluster(2)
    lost = []

    def watch(progress):
        if progress.finished >= 24 and not lost:
            lost.append(made.list_all_nodes()[-1])
            made.remove_node(lost[0], allow_graceful=False)

    play_arena(AGENTS, **RUN, out=bots / "afar", cluster=made.address, watch=watch, records=True)
    play_arena(AGENTS, **RUN, out=bots / "here", jobs=2, records=True)
    assert lost and csv(bots / "afar") == csv(bots / "here")
    kept = sorted(path.relative_to(bots / "here") for path in (bots / "here" / "records").rglob("*.jsonl"))
    assert len(kept) == 96
    assert all((bots / "afar" / path).read_bytes() == (bots / "here" / path).read_bytes() for path in kept)


def test_a_run_that_is_stopped_goes_on(bots, cluster):
    address = cluster(1).address

    def stop(progress):
        if progress.finished >= 24:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(ArenaStopped) as stopped:
        play_arena(AGENTS, **RUN, out=bots / "afar", cluster=address, watch=stop)
    assert 24 <= len(stopped.value.result.outcomes) < 96
    kept = []
    play_arena(AGENTS, **RUN, out=bots / "afar", cluster=address, watch=lambda progress: kept.append(progress.kept))
    play_arena(AGENTS, **RUN, out=bots / "here", jobs=1)
    assert kept[0] >= 24 and csv(bots / "afar") == csv(bots / "here")


def test_an_agent_that_ends_its_process_loses_that_game_and_nothing_else(bots, cluster):
    agents, run = ["my_bots:First", "my_bots:Rarely:end"], RUN | {"games": 12}
    afar = play_arena(agents, **run, out=bots / "afar", cluster=cluster(1).address)
    play_arena(agents, **run, out=bots / "here", jobs=1)
    assert afar.faults and csv(bots / "afar") == csv(bots / "here")


def test_a_full_object_store_is_no_hindrance(bots, cluster):
    import ray

    made = cluster(1, object_store_memory=80 * 2**20)
    ray.init(made.address, log_to_driver=False)
    full = [ray.put(np.ones(20 * 2**20, np.uint8)) for _ in range(6)]  # more than there is room for
    play_arena(AGENTS, **RUN | {"games": 24}, out=bots / "afar", cluster=made.address, records=True)
    play_arena(AGENTS, **RUN | {"games": 24}, out=bots / "here", jobs=1, records=True)
    assert csv(bots / "afar") == csv(bots / "here") and len(full) == 6
    assert ray.is_initialized(), "a cluster that somebody else has joined is not left"


def test_an_agent_that_cannot_be_made_on_a_node_is_told_in_one_line(bots, cluster):
    (bots / "my_bots_pid.py").write_text(
        f"import os\n\n\nclass Picky:\n    def __init__(self):\n        assert os.getpid() == {os.getpid()}\n\n"
        "    def act(self, views):\n        return views.mask.argmax(1)\n"
    )
    with pytest.raises(
        ArenaError, match=r"^a machine of the cluster cannot play: .*my_bots_pid:Picky.* cannot be made.*"
    ):
        play_arena(["my_bots:First", "my_bots_pid:Picky"], **RUN, cluster=cluster(1).address)
