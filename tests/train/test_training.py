"""Trainings: tiny ones, from the first deal to the report."""

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from borneo_agents.policy.model import read_card, read_model
from trainings import ROLLOUT, TINY, TWO_TABLES, assert_same_policy, begin, curve, go_on, run, stop_after

torch = pytest.importorskip("torch")

from borneo_train.run import checkpoint  # noqa: E402  # torch may be missing
from borneo_train.run.config import EVAL_SEED_OFFSET, Settings  # noqa: E402
from borneo_train.run.tasks import MEASURES, Evaluation  # noqa: E402
from borneo_train.run.training import Training  # noqa: E402
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before", "no_curves_are_drawn")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, games_are_hardly_played_before):
    """The folder of a training that nobody has stopped."""
    folder = tmp_path_factory.mktemp("whole")
    begin(folder).run()
    return folder


@pytest.fixture
def copied(whole, tmp_path):
    """The folder of that training, to do with as one likes."""
    return Path(shutil.copytree(whole, tmp_path / "copied"))


# ---------------------------------------------------------------- what there is afterwards


def test_a_training_leaves_models_and_a_curve(whole):
    assert {path.name for path in whole.iterdir()} == {
        "best", "last", "checkpoints", "tensorboard", "curve.jsonl", "curve.png", "settings.json",
    }  # fmt: skip
    assert [entry["steps"] for entry in curve(whole)] == [0, 2 * ROLLOUT, 4 * ROLLOUT]


def test_a_training_that_came_to_nothing_says_so(whole, tmp_path, capsys):
    """`--minutes 0.3` would else keep the model that has learnt nothing, and praise it."""
    training = begin(tmp_path)
    training.curve = curve(whole)
    training._end()
    told = capsys.readouterr().err
    assert "too short to tell: after 192 dec" in told and "learn longer, with --resume and more --timesteps" in told


def test_the_model_of_every_evaluation_stays_when_its_checkpoint_goes(tmp_path, no_games_to_measure):
    run(begin(tmp_path, timesteps=6 * ROLLOUT, evaluations=3))
    kept = {int(path.parent.name): read_card(path) for path in (tmp_path / "checkpoints").glob("*/card.json")}
    measured = {entry["steps"]: entry["strength"] for entry in curve(tmp_path)}
    assert {steps: card.strength for steps, card in kept.items()} == measured and len(measured) == 4
    assert_same_policy(tmp_path / "checkpoints" / f"{max(kept):012}", tmp_path / "last")
    assert len(checkpoint.all_in(tmp_path / "checkpoints")) == checkpoint.KEPT < len(kept)
    assert go_on(tmp_path).learner.decisions == 6 * ROLLOUT


def test_the_card_says_how_the_model_came_about(whole):
    card = read_card(whole / "last" / "card.json")
    assert (card.steps, card.seed, card.task, card.players) == (4 * ROLLOUT, 3, "win", [4])
    assert card.command == "borneo train"
    assert card.settings["n_steps"] == 4
    assert set(card.software) >= {"borneo-env", "torch", "numpy", "python"}
    assert [(one["players"], one["games"]) for one in card.strength] == [(4, 4)]
    assert str(whole) not in json.dumps(card.settings)


def test_tensorboard_shows_figures_by_the_names_that_people_know(whole):
    found = EventAccumulator(str(whole / "tensorboard"))
    found.Reload()
    assert set(found.Tags()["scalars"]) >= {
        "rollout/ep_rew_mean", "rollout/ep_len_mean", "time/fps", "train/approx_kl", "train/clip_fraction",
        "train/value_loss", "train/policy_gradient_loss", "train/entropy", "train/explained_variance",
        "train/learning_rate", "eval/win share/3 random",
    }  # fmt: skip
    assert [event.step for event in found.Scalars("train/value_loss")] == [ROLLOUT * part for part in (1, 2, 3, 4)]
    assert [event.step for event in found.Scalars("eval/win share/3 random")] == [0, 2 * ROLLOUT, 4 * ROLLOUT]
    rates = [event.value for event in found.Scalars("train/learning_rate")]
    assert rates[-1] < rates[0] == pytest.approx(1e-3), "it falls"


def test_a_learner_is_measured_on_deals_it_has_not_learnt_from(whole):
    assert {one["seed"] for entry in curve(whole) for one in entry["strength"]} == {TINY.seed + EVAL_SEED_OFFSET}


def test_by_default_a_learner_is_measured_against_weak_and_strong_ones(tmp_path, no_games_to_measure, capsys):
    """So a first curve is neither flat at the bottom nor flat at the top."""
    training = run(begin(tmp_path, against=Settings().against, players="3,4"))
    tables = [("random", 3), ("random", 4), ("merchant", 3), ("merchant", 4)]
    found = [entry["strength"] for entry in curve(tmp_path)]
    assert all([(one["against"], one["players"]) for one in strength] == tables for strength in found)
    assert training.best == pytest.approx(max(np.mean([one["value"] for one in strength]) for strength in found))
    assert f"{ROLLOUT * 4:,} decisions, against merchant: win share" in capsys.readouterr().err


def test_a_learner_is_measured_in_the_edition_it_has_learnt(tmp_path, monkeypatch):
    """One of the other edition could not play, and would lose every game."""
    asked = []

    def measured(agent, task, against, *, edition, players, games, seed, jobs=None):
        asked.append((edition, players))
        return [Evaluation("win share", against, players, games, seed, 0.5, 0.0, 1.0)]

    monkeypatch.setattr("borneo_train.run.training.evaluate", measured)
    begin(tmp_path, edition="card", players="3", timesteps=ROLLOUT).run()
    assert set(asked) == {("card", 3)}


@pytest.mark.parametrize(("values", "best"), [((0.2, 0.5, 0.3), 2), ((0.5, 0.2, 0.3), 0), ((0.5, 0.2, 0.5), 4)])
def test_the_best_model_is_kept(values, best, tmp_path, monkeypatch):
    """Of equals the last one, which has learnt the most."""
    worth = iter(values)

    def measured(policy, task, against, *, players, games, seed, edition):
        return [Evaluation("win share", against, players, games, seed, next(worth), 0.0, 1.0)]

    monkeypatch.setattr("borneo_train.run.training.evaluate", measured)
    run(begin(tmp_path))
    assert read_card(tmp_path / "best" / "card.json").steps == best * ROLLOUT
    assert read_card(tmp_path / "last" / "card.json").steps == 4 * ROLLOUT


# ---------------------------------------------------------------- stopping and going on


@pytest.mark.parametrize("opponent", ["", "self", "contractor"])
def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(
    opponent, tmp_path, no_games_to_measure, monkeypatch
):
    """Earlier versions of the learner are those they would have been: they are replaced after the third rollout."""
    monkeypatch.setattr("borneo_train.ppo.SNAPSHOTS", 2)
    settings = {"timesteps": 6 * ROLLOUT, **(TWO_TABLES | {"opponent": opponent} if opponent else {})}
    run(begin(tmp_path / "whole", **settings))
    training = stop_after(begin(tmp_path / "stopped", **settings), ROLLOUT)
    training.run()
    assert training.stopped and training.learner.decisions == ROLLOUT
    stop_after(go_on(tmp_path / "stopped"), 4 * ROLLOUT).run()
    again = go_on(tmp_path / "stopped")
    assert again.learner.decisions == 4 * ROLLOUT
    assert again.learner.progress == pytest.approx(4 / 6)
    run(again)
    assert_same_policy(tmp_path / "whole" / "last", tmp_path / "stopped" / "last")
    unbroken = [entry["steps"] for entry in curve(tmp_path / "whole")]
    stopped = [entry for entry in curve(tmp_path / "stopped") if entry["steps"] in unbroken]
    assert [entry["strength"] for entry in stopped] == [entry["strength"] for entry in curve(tmp_path / "whole")]


def test_an_evaluation_that_was_cut_short_is_made_by_whoever_goes_on(tmp_path, no_games_to_measure):
    training = begin(tmp_path)
    evaluate = training._evaluate

    def interrupted():
        if training.learner.decisions == 2 * ROLLOUT:
            raise KeyboardInterrupt
        return evaluate()

    training._evaluate = interrupted
    with pytest.raises(KeyboardInterrupt):
        stop_after(training, 2 * ROLLOUT).run()
    again = go_on(tmp_path)
    assert again.learner.decisions == 2 * ROLLOUT, "it was saved before"
    assert [entry["steps"] for entry in run(again).curve] == [0, 2 * ROLLOUT, 4 * ROLLOUT]


def test_what_was_written_after_the_checkpoint_is_forgotten(whole, tmp_path, no_games_to_measure):
    stop_after(begin(tmp_path), 2 * ROLLOUT).run()
    checkpoint.newest(tmp_path / "checkpoints").unlink()  # as if the process had been killed before it wrote it
    again = go_on(tmp_path)
    assert again.learner.decisions == ROLLOUT
    assert [entry["steps"] for entry in curve(tmp_path)] == [0]
    run(again)
    assert_same_policy(whole / "last", tmp_path / "last")


def test_a_training_stopped_before_there_was_a_checkpoint_begins_again(whole, tmp_path, no_games_to_measure):
    begin(tmp_path)
    again = run(go_on(tmp_path))
    assert again.learner.decisions == 4 * ROLLOUT
    assert_same_policy(whole / "last", tmp_path / "last")


def test_a_longer_training_is_measured_as_often(tmp_path, no_games_to_measure):
    """Not only at its end, as one might think who counts the evaluations before."""
    run(begin(tmp_path))
    again = run(go_on(tmp_path, timesteps=12 * ROLLOUT))
    assert [entry["steps"] for entry in again.curve] == [ROLLOUT * part for part in (0, 2, 4, 6, 12)]
    assert again.command == f"borneo train and then --resume --timesteps {12 * ROLLOUT}"


RUN = """
import sys
sys.path.insert(0, sys.argv[2])
from trainings import begin
begin(sys.argv[1], timesteps=10**6, evaluations=1000).run()
"""


@pytest.mark.soak
def test_a_training_that_was_killed_goes_on(tmp_path):
    command = [sys.executable, "-c", RUN, str(tmp_path), str(Path(__file__).parent.parent)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    until = time.monotonic() + 240
    while not list((tmp_path / "checkpoints").glob("*.safetensors")) and time.monotonic() < until:
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.05)
    process.kill()
    process.wait()
    process.stderr.close()
    run(go_on(tmp_path, timesteps=4 * ROLLOUT))
    assert read_card(tmp_path / "last" / "card.json").steps >= 4 * ROLLOUT


def interrupt(training, decisions):
    """Let somebody press Ctrl-C while the learner learns from its decisions."""
    update = training.learner.update

    def interrupted():
        if training.learner.decisions == decisions:
            signal.raise_signal(signal.SIGINT)
        return update()

    training.learner.update = interrupted
    return training


def test_ctrl_c_in_the_last_update_stops_nothing(tmp_path, no_games_to_measure):
    training = interrupt(begin(tmp_path), 4 * ROLLOUT)
    training.run()
    assert not training.stopped and training.learner.decisions == 4 * ROLLOUT


def test_a_second_ctrl_c_stops_at_once_and_loses_nothing(tmp_path, no_games_to_measure):
    """The second comes while the learner is measured, which takes long."""
    training = interrupt(begin(tmp_path, timesteps=10**6), 2 * ROLLOUT)
    handler, evaluate = signal.getsignal(signal.SIGINT), training._evaluate

    def interrupted():
        if training.stopping:
            signal.raise_signal(signal.SIGINT)
        evaluate()

    training._evaluate = interrupted
    with pytest.raises(KeyboardInterrupt):
        training.run()
    assert signal.getsignal(signal.SIGINT) is handler
    assert go_on(tmp_path).learner.decisions == 2 * ROLLOUT


# ---------------------------------------------------------------- how long


def test_minutes_beside_timesteps_stop_a_training(tmp_path, no_games_to_measure):
    training = run(begin(tmp_path, timesteps=10**6, minutes=1e-6))
    assert training.stopped and training.learner.decisions == ROLLOUT
    assert training.learner.progress == ROLLOUT / 10**6, "rates fall by what is learnt, not by the time"


def test_minutes_beside_timesteps_are_those_of_a_session(tmp_path, no_games_to_measure):
    """Whoever goes on for some minutes gets them, however long it took before."""
    run(begin(tmp_path, timesteps=2 * ROLLOUT, minutes=1e-6))
    again = go_on(tmp_path, minutes=1.0)
    again.seconds = 3600.0
    run(again)
    assert not again.stopped and again.learner.decisions == 2 * ROLLOUT


def test_a_training_of_some_minutes_goes_on_for_what_is_left_of_them(tmp_path, no_games_to_measure):
    stop_after(begin(tmp_path, timesteps=0, minutes=10.0), ROLLOUT).run()
    again = go_on(tmp_path)
    assert (again.settings.timesteps, again.settings.minutes) == (0, 10)
    assert 0 < again.learner.progress == again.seconds / 600 < 0.1
    again.seconds = 599.9999
    run(again)
    assert not again.stopped and again.learner.decisions == 2 * ROLLOUT
    longer = go_on(tmp_path, minutes=20.0)
    assert longer.learner.progress == pytest.approx(0.5, abs=0.01)
    assert longer.command == "borneo train and then --resume --minutes 20.0"
    counted = go_on(tmp_path, timesteps=4 * ROLLOUT)
    assert (counted.learner.progress, counted.settings.minutes) == (0.5, 0)


# ---------------------------------------------------------------- what goes wrong


def test_weights_that_are_no_numbers_are_not_kept(tmp_path, no_games_to_measure):
    training = begin(tmp_path, learning_rate=1e30, timesteps=8 * ROLLOUT)
    told = r"no numbers any more: train anew with a smaller --learning-rate; the best .*best"
    with pytest.raises(ValueError, match=told):
        training.run()
    assert np.isfinite(read_model(tmp_path / "best").layers[0].weights).all()
    assert go_on(tmp_path).learner.networks.are_finite()


def test_a_folder_with_a_training_is_not_overwritten(copied):
    with pytest.raises(ValueError, match="holds a training: --resume goes on, --fresh starts anew"):
        begin(copied)
    assert (copied / "curve.jsonl").exists()
    Training.create(replace(TINY, out=copied), "borneo train", fresh=True)
    assert [path.name for path in copied.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("fresh", [False, True])
def test_wrong_settings_are_told_before_the_folder_and_remove_nothing(fresh, copied, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for change, told in (
        ({"task": "lose"}, "--task 'lose'"),
        ({"players": "7"}, "--players wants"),
        ({"against": "merchnt"}, "no agent 'merchnt'"),
        ({"device": "cuda"}, "no GPU that torch can use; train with --device cpu"),
    ):
        with pytest.raises(ValueError, match=told):
            Training.create(replace(TINY, out=copied, **change), "borneo train", fresh=fresh)
    assert go_on(copied).learner.decisions == 4 * ROLLOUT


# ---------------------------------------------------------------- learning


@pytest.mark.soak
@pytest.mark.parametrize(("task", "rollouts"), [("win", 48), ("contracts", 12), ("ranks", 12)])
def test_a_small_training_improves_on_its_start(task, rollouts, tmp_path):
    """By its own measure, and by more than the intervals are wide. A win is one reward in a game: that takes longer."""
    settings = Settings(
        task=task, out=tmp_path, players="4", n_envs=384, n_steps=16, batch_size=384, n_epochs=2, actor="64x1",
        critic="64x1", timesteps=384 * 16 * rollouts, learning_rate=2e-3, against="random", evaluation_games=80,
        evaluations=1, seed=1, device="cpu",
    )  # fmt: skip
    training = run(Training.create(settings, "borneo train"))
    start, end = (entry["strength"][0] for entry in training.curve)
    if MEASURES[task][0].more_is_better:
        assert end["low"] > start["high"]
    else:
        assert end["high"] < start["low"]
