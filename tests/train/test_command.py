"""`borneo train`, as it is typed."""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time

import pytest
from copies import Copy

pytest.importorskip("torch")

from borneo_train.ppo import PPO  # torch may be missing
from borneo_train.run import checkpoint
from borneo_train.run.config import Settings, option

from kontor.files import FolderLock

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before", "no_curves_are_drawn")
QUICK = (
    "train --n-envs 12 --n-steps 4 --batch-size 12 --network plain --actor 8x1 --critic 8x1 --players 4 "
    "--timesteps 48 --evaluations 1 --evaluation-games 4 --against random --device cpu --workers 1 --seed 2"
)


def test_a_training_from_the_command_line(borneo, tmp_path, no_games_to_measure):
    status, out, err = borneo(QUICK, "--out", tmp_path / "mine")
    assert status == 0, err
    assert out == "" and "48 decisions, against random: win share" in err
    assert f"All is in {tmp_path / 'mine'}: the model in best, its curve in curve.png and curve.jsonl." in err
    card = json.loads((tmp_path / "mine" / "best" / "card.json").read_text())
    assert card["command"] == f"borneo {QUICK} --out {tmp_path / 'mine'}"

    status, out, err = borneo("train --resume --timesteps 96 --json --out", tmp_path / "mine")
    assert status == 0, err
    assert [entry["steps"] for entry in json.loads(out)] == [0, 48, 96]
    card = json.loads((tmp_path / "mine" / "last" / "card.json").read_text())
    assert card["steps"] == card["settings"]["timesteps"] == 96
    assert card["command"] == f"borneo {QUICK} --out {tmp_path / 'mine'} and then --resume --timesteps 96"
    kept = json.loads((tmp_path / "mine" / "settings.json").read_text())
    assert (kept["command"], kept["settings"]["timesteps"]) == (card["command"], 96)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("--resume --fresh", "--resume goes on, and --fresh starts anew: give one of them"),
        ("--learning-rate 0", "--learning-rate is a number above 0, not 0.0"),
        ("--workers 0", "--workers is a number from 1 to 512, not 0"),
        ("--resume", "{out}: there is no training to go on with: "),
        ("--against policy --edition card", "'policy' cannot play: the policy was trained for the board edition"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_folder(given, told, borneo, tmp_path):
    status, out, err = borneo("train --minutes 0.001", *given.split(), "--out", tmp_path / "mine")
    assert (status, out, err.count("\n")) == (2, "", 1) and err.startswith(
        "error: " + told.format(out=tmp_path / "mine")
    )
    assert not list(tmp_path.iterdir())


def test_nobody_goes_on_with_other_settings_even_if_they_are_the_usual_ones(borneo, tmp_path, no_games_to_measure):
    assert borneo(QUICK, "--out", tmp_path / "mine")[0] == 0
    status, _, err = borneo("train --resume --seed 0 --out", tmp_path / "mine")
    assert status == 2 and "the training has --seed 2 and cannot go on with 0" in err
    status, _, err = borneo("train --resume --seed 2 --out", tmp_path / "mine")
    assert status == 0 and "this training is over; --resume with more --timesteps makes it longer" in err


@pytest.fixture
def wide_help(borneo, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    return borneo("train --help")[1]


def test_the_module_is_the_same_command(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["borneo_train", "--task", "lose", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module("borneo_train", run_name="__main__")
    assert capsys.readouterr().err.strip().startswith("error: --task 'lose' is not known")


LOADED_BY_A_TRAINING = (
    "torch.utils.tensorboard", "borneo_train.run.training", "borneo_train.run.curve", "borneo_train.run.progress",
)  # fmt: skip


@pytest.mark.parametrize("module", ["torch", "tensorboard", "matplotlib"])
def test_without_its_extra_a_training_says_how_to_get_it(module, borneo, tmp_path, monkeypatch):
    for name in [name for name in LOADED_BY_A_TRAINING if name in sys.modules]:
        package, _, inner = name.rpartition(".")
        monkeypatch.setattr(sys.modules[package], inner, sys.modules[name])  # the same again for the next test
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    status, out, err = borneo("train --out", tmp_path / "out")
    assert (status, out) == (2, "") and not (tmp_path / "out").exists()
    pattern = rf"error: training needs {module}[\w.]*: pip install '\.\[train\]' in the project's folder\n"
    assert re.fullmatch(pattern, err), err


HEAVY = ("torch", "matplotlib", "stable_baselines3", "tensorboard")
HELPS = """
import sys
from borneo_env import cli
sys.argv = ["borneo", *sys.argv[1:]]
try:
    cli.main()
except SystemExit as left:
    assert not left.code
print("heavy:", *(name for name in HEAVY if name in sys.modules))
""".replace("HEAVY", str(HEAVY))


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"]], ids=" ".join)
def test_help_is_quick_because_it_loads_nothing_heavy(words, tmp_path):
    out, _ = Copy(HELPS, *words, place=tmp_path, anew=True, without=HEAVY).said()
    assert "Train a policy by self-play" in out and out.splitlines()[-1] == "heavy:"


def test_help_fits_into_80_columns(borneo, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = borneo("train --help")
    assert max(map(len, out.splitlines())) <= 80 and "…" not in out


def test_every_setting_has_a_sentence_in_a_panel(wide_help):
    for name in (*Settings.__dataclass_fields__, "resume", "fresh", "json"):
        line = next(line for line in wide_help.splitlines() if f"{option(name)} " in line)
        assert len(line.split("  ")) > 3, f"{name} is not explained: {line}"
    for usual in ("1536 on a CPU, 8192 on a card", "64", "one on a card", "no limit"):
        assert f"[default: ({usual})]" in wide_help
    panels = wide_help.split("╭─ ")[1:]
    assert [panel.split(" ─")[0] for panel in panels] == [
        "Options", "What is learnt", "Who else plays", "Evaluation", "The network", "How it is learnt", "Where",
    ]  # fmt: skip
    assert max(panel.count("│ --") for panel in panels) <= 12
    assert all(f"--{name} " in panels[-1] for name in ("out", "resume", "fresh"))


LONG = QUICK.replace("--timesteps 48", "--timesteps 1000000")


@pytest.fixture
def interrupted(monkeypatch, no_games_to_measure):
    """Somebody presses Ctrl-C in the second update, as often as is said."""

    def press(times):
        update = PPO.update

        def updating(learner):
            if learner.decisions == 96:
                for _ in range(times):
                    signal.raise_signal(signal.SIGINT)
            return update(learner)

        monkeypatch.setattr(PPO, "update", updating)

    return press


def test_ctrl_c_saves(borneo, tmp_path, interrupted):
    interrupted(1)
    status, out, told = borneo(LONG, "--json", "--out", tmp_path)
    assert_stopped_well(status, told, tmp_path, f"{LONG} --json")
    assert [entry["steps"] for entry in json.loads(out)] == [0, 96]


def assert_stopped_well(status, told, folder, command=LONG):
    assert status == 130, told
    assert "--resume goes on" in told
    card = json.loads((folder / "last" / "card.json").read_text())
    assert card["command"] == f"borneo {command} --out {folder}"
    assert int(checkpoint.newest(folder / "checkpoints").stem) == card["steps"]
    assert (folder / "curve.png").exists()


@pytest.mark.soak
def test_the_script_is_the_same_command_and_ctrl_c_saves(tmp_path):
    command = [sys.executable, "-m", "borneo_train", *LONG.split()[1:], "--out", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    until = time.monotonic() + 240
    while not list((tmp_path / "checkpoints").glob("*.safetensors")) and time.monotonic() < until:
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert_stopped_well(process.returncode, told.decode(), tmp_path)


@pytest.mark.parametrize("command", ["train", "train --resume", "train --fresh", "imitate random"])
def test_a_folder_where_somebody_trains_is_refused(command, borneo, tmp_path):
    folder = tmp_path / "run"
    with FolderLock(folder, "a training", "give another --out"):
        before = sorted(folder.iterdir())
        status, out, err = borneo(command, "--out", folder)
        assert sorted(folder.iterdir()) == before
    told = rf"error: {folder}: is in use by a training \(process {os.getpid()} on .*\); end that first, or give another"
    assert (status, out) == (2, "") and re.match(told, err) and err.count("\n") == 1
