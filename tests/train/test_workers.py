"""Processes that learn together: the same steps as one would make, the same weights again, and a clear end."""

import os
import signal
import threading
from dataclasses import replace

import pytest
from trainings import ROLLOUT, TINY, assert_same_policy, begin, go_on, run, stop_after

torch = pytest.importorskip("torch")

from borneo_train.run import checkpoint  # noqa: E402  # torch may be missing
from borneo_train.run.checks import check, filled  # noqa: E402
from borneo_train.learner import Learner  # noqa: E402
from borneo_train.run.config import Settings  # noqa: E402
from borneo_train.together import AGREE, KEEP, ROUND, SETTLE, Together  # noqa: E402
from borneo_train.workers import WorkerEnded, Workers  # noqa: E402

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before", "no_curves_are_drawn")
ROWS = ("table", "mask", "action", "logp", "seat", "reward", "done", "own", "value")  # of a rollout


class Beside(Together):
    """One of two threads that learn together, as processes would."""

    def __init__(self, rank, barrier, said):
        super().__init__(rank, 2)
        self.barrier, self.said = barrier, said

    def _add_up(self, values):
        self.said[self.rank] = values.clone()
        self.barrier.wait(60)
        values.copy_(self.said[0] + self.said[1])
        self.barrier.wait(60)
        return Arrived()

    def share(self, values):
        self.said[self.rank] = values
        self.barrier.wait(60)
        values.copy_(self.said[0])
        self.barrier.wait(60)


class Arrived:
    """A message that has come."""

    def wait(self):
        pass


def two_learners(settings):
    barrier, said = threading.Barrier(2), [None, None]
    return [Learner(settings, Beside(rank, barrier, said)) for rank in range(2)]


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
    return torch.cat([part.detach().flatten() for network in learner.networks for part in network.parameters()])


# ---------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("frozen", [0.0, 0.7])
def test_two_learn_what_one_learns_from_the_decisions_of_both(frozen):
    """Their advantages, scales, gradients and figures are those of all decisions together, even if one has fewer."""
    settings = replace(TINY, n_envs=24, batch_size=12, n_epochs=2, learning_rate=0.01, target_kl=1e-9, frozen=frozen)
    two, one = two_learners(settings), Learner(settings)
    for _ in range(2):
        for learner in two:
            learner.collect()
        one.play()
        for name in ROWS:
            both = [getattr(learner.rollout, name) for learner in two]
            getattr(one.rollout, name).copy_(torch.cat(both, 1))
        one.ended.copy_(torch.cat([learner.ended for learner in two]))
        figures, same = side_by_side(*(learner.learn for learner in two))
        assert figures == same == pytest.approx(one.learn(), rel=1e-3, abs=1e-6)
        assert torch.equal(weights_of(two[0]), weights_of(two[1]))
        assert torch.allclose(weights_of(two[0]), weights_of(one), atol=1e-5)
        assert two[0].decisions == one.decisions and two[0].caution == one.caution < 1


def test_workers_play_games_of_their_own():
    first, second = two_learners(TINY)
    assert len(first.games) == len(second.games) == TINY.n_envs // 2
    assert not torch.equal(first.games.table, second.games.table)
    chances = [torch.rand(8, generator=learner.generator) for learner in (first, second)]
    assert not torch.equal(*chances), "which is more than that the generators have other seeds"
    assert torch.equal(weights_of(first), weights_of(second))


def test_all_begin_with_what_the_first_one_has():
    """The training whose networks they begin with may have gone on while some of them read its files."""
    first, second = two_learners(replace(TINY, frozen=0.5))
    chance = first.generator.get_state()
    for part in (*second.actor.parameters(), *second.opponents.network[-1], second.scale):
        if part is not None:
            part.data.add_(1.0)
    side_by_side(first.agree, second.agree)
    for name, tensor in first.tensors().items():
        assert (name == "generator") != torch.equal(tensor, second.tensors()[name]), name
    assert torch.equal(first.generator.get_state(), chance)


def test_orders_say_how_much_is_over(tmp_path, no_games_to_measure):
    """What is done together depends on it: rates fall, and what was played ahead is learnt from."""
    training = begin(tmp_path, bots=1.0, bot="random", frozen=0.0)
    training.learner.plays_ahead = True
    orders, give = [], training.workers.order

    def order(number, progress):
        orders.append((number, progress))
        assert progress == training.learner.progress
        give(number, progress)

    training.workers.order = order
    run(training)
    assert {number for number, _ in orders} == {AGREE, ROUND, SETTLE, KEEP}
    assert max(progress for number, progress in orders if number == SETTLE) == 1


def test_whoever_learns_alone_talks_to_nobody(tmp_path, no_games_to_measure, monkeypatch):
    monkeypatch.setattr("borneo_train.together.dist", None)
    monkeypatch.setattr("borneo_train.workers.subprocess", None)
    assert run(begin(tmp_path)).learner.decisions == 4 * ROLLOUT


# ---------------------------------------------------------------- processes


@pytest.mark.soak
def test_the_same_seed_gives_the_same_weights_even_if_the_training_is_stopped(tmp_path, no_games_to_measure, capfd):
    settings = {"workers": 2, "frozen": 0.5, "learning_rate": 0.05}
    whole = begin(tmp_path / "whole", **settings)
    run(whole)
    stopped = stop_after(begin(tmp_path / "stopped", **settings), 2 * ROLLOUT)
    stopped.run()
    assert stopped.stopped and stopped.learner.decisions == 2 * ROLLOUT
    with pytest.raises(ValueError, match="the training has --workers 2 and cannot go on with 3"):
        go_on(tmp_path / "stopped", workers=3)
    run(go_on(tmp_path / "stopped"))
    assert_same_policy(tmp_path / "whole" / "last", tmp_path / "stopped" / "last")
    names = {path.name for path in checkpoint.newest(tmp_path / "whole" / "checkpoints").iterdir()}
    assert names == {
        "training.safetensors", "training.json", "games-4.npz", "games-4-worker-1.npz", "worker-1.safetensors",
        "model.safetensors", "card.json",
    }  # fmt: skip
    whole.clear()
    assert not (tmp_path / "whole" / "checkpoints").exists(), "no file of a worker is left"
    assert "Traceback" not in capfd.readouterr().err


def test_a_worker_that_dies_ends_the_training(tmp_path, no_games_to_measure):
    training = begin(tmp_path, workers=2, timesteps=10**6)
    goes_on = training._goes_on

    def killing():
        if training.learner.decisions == 2 * ROLLOUT:
            os.kill(training.workers.pids()[0], signal.SIGKILL)
        return goes_on()

    training._goes_on = killing
    with pytest.raises(WorkerEnded, match="worker 1 has ended: Killed; --resume goes on from the last checkpoint"):
        training.run()
    assert training.workers.pids() == [] and checkpoint.newest(tmp_path / "checkpoints") is not None


@pytest.mark.soak
def test_a_worker_that_cannot_begin_ends_the_training(tmp_path, no_games_to_measure, monkeypatch):
    training = begin(tmp_path, workers=2)
    monkeypatch.setattr(training.workers, "_settings", replace(training.settings, edition="dice"))
    with pytest.raises(WorkerEnded, match=r"worker 1 has ended: .*dice.*; --resume goes on"):
        training.run()


# ---------------------------------------------------------------- how many


@pytest.mark.parametrize(
    ("cores", "batch_size", "workers"), [(1, 12, 1), (2, 12, 2), (4, 6, 3), (16, 12, 4), (2, 5, 1)]
)
def test_there_is_a_worker_for_each_core_if_all_have_equal_parts(cores, batch_size, workers):
    assert Settings(batch_size=batch_size).filled(has_card=False, cores=cores).workers == workers
    assert Settings(batch_size=batch_size, workers=5).filled(has_card=False, cores=cores).workers == 5


def test_few_games_have_few_workers():
    few = Settings(n_envs=4, batch_size=4)
    assert [replace(few, players=players).filled(False, cores=4).workers for players in ("3,4,5", "3,4", "4")] == [
        1,
        2,
        4,
    ]


def test_on_a_card_one_process_learns():
    usual = Settings().filled(has_card=True, cores=16)
    assert usual.workers == 1
    with pytest.raises(ValueError, match="--workers of one machine are for the CPU: on a GPU one process learns"):
        Workers(replace(usual, workers=2))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"workers": 5}, "--batch-size 12 is no multiple of --workers 5: each has an equal part"),
        ({"workers": 12, "players": "3,4,5"}, "--n-envs 12 leaves a player count without games"),
        ({"workers": 513}, "--workers is a number from 1 to 512, not 513"),
        ({"workers": -1}, "--workers is a number from 1 to 512, not -1"),
    ],
)
def test_numbers_of_workers_that_cannot_be_are_refused(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        check(filled(replace(TINY, **changes)))
