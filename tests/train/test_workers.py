"""Processes that learn as one: the same weights everywhere, the same training again, and a clear end."""

import os
import signal
import threading
from dataclasses import replace
from functools import partial

import pytest
from trainings import ROLLOUT, TINY, assert_same_policy, begin, go_on, run, stop_after

torch = pytest.importorskip("torch")

from borneo_train.distributed.local import LocalWorkers  # noqa: E402  # torch may be missing
from borneo_train.distributed.process_group import CHECKPOINT, SHUTDOWN, STEP, ProcessGroup  # noqa: E402
from borneo_train.distributed.worker import Follower  # noqa: E402
from borneo_train.run import checkpoint  # noqa: E402
from borneo_train.run.config import Settings  # noqa: E402
from borneo_train.run.learner import create_learner  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before", "no_curves_are_drawn")


class ThreadGroup(ProcessGroup):
    """One of two threads that learn as one, as processes would."""

    def __init__(self, rank, barrier, told):
        super().__init__(rank, 2)
        self.barrier, self.told = barrier, told

    def mean(self, values):
        self.told[self.rank] = values.clone()
        self.barrier.wait(60)
        values.copy_((self.told[0] + self.told[1]) / 2)
        self.barrier.wait(60)
        return values


def two_learners(settings):
    barrier, told = threading.Barrier(2), [None, None]
    return [create_learner(settings, ThreadGroup(rank, barrier, told)) for rank in range(2)]


def side_by_side(*works):
    """Do work in threads; returns what each comes to."""
    found = [None] * len(works)

    def do(number):
        found[number] = works[number]()

    threads = [threading.Thread(target=do, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def weights_of(learner):
    return torch.cat([part.detach().flatten() for part in learner.networks.parameters()])


def gradient_of(learner):
    return torch.cat([part.grad.flatten() for part in learner.networks.parameters()])


# ---------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("opponent_share", [0.0, 0.7])
def test_two_have_the_same_weights_at_all_times_and_the_same_training_again(opponent_share):
    settings = replace(
        TINY, n_envs=24, batch_size=12, n_epochs=2, learning_rate=0.01, target_kl=1e-9, opponent_share=opponent_share
    )
    found = []
    for _ in range(2):
        two = two_learners(settings)
        for _ in range(2):
            before = weights_of(two[0])
            for learner in two:
                learner.collect()
            assert not torch.equal(two[0].rollout.state, two[1].rollout.state)
            metrics, same = side_by_side(*(learner.update for learner in two))
            assert metrics == same and two[0].numbers() == two[1].numbers()
            assert torch.equal(two[0].return_scale, two[1].return_scale)
            assert torch.equal(weights_of(two[0]), weights_of(two[1])) and not torch.equal(weights_of(two[0]), before)
        assert two[0].decisions == 2 * 24 * 4 and two[0].kl_lr_scale < 1
        found.append(weights_of(two[0]))
    assert torch.equal(*found)


def test_two_take_a_step_by_the_mean_of_their_gradients():
    two = two_learners(replace(TINY, max_grad_norm=1e9))  # nothing is clipped
    own, first = [], weights_of(two[0])
    for learner in two:
        learner.collect()
    batches = [batch for batch, _ in side_by_side(*(learner._batch for learner in two))]
    for learner, batch in zip(two, batches, strict=True):
        together, learner.group = learner.group, ProcessGroup()
        learner._train_step(*batch)
        own.append(gradient_of(learner))
        learner.group = together
        torch.nn.utils.vector_to_parameters(first, learner.networks.parameters())
    side_by_side(*(partial(learner._train_step, *batch) for learner, batch in zip(two, batches, strict=True)))
    assert not torch.allclose(*own)
    for learner in two:
        assert torch.allclose(gradient_of(learner), (own[0] + own[1]) / 2, atol=1e-6)


def test_workers_play_games_of_their_own():
    first, second = two_learners(TINY)
    assert len(first.games) == len(second.games) == TINY.n_envs // 2
    assert not torch.equal(first.games.state, second.games.state)
    drawn = [torch.rand(8, generator=learner.generator) for learner in (first, second)]
    assert not torch.equal(*drawn), "which is more than that the generators have other seeds"
    assert torch.equal(weights_of(first), weights_of(second))


def test_commands_say_how_much_is_over(tmp_path, no_games_to_measure):
    """What is done together depends on it: rates fall, and earlier versions are replaced."""
    training = begin(tmp_path)
    commands, give = [], training.workers.command

    def command(number, progress):
        commands.append((number, progress))
        assert progress == training.learner.progress
        give(number, progress)

    training.workers.command = command
    run(training)
    assert [progress for number, progress in commands if number == STEP] == [0, 0.25, 0.5, 0.75]
    assert commands[-1] == (CHECKPOINT, 1) and {number for number, _ in commands} == {STEP, CHECKPOINT}


def test_a_follower_does_what_it_is_told(monkeypatch):
    learner, kept = create_learner(TINY), []
    told = iter([(STEP, 0.5), (CHECKPOINT, 0.6), (CHECKPOINT, 0.7), (STEP, 0.8), (SHUTDOWN, 1.0)])
    monkeypatch.setattr(learner.group, "broadcast", lambda: next(told))
    monkeypatch.setattr(checkpoint, "save_part", kept.append)
    follower = Follower(learner)
    found = [(follower.goes_on(), learner.progress, len(kept)) for _ in range(3)]
    assert found == [(True, 0.5, 0), (True, 0.8, 2), (False, 1.0, 2)]


# ---------------------------------------------------------------- processes


@pytest.mark.soak
def test_the_same_seed_gives_the_same_weights_even_if_the_training_is_stopped(tmp_path, no_games_to_measure, capfd):
    settings = {"workers": 2, "opponent_share": 0.5, "learning_rate": 0.05}
    whole = begin(tmp_path / "whole", **settings)
    run(whole)
    stopped = stop_after(begin(tmp_path / "stopped", **settings), 2 * ROLLOUT)
    stopped.run()
    assert stopped.stopped and stopped.learner.decisions == 2 * ROLLOUT
    with pytest.raises(ValueError, match="the training has --workers 2 and cannot go on with 3"):
        go_on(tmp_path / "stopped", workers=3)
    run(go_on(tmp_path / "stopped"))
    assert_same_policy(tmp_path / "whole" / "last", tmp_path / "stopped" / "last")
    names = load_file(checkpoint.newest(tmp_path / "whole" / "checkpoints"))
    own = {name.removeprefix("1.") for name in names if name.startswith("1.")}
    assert own == {"episode_return", "generator", "games.0", "games.1"}
    whole.clear()
    assert not (tmp_path / "whole" / "checkpoints").exists(), "no file of a worker is left"
    assert "Traceback" not in capfd.readouterr().err


def test_a_worker_that_dies_ends_the_training(tmp_path, no_games_to_measure):
    training = begin(tmp_path, workers=2, timesteps=10**6)
    goes_on = training.goes_on

    def killing():
        if training.learner.decisions == 2 * ROLLOUT:
            os.kill(training.workers.processes[0].pid, signal.SIGKILL)
        return goes_on()

    training.goes_on = killing
    with pytest.raises(ValueError, match="worker 1 has ended: Killed; --resume goes on from the last checkpoint"):
        training.run()
    assert training.workers.processes == [] and checkpoint.newest(tmp_path / "checkpoints") is not None


@pytest.mark.soak
def test_a_worker_that_cannot_start_ends_the_training(tmp_path, no_games_to_measure, monkeypatch):
    training = begin(tmp_path, workers=2)
    monkeypatch.setattr(training.workers, "_settings", replace(training.settings, edition="dice"))
    with pytest.raises(ValueError, match=r"worker 1 has ended: .*dice.*; --resume goes on"):
        training.run()


# ---------------------------------------------------------------- how many


@pytest.mark.parametrize(
    ("changes", "cores", "workers"),
    [
        ({"batch_size": 12}, 1, 1),
        ({"batch_size": 12}, 2, 2),
        ({"batch_size": 6}, 4, 3),
        ({"batch_size": 12}, 16, 4),
        ({"batch_size": 5}, 2, 1),
        ({"batch_size": 12, "workers": 5}, 2, 5),
        ({"n_envs": 4, "batch_size": 4, "players": "3,4,5"}, 4, 1),
        ({"n_envs": 4, "batch_size": 4, "players": "3,4"}, 4, 2),
        ({"n_envs": 4, "batch_size": 4, "players": "4"}, 4, 4),
    ],
)
def test_there_is_a_worker_for_each_core_if_all_have_equal_parts(changes, cores, workers):
    assert Settings(**changes).filled(has_card=False, cores=cores).workers == workers


def test_on_a_card_one_process_learns():
    usual = Settings().filled(has_card=True, cores=16)
    assert usual.workers == 1
    with pytest.raises(ValueError, match="--workers of one machine are for the CPU: on a GPU one process learns"):
        LocalWorkers(replace(usual, workers=2))
