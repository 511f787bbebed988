"""What the tests of training share."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from borneo_env import cli


@pytest.fixture(scope="session", autouse=True)
def trainings_have_one_thread():
    """Tests run side by side, and threads of two would wait for each other at every small step."""
    training = pytest.importorskip("borneo_train.run.training")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "available_cores", lambda: 1)
        yield


@pytest.fixture(scope="module")
def games_are_hardly_played_before():
    """That they are is a test of the games."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("borneo_train.games.games.WHOLE_GAME", 8)
        yield


@pytest.fixture
def one_thread():
    """For torch: tests run side by side, and threads of two would wait for each other at every small step."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def no_curves_are_drawn(monkeypatch):
    """But those of trainings that several tests share."""
    monkeypatch.setattr("borneo_train.run.training.picture", lambda curve, settings: Figure())


@pytest.fixture
def no_games_to_measure(monkeypatch):
    """What a learner comes to follows from its weights: that takes no time, and tells learners apart."""
    from borneo_train.run.tasks import MEASURES, Evaluation

    def measured(agent, task, against, *, players, games, seed, edition, jobs=None):
        value = 0.5 if isinstance(agent, str) else float(np.abs(agent.model.layers[0].weights).mean())
        return [Evaluation(measure.name, against, players, games, seed, value, 0.0, 1.0) for measure in MEASURES[task]]

    monkeypatch.setattr("borneo_train.run.training.evaluate", measured)


@pytest.fixture
def borneo(capsys, monkeypatch):
    """Run the command; returns its status, what it printed, and what it said beside that."""

    def run(line, *more):
        monkeypatch.setattr(sys, "argv", ["borneo", *line.split(), *map(str, more)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code or 0, *capsys.readouterr()

    return run
