"""PPO of RLlib learns Borneo by self-play: one network plays every seat of the PettingZoo environment.

python train/examples/rllib_self_play.py --steps 64000 --seed 1

Copy this file and against_random.py beside it, and change them.
"""

from typing import Annotated

import ray
import typer
from against_random import NO_CHANCE, Experiment, network, reward
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env
from rich.progress import track

import borneo_env

POLICY = "everybody"  # the one policy of all seats
GAMES, BATCH = 16, 8000  # games side by side in each process that plays, and decisions before an update
PPO = {"train_batch_size_per_learner": BATCH, "minibatch_size": 1000, "num_epochs": 4, "lr": 1e-3, "grad_clip": 0.5}
PPO |= {"gamma": 0.99, "lambda_": 0.8, "clip_param": 0.2, "vf_clip_param": 10.0, "entropy_coeff": 0.003}


class Masked(TorchRLModule, ValueFunctionAPI):
    """An actor and a critic; actions that are not legal have no chance."""

    def setup(self):
        numbers = self.observation_space["observation"].shape[0]
        self.actor, self.critic = network(numbers, self.action_space.n), network(numbers, 1)

    def _forward(self, batch, **_):
        seen = batch[Columns.OBS]
        logits = self.actor(seen["observation"].float())
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, NO_CHANCE)}

    def compute_values(self, batch, embeddings=None):
        return self.critic(batch[Columns.OBS]["observation"].float()).squeeze(-1)


def make_learner(runners, seed):
    """A learner that knows nothing yet, with processes that play."""
    register_env("borneo", lambda _: PettingZooEnv(borneo_env.env(players=4, reward=reward)))
    networks = MultiRLModuleSpec(rl_module_specs={POLICY: RLModuleSpec(module_class=Masked)})
    config = PPOConfig().rl_module(rl_module_spec=networks)
    config.environment("borneo", disable_env_checking=True)  # which plays illegal moves
    config.env_runners(num_env_runners=runners, num_envs_per_env_runner=GAMES)
    config.multi_agent(policies={POLICY}, policy_mapping_fn=lambda *_, **__: POLICY)
    config.training(**PPO).debugging(seed=seed, log_level="ERROR")
    return config.build_algo()


def main(
    steps: int = 64_000,
    runners: int = 2,
    evaluation_games: int = 1000,
    seed: int = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
):
    """Train a policy with so many processes that play; print how often it wins before and after."""
    ray.init("local", num_cpus=runners + 1, include_dashboard=False, logging_level="ERROR")
    learner = make_learner(runners, seed)
    experiment = Experiment("RLlib", learner.get_module(POLICY).actor, evaluation_games, seed)
    updates = max(1, steps // BATCH)
    for _ in track(range(updates), "learning", disable=as_json):
        learner.train()
    experiment.player.actor = learner.get_module(POLICY).actor
    experiment.end(updates * BATCH, as_json)
    learner.stop()
    ray.shutdown()


if __name__ == "__main__":
    typer.run(main)
