"""What the tests of training share."""

from functools import cache

import pytest


@pytest.fixture(scope="session", autouse=True)
def what_every_training_needs_is_made_once():
    """The versions of software, and the scale, which is from few games: that it is right is a test of the network."""
    ppo = pytest.importorskip("borneo_train.ppo")
    network = pytest.importorskip("borneo_train.network")

    @cache
    def quick_scale(edition, whole_table):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(network, "SCALE_GAMES", 6)
            return network.usual_scale.__wrapped__(edition, whole_table)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ppo, "usual_scale", quick_scale)
        patch.setattr(ppo, "software", cache(ppo.software))
        yield


@pytest.fixture
def no_curves_are_drawn(monkeypatch):
    """But those of trainings that several tests share."""
    monkeypatch.setattr("borneo_train.ppo.draw_curve", lambda curve, settings, path: path.touch())
