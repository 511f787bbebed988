"""MaskablePPO of stable-baselines3 learns to play Borneo against bots. Copy this file and change it.

python train/examples/sb3_maskable_ppo.py --opponents random --steps 400000 --seed 1 --out out/sb3
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import torch
import typer
from borneo_agents.arena import play_arena
from borneo_train.vec_env import BorneoVecEnv
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import LinearSchedule

from borneo_env.rewards import REWARDS

GAMES = 768  # played side by side
EVALUATION_GAMES = 1000  # against each kind of opponent
PPO = {"n_steps": 16, "batch_size": 512, "n_epochs": 3, "ent_coef": 0.003, "gamma": 0.99, "gae_lambda": 0.8}


def reward(ruleset, before, after):
    """The win at the end, and something for points on the way to it: wins alone are too rare to learn from."""
    return REWARDS["win"](ruleset, before, after) + REWARDS["score-delta"](ruleset, before, after) / 20


def make_learner(opponents, seed, **settings):
    """A learner that knows nothing yet, and its games."""
    torch.set_num_threads(1)  # so that sums come in one order; layers so small gain little by more
    env = BorneoVecEnv(GAMES, opponents, reward=reward, seed=seed)
    rate = LinearSchedule(2e-3, 2e-4, end_fraction=1)
    network = {"net_arch": [128], "activation_fn": torch.nn.ReLU}  # of the actor, and the same of the critic
    return MaskablePPO("MlpPolicy", env, rate, policy_kwargs=network, seed=seed, device="cpu", **PPO, **settings)


class Player:
    """A policy of stable-baselines3 as an agent: it can sit in any seat, in the arena and as an opponent."""

    def __init__(self, policy, deterministic=True):
        self.policy, self.deterministic = policy, deterministic

    def act(self, views):
        return self.policy.predict(views.observe(), action_masks=views.mask, deterministic=self.deterministic)[0]


def wins(agent, seed):
    """How often an agent wins, alone at tables of random players and of merchants, with 95 % intervals."""
    agents = {"learner": agent, "random": "random", "merchant": "merchant"}
    rows = play_arena(agents, lineups="challenge", players=4, games=2 * EVALUATION_GAMES, seed=seed).lone_seats
    return [{"against": row.other, "games": row.games, "seed": seed} | asdict(row.win_share) for row in rows]


def main(
    opponents: str = "random",
    steps: int = 400_000,
    seed: int = 0,
    out: Path = Path("out/sb3"),
    tensorboard: bool = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
):
    """Train a policy, save it, and print how often it wins."""
    learner = make_learner(opponents, seed, verbose=not as_json, tensorboard_log=str(out) if tensorboard else None)
    learner.learn(steps)
    out.mkdir(parents=True, exist_ok=True)
    learner.save(out / "model")
    rows = wins(Player(learner.policy), seed + 1)  # on other deals than it has learnt from
    if as_json:
        print(json.dumps({"steps": learner.num_timesteps, "opponents": opponents, "seed": seed, "wins": rows}))
    else:
        print("against     wins   95 % interval   games  seed")
        for row in rows:
            print("{against:9} {value:6.1%}  {low:5.1%} to {high:5.1%}  {games:5}  {seed}".format(**row))


if __name__ == "__main__":
    typer.run(main)
