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

torch = pytest.importorskip("torch")

from borneo_train import checkpoint, ppo  # noqa: E402  # torch may be missing
from borneo_train.ppo import UNSEEN, Finished, Training, falling  # noqa: E402
from borneo_train.practice import Practice  # noqa: E402
from borneo_train.settings import Settings  # noqa: E402
from borneo_train.tasks import TASKS, Measurement  # noqa: E402
from sb3_contrib import MaskablePPO  # noqa: E402

pytestmark = pytest.mark.usefixtures("no_curves_are_drawn")
ROLLOUT = 24 * 8
TINY = Settings(
    games=24, horizon=8, minibatch=64, epochs=1, actor="16x2", critic="16x2", steps=4 * ROLLOUT, seed=3,
    evaluate_every=2 * ROLLOUT, evaluation_games=4, against="random", opponents="league", players="4",
)  # fmt: skip


def begin(folder, **changes):
    return Training.begun(replace(TINY, out=Path(folder), **changes), "borneo train")


def run(training):
    """Without the comparison with the bots: it takes longer than the training."""
    training._report = list
    training.run()
    return training


@pytest.fixture
def no_games_to_measure(monkeypatch):
    """What a learner comes to follows from its weights: that takes no time, and tells learners apart."""

    def measured(policy, task, against, *, players, games, seed):
        value = float(np.abs(policy.model.layers[0].weights).mean())
        return [Measurement(TASKS[task][0].name, against, players, games, seed, value, 0.0, 1.0)]

    monkeypatch.setattr(ppo, "evaluate", measured)


def weights(folder):
    return {name: values for number, layer in enumerate(read_model(folder).layers)
            for name, values in zip(("weights", "biases", "gain", "shift"), layer, strict=True)
            if values is not None for name in (f"{number}.{name}",)}  # fmt: skip


def assert_same_policy(folder, other):
    assert weights(folder).keys() == weights(other).keys()
    for name, values in weights(folder).items():
        assert np.array_equal(values, weights(other)[name]), name


def curve(folder):
    return [json.loads(line)["strength"] for line in (Path(folder) / "curve.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A training that nobody has stopped, and its report."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, begin(folder).run()


@pytest.fixture
def copied(whole, tmp_path):
    """The folder of that training, to do with as one likes."""
    return Path(shutil.copytree(whole[0], tmp_path / "copied"))


# ---------------------------------------------------------------- what there is afterwards


def test_a_training_leaves_models_a_curve_and_a_report(whole):
    folder, report = whole
    names = {path.name for path in folder.iterdir()}
    assert names >= {"best", "last", "checkpoints", "league", "tensorboard", "curve.jsonl", "curve.png", "report.json",
                     "settings.json"}  # fmt: skip
    assert [entry["steps"] for entry in map(json.loads, (folder / "curve.jsonl").read_text().splitlines())] == [
        0, 2 * ROLLOUT, 4 * ROLLOUT,
    ]  # fmt: skip
    assert {row.measurement.against for row in report} == {"random", "contractor", "climber", "merchant"}
    assert {row.agent for row in report} == {"learner", "merchant"}
    assert len(json.loads((folder / "report.json").read_text())["comparison"]) == len(report)


def test_by_default_a_learner_is_measured_against_weak_and_strong_ones(tmp_path, no_games_to_measure, capsys):
    """So a first curve is neither flat at the bottom nor flat at the top."""
    training = run(begin(tmp_path, against=Settings().against, players="3,4"))
    tables = [("random", 3), ("random", 4), ("merchant", 3), ("merchant", 4)]
    assert all([(one["against"], one["players"]) for one in strength] == tables for strength in curve(tmp_path))
    means = [np.mean([one["value"] for one in strength]) for strength in curve(tmp_path)]
    assert training.best == pytest.approx(max(means))
    assert f"{ROLLOUT * 4:,} steps, against merchant: win share" in capsys.readouterr().err


def test_a_training_of_old_goes_on_against_whom_it_began(tmp_path, no_games_to_measure):
    run(begin(tmp_path, against="merchant", minutes=1e-6))
    again = run(Training.taken_up(Settings(out=tmp_path)))
    assert {one["against"] for strength in curve(tmp_path) for one in strength} == {"merchant"}
    assert again.settings.against == "merchant"
    with pytest.raises(ValueError, match=r"has --against merchant and cannot go on with random: .* leave it out"):
        Training.taken_up(Settings(out=tmp_path, against="random"))


def test_the_card_says_how_the_model_came_about(whole):
    folder, _ = whole
    card = read_card(folder / "last" / "card.json")
    assert (card.steps, card.seed, card.task, card.players) == (4 * ROLLOUT, 3, "win", [4])
    assert card.command == "borneo train"
    assert card.settings["horizon"] == 8
    assert set(card.software) >= {"borneo-env", "torch", "stable-baselines3", "sb3-contrib", "numpy", "python"}
    assert [(one["players"], one["games"]) for one in card.strength] == [(4, 4)]
    assert str(folder) not in json.dumps(card.settings)


def test_the_league_has_members_that_are_policies(whole):
    folder, _ = whole
    members = sorted((folder / "league").iterdir())
    assert [int(member.name) for member in members] == [0, ROLLOUT, 2 * ROLLOUT, 3 * ROLLOUT]
    assert read_model(members[1]).card.steps == ROLLOUT


def test_the_same_seed_gives_the_same_training(whole, tmp_path):
    run(begin(tmp_path))
    assert_same_policy(whole[0] / "last", tmp_path / "last")
    assert curve(tmp_path) == curve(whole[0])


def test_another_seed_gives_another(whole, tmp_path):
    start = weights(min((whole[0] / "league").iterdir()))["0.weights"]
    same, other = (begin(tmp_path / str(seed), seed=seed) for seed in (TINY.seed, TINY.seed + 1))
    assert np.array_equal(same._model().layers[0].weights, start)
    assert not np.array_equal(other._model().layers[0].weights, start)
    assert not np.array_equal(other.games.reset(), same.games.reset())


# ---------------------------------------------------------------- learning


QUICK_LEARNER = {
    "games": 128, "minibatch": 128, "horizon": 8, "epochs": 3, "actor": "32x1", "critic": "32x1", "steps": 128 * 8 * 4,
    "learning_rate": 4e-3, "evaluation_games": 40, "seed": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("task", "reward", "changes"),
    [
        ("win", "score-delta", QUICK_LEARNER),
        *(pytest.param(task, "", {}, marks=pytest.mark.soak) for task in ("contracts", "ranks")),
    ],
)
def test_a_tiny_training_improves_on_its_start(task, reward, changes, tmp_path):
    """By its own measure, and by far more than the intervals are wide."""
    settings = Settings(
        task=task, reward=reward, out=tmp_path, players="4", games=384, horizon=16, minibatch=512, epochs=2,
        actor="64x1", critic="64x1", steps=384 * 16 * 8, learning_rate=2e-3, opponents="self", against="random",
        evaluation_games=80, evaluate_every=10**6, seed=1,
    )  # fmt: skip
    settings = replace(settings, **changes)
    training = run(Training.begun(settings, "borneo train"))
    start, end = (entry["strength"][0] for entry in training.curve)
    if TASKS[task][0].more_is_better:
        assert end["low"] > start["high"]
    else:
        assert end["high"] < start["low"]


@pytest.mark.parametrize(("trials", "kind"), [(0, MaskablePPO), (1, Practice), (3, Practice)])
def test_trials_decide_how_it_is_learnt(trials, kind, tmp_path):
    learner = begin(tmp_path, trials=trials).learner
    assert type(learner) is kind and getattr(learner, "turns", 0) == trials


@pytest.mark.soak
def test_a_training_by_trials_learns_and_says_so(tmp_path, no_games_to_measure):
    training = begin(tmp_path, trials=1, lookahead=True, games=8, steps=64)
    before = training._model()
    run(training)
    found = read_model(tmp_path / "last")
    assert (found.card.steps, found.card.lookahead, found.card.settings["trials"]) == (64, True, 1)
    assert not np.array_equal(found.layers[0].weights, before.layers[0].weights)
    assert not any(map(np.array_equal, found.option_head, before.option_head)), "every part of the judge learns"


# ---------------------------------------------------------------- stopping and going on


@pytest.mark.parametrize(
    ("opponents", "trials"),
    [("mixed", 0), *(pytest.param(name, 1, marks=pytest.mark.soak) for name in ("league", "merchant", "nobody"))],
)
def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(opponents, trials, tmp_path, no_games_to_measure):
    games = 8 if trials else TINY.games  # trials and notes take long
    rollout = games * TINY.horizon
    settings = {
        "opponents": opponents,
        "lessons": 0 if trials else 300,
        "players": "3" if trials else "3,5",
        "lookahead": trials > 0,
        "trials": trials,
        "games": games,
        "steps": 4 * rollout,
        "evaluate_every": 2 * rollout,
        "evaluation_games": 2,
    }
    run(begin(tmp_path / "whole", **settings))
    training = begin(tmp_path / "stopped", **settings)
    training._on_rollout_start = stop_after(training, 2 * rollout)
    training.run()
    assert training.stopped
    assert training.learner.num_timesteps == 2 * rollout
    again = Training.taken_up(Settings(out=tmp_path / "stopped"))
    assert again.learner.num_timesteps == 2 * rollout
    run(again)
    assert_same_policy(tmp_path / "whole" / "last", tmp_path / "stopped" / "last")
    assert curve(tmp_path / "stopped") == curve(tmp_path / "whole")


def stop_after(training, steps):
    between = training._on_rollout_start

    def stopping():
        training.stopping = training.learner.num_timesteps >= steps
        between()

    return stopping


def test_what_was_written_after_the_checkpoint_is_forgotten(whole, tmp_path, no_games_to_measure):
    training = begin(tmp_path)
    training._on_rollout_start = stop_after(training, 2 * ROLLOUT)
    training.run()
    newest = checkpoint.newest(tmp_path / "checkpoints")
    newest.rename(newest.with_suffix(".part"))  # as if the process had been killed while it wrote
    again = Training.taken_up(Settings(out=tmp_path))
    assert again.learner.num_timesteps < 2 * ROLLOUT
    assert all(entry["steps"] <= again.learner.num_timesteps for entry in again.curve)
    assert all(int(member.name) <= again.learner.num_timesteps for member in (tmp_path / "league").iterdir())
    run(again)
    assert_same_policy(whole[0] / "last", tmp_path / "last")


RUN = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_ppo import TINY, Training
Training.begun(replace(TINY, out=Path(sys.argv[1]), steps=10**6), "borneo train").run()
"""


@pytest.mark.soak
def test_a_training_that_was_killed_goes_on(tmp_path):
    command = [sys.executable, "-c", RUN, str(tmp_path), str(Path(__file__).parent)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    until = time.monotonic() + 240
    while not list((tmp_path / "checkpoints").glob("*[0-9]")) and time.monotonic() < until:
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.05)
    process.kill()
    process.wait()
    process.stderr.close()
    run(Training.taken_up(Settings(out=tmp_path, steps=4 * ROLLOUT)))
    assert read_card(tmp_path / "last" / "card.json").steps >= 4 * ROLLOUT


def test_ctrl_c_saves(tmp_path, no_games_to_measure):
    """As soon as the round is learnt from. That the whole process ends well is a test of the command."""
    training = begin(tmp_path, steps=10**6)
    handler, between = signal.getsignal(signal.SIGINT), training._on_rollout_start

    def interrupted_once():
        between()
        if training.learner.num_timesteps == ROLLOUT:
            signal.raise_signal(signal.SIGINT)

    training._on_rollout_start = interrupted_once
    assert training.run() == [] and training.stopped and training.learner.num_timesteps == 2 * ROLLOUT
    assert signal.getsignal(signal.SIGINT) is handler
    card = read_card(tmp_path / "last" / "card.json")
    assert int(checkpoint.newest(tmp_path / "checkpoints").name) == card.steps
    assert (tmp_path / "curve.png").exists()


def test_minutes_stop_a_training(tmp_path, no_games_to_measure):
    training = run(begin(tmp_path, steps=10**6, minutes=1e-6))
    assert training.stopped
    assert training.learner.num_timesteps < 10**5


def test_minutes_are_those_of_a_session(tmp_path, no_games_to_measure):
    """Whoever goes on for some minutes gets them, however long it took before."""
    run(begin(tmp_path, steps=2 * ROLLOUT, minutes=1e-6))
    again = Training.taken_up(Settings(out=tmp_path, minutes=1.0))
    again.seconds = 3600.0
    run(again)
    assert not again.stopped and again.learner.num_timesteps == 2 * ROLLOUT


def test_a_learner_is_measured_on_deals_it_has_not_learnt_from(whole):
    folder, rows = whole
    assert {one["seed"] for strength in curve(folder) for one in strength} == {TINY.seed + UNSEEN}
    assert {row.measurement.seed for row in rows} == {TINY.seed + UNSEEN + 1}


def test_a_damaged_checkpoint_is_told(copied):
    path = checkpoint.newest(copied / "checkpoints") / checkpoint.TENSORS
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(checkpoint.CheckpointError, match="cannot go on from this checkpoint"):
        Training.taken_up(Settings(out=copied))


# ---------------------------------------------------------------- mistakes


def test_a_folder_with_a_training_is_not_overwritten(copied):
    with pytest.raises(ValueError, match="holds a training: --resume goes on, --fresh starts anew"):
        begin(copied)
    assert (copied / "curve.jsonl").exists()
    Training.begun(replace(TINY, out=copied), "borneo train", fresh=True)
    assert not (copied / "curve.jsonl").exists()


def test_wrong_settings_remove_nothing(copied):
    with pytest.raises(ValueError, match="--task 'lose'"):
        Training.begun(replace(TINY, out=copied, task="lose"), "borneo train", fresh=True)
    assert Training.taken_up(Settings(out=copied)).learner.num_timesteps == 4 * ROLLOUT


def test_a_training_stopped_in_its_lessons_begins_again(tmp_path):
    training = begin(tmp_path, lessons=10**6, games=4)
    training.stopping = True
    training.run()
    assert training.stopped and not (tmp_path / "checkpoints").exists()
    again = Training.taken_up(Settings(out=tmp_path))
    assert (again.learner.num_timesteps, again.settings.lessons) == (0, 10**6)


@pytest.mark.parametrize(
    ("key", "value"), [("games", "many"), ("lookahead", 1), ("learning_rate", None), ("actor", 64), ("steps", 1.5)]
)
def test_settings_of_another_type_are_refused(key, value, tmp_path):
    """Somebody has edited them."""
    begin(tmp_path)
    path = tmp_path / "settings.json"
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"settings": kept["settings"] | {key: value}}))
    with pytest.raises(ValueError, match=f"no training to go on with: the setting {key} cannot be {value!r}"):
        Training.taken_up(Settings(out=tmp_path))
    path.write_text(json.dumps(kept | {"settings": kept["settings"] | {"learning_rate": 1}}))
    assert Training.taken_up(Settings(out=tmp_path)).settings.learning_rate == 1


def test_what_cannot_change_on_the_way_is_refused(tmp_path):
    begin(tmp_path)
    again = Training.taken_up(replace(TINY, out=tmp_path, steps=5 * ROLLOUT))  # the same command, and more steps
    assert again.settings == replace(TINY.filled(), out=tmp_path, steps=5 * ROLLOUT)
    message = "the training has --learning-rate .* cannot go on with 0.25: only --steps, --minutes, --device may change"
    with pytest.raises(ValueError, match=message):
        Training.taken_up(Settings(out=tmp_path, learning_rate=0.25))


def test_settings_are_kept_whole_or_not_at_all(tmp_path, monkeypatch):
    """Whatever happens while new ones are written, the old ones are there."""
    training = begin(tmp_path)
    before = (tmp_path / "settings.json").read_text()
    training.command = "another one"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            training.keep_settings()
    assert (tmp_path / "settings.json").read_text() == before
    training.keep_settings()
    assert json.loads((tmp_path / "settings.json").read_text())["command"] == "another one"
    assert [path.name for path in tmp_path.glob("settings*")] == ["settings.json"]


def interrupted(*_):
    raise KeyboardInterrupt


def test_without_a_training_there_is_nothing_to_resume(tmp_path):
    with pytest.raises(ValueError, match="there is no training to go on with"):
        Training.taken_up(Settings(out=tmp_path))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"task": "lose"}, "--task 'lose' is not known; use one of win, contracts, ranks"),
        (
            {"opponents": "cheats"},
            "--opponents 'cheats' is not known; use one of league, self, merchant, mixed, nobody",
        ),
        ({"opponents": "nobody"}, "decides for every seat has nothing to win: use --trials, or other --opponents"),
        ({"players": "2"}, "--players wants some of 3,4,5, each once, not '2'"),
        ({"players": "3,3"}, "--players wants some of 3,4,5"),
        ({"players": "three"}, "--players wants whole numbers"),
        ({"actor": "16"}, "--actor wants the width and number of layers"),
        ({"preset": "phone"}, "there is no preset 'phone'"),
        ({"steps": -1}, "--steps is a number from 1, not -1"),
        ({"against": "nobody"}, "there is no agent 'nobody'"),
        ({"against": "random,nobody"}, "there is no agent 'nobody'"),
        ({"against": "random,"}, "there is no agent ''"),
        ({"against": "random, random"}, "--against wants agents with commas between them, each once, not"),
        ({"device": "abacus"}, "--device is cpu or cuda, not 'abacus'"),
        ({"edition": "dice"}, "--edition 'dice' is not known; use one of"),
        ({"reward": "luck"}, "--reward 'luck' is not known; use one of win, .*, win-probability"),
        ({"trials": -1}, "--trials is a number of turns, or 0 for none, not -1"),
        ({"trials": 1, "task": "ranks"}, "measured by win probability: use --task win with them, or --trials 0"),
        ({"trials": 1, "reward": "score"}, "trials are measured by win probability and not by --reward 'score'"),
        (
            {"trials": 1, "lookahead": True, "lessons": 9},
            "lessons are of no use with lookahead features and trials: the learner is",
        ),
        ({"trials": 2, "task": "contracts"}, "measured by win probability: use --task win with them, or --trials 0"),
    ],
)
def test_settings_that_make_no_sense(changes, complaint, tmp_path):
    with pytest.raises(ValueError, match=complaint):
        begin(tmp_path / "new", **changes)
    assert not (tmp_path / "new").exists()


def test_cuda_without_a_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="no GPU that torch can use; train with --device cpu"):
        begin(tmp_path, device="cuda")


def test_schedules_fall_to_a_tenth():
    assert falling(1) == 1
    assert falling(0) == pytest.approx(0.1)


def test_finished_is_no_error_of_the_user():
    assert not issubclass(Finished, ValueError)
