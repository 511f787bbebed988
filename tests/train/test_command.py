"""`borneo train`, as it is typed."""

import json
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch")

from borneo_train import checkpoint  # torch may be missing
from borneo_train.ppo import Training
from borneo_train.settings import Settings

from borneo_env import cli

pytestmark = pytest.mark.usefixtures("no_curves_are_drawn")
QUICK = (
    "train --games 24 --horizon 4 --minibatch 48 --actor 8x1 --critic 8x1 --players 4 --steps 96 "
    "--evaluate-every 96 --evaluation-games 4 --against random --seed 2"
)


@pytest.fixture
def borneo(capsys, monkeypatch):
    """Run the command; returns its status, what it printed, and what it said beside that."""

    def run(line, *more):
        monkeypatch.setattr(sys, "argv", ["borneo", *line.split(), *map(str, more)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code or 0, *capsys.readouterr()

    return run


def test_a_training_from_the_command_line(borneo, tmp_path):
    status, out, err = borneo(QUICK, "--out", tmp_path / "mine")
    assert status == 0, err
    assert "one seat against a table full of others, 4 players" in out
    assert "3 merchant" in out
    assert "4 games each on the same deals (seed 1000003)" in out
    assert "96 steps, against random: win share" in err
    assert f"All is in {tmp_path / 'mine'}" in err
    card = json.loads((tmp_path / "mine" / "best" / "card.json").read_text())
    assert card["command"] == f"borneo {QUICK} --out {tmp_path / 'mine'}"

    status, out, err = borneo(QUICK, "--out", tmp_path / "mine")
    assert (status, out) == (2, "")
    assert "holds a training: --resume goes on, --fresh starts anew" in err

    status, out, err = borneo("train --resume --steps 192 --json --out", tmp_path / "mine")
    assert status == 0, err
    rows = json.loads(out)
    assert {row["agent"] for row in rows} == {"learner", "merchant"}
    assert {row["measurement"]["players"] for row in rows} == {4}
    card = json.loads((tmp_path / "mine" / "last" / "card.json").read_text())
    assert card["steps"] == card["settings"]["steps"] == 192
    assert card["command"] == f"borneo {QUICK} --out {tmp_path / 'mine'} and then --resume --steps 192"
    kept = json.loads((tmp_path / "mine" / "settings.json").read_text())
    assert (kept["command"], kept["settings"]["steps"]) == (card["command"], 192)


def test_mistakes_are_one_line(borneo, tmp_path):
    status, out, err = borneo("train --task lose --out", tmp_path)
    assert (status, out) == (2, "")
    assert err.strip() == "error: --task 'lose' is not known; use one of win, contracts, ranks"


def test_every_setting_has_a_sentence(borneo, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    status, out, _ = borneo("train --help")
    assert status == 0
    for name in (*Settings.__dataclass_fields__, "resume", "fresh", "json"):
        line = next(line for line in out.splitlines() if f"--{name.replace('_', '-')} " in line)
        assert len(line.split("  ")) > 3, f"{name} is not explained: {line}"


def test_the_options_stand_in_groups(borneo, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = borneo("train --help")
    panels = out.split("╭─ ")[1:]
    assert [panel.split(" ─")[0] for panel in panels] == [
        "Options", "What is learnt", "Opponents and teachers", "Evaluation", "The network", "How it is learnt", "Where",
    ]  # fmt: skip
    assert max(panel.count("│ --") for panel in panels) <= 10
    assert all(f"--{name} " in panels[-1] for name in ("out", "resume", "fresh"))


LONG = QUICK.replace("--steps 96", "--steps 1000000")


def test_ctrl_c_saves(borneo, tmp_path, monkeypatch):
    between = Training._on_rollout_start

    def interrupted_once(training):
        between(training)
        if training.learner.num_timesteps == 96:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Training, "_on_rollout_start", interrupted_once)
    status, _, told = borneo(LONG, "--out", tmp_path)
    assert_stopped_well(status, told, tmp_path)


def assert_stopped_well(status, told, folder):
    assert status == 130, told
    assert "--resume goes on" in told
    card = json.loads((folder / "last" / "card.json").read_text())
    assert card["command"] == f"borneo {LONG} --out {folder}"
    assert int(checkpoint.newest(folder / "checkpoints").name) == card["steps"]
    assert (folder / "curve.png").exists()


@pytest.mark.soak
def test_the_script_is_the_same_command_and_ctrl_c_saves(tmp_path):
    command = [sys.executable, "-m", "borneo_train", *LONG.split()[1:], "--out", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    until = time.monotonic() + 240
    while not list((tmp_path / "checkpoints").glob("*[0-9]")) and time.monotonic() < until:
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert_stopped_well(process.returncode, told.decode(), tmp_path)
