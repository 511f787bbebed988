"""The examples for stable-baselines3: they are short, they run, and the same seed gives the same weights."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO

FOLDER = Path(__file__).parent.parent.parent / "train" / "examples"
BOTS, SELF_PLAY = "sb3_maskable_ppo", "sb3_self_play"
GAMES, STEPS = 12, 4  # side by side, and decisions in each before the learner learns from them


@pytest.fixture
def example(monkeypatch):
    """An example as a module, with few games."""
    threads = torch.get_num_threads()

    def load(name):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    bots = load(BOTS)
    monkeypatch.setattr(bots, "GAMES", GAMES)
    monkeypatch.setattr(bots, "EVALUATION_GAMES", 4)
    monkeypatch.setitem(bots.PPO, "n_steps", STEPS)
    yield lambda name: bots if name == BOTS else load(name)
    torch.set_num_threads(threads)


def run(module, *options):
    app = typer.Typer()
    app.command()(module.main)
    result = CliRunner().invoke(app, [*map(str, options)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def same(policy, other):
    return all(torch.equal(*both) for both in zip(policy.parameters(), other.parameters(), strict=True))


def test_the_example_trains_and_saves_a_model_and_tells_its_wins(example, tmp_path):
    module = example(BOTS)
    options = ["--steps", 1, "--opponents", "merchant", "--seed", 3, "--out", tmp_path / "new", "--json"]
    told = json.loads(run(module, *options))
    assert (told["opponents"], told["seed"], told["steps"]) == ("merchant", 3, GAMES * STEPS)
    assert [row["against"] for row in told["wins"]] == ["random", "merchant"]
    for row in told["wins"]:
        assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1 and row["games"] == 4 and row["seed"] == 4
    saved = MaskablePPO.load(tmp_path / "new" / "model", device="cpu").policy
    again, other = (module.make_learner("merchant", seed).learn(1).policy for seed in (3, 4))
    assert same(saved, again) and not same(saved, other)


def test_the_example_prints_a_table_and_writes_logs_if_asked(example, tmp_path):
    shown = run(example(BOTS), "--steps", 1, "--opponents", "random", "--tensorboard", "--out", tmp_path)
    heads, *rows = shown.splitlines()[-3:]
    assert heads.split() == ["against", "wins", "95", "%", "interval", "games", "seed"]
    assert [row.split()[0] for row in rows] == ["random", "merchant"] and all("%" in row for row in rows)
    assert [*tmp_path.rglob("events.out.tfevents*")]


def test_self_play_is_against_a_frozen_copy_of_the_learner(example, tmp_path, monkeypatch):
    module, frozen = example(SELF_PLAY), []
    begin = module.FrozenLearner._on_rollout_start

    def spy(self):
        begin(self)
        learner, opponent = self.model.policy, self.player.policy
        assert opponent is not learner and same(opponent, learner)
        frozen.append(next(opponent.parameters()).clone())

    monkeypatch.setattr(module.FrozenLearner, "_on_rollout_start", spy)
    shown = run(module, "--steps", 2 * GAMES * STEPS, "--seed", 1, "--out", tmp_path)
    assert len(frozen) == 2 and not torch.equal(frozen[0], frozen[1])
    assert "against three random, 4 games, seed 2" in shown and (tmp_path / "model.zip").is_file()
