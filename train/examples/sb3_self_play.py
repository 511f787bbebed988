"""MaskablePPO of stable-baselines3 learns Borneo against itself: its opponents are its own policy, frozen for a while.

python train/examples/sb3_self_play.py --steps 200000 --seed 1 --out out/sb3-self-play
"""

from pathlib import Path

import typer
from sb3_maskable_ppo import Player, make_learner, wins  # the example beside this one
from stable_baselines3.common.callbacks import BaseCallback

from borneo_env.agent import Random


class FrozenLearner(BaseCallback):
    """An agent that plays as the learner did when the rollout began, and at random before the first one."""

    player = Random()

    def act(self, views):
        return self.player.act(views)

    def _on_training_start(self):
        model, spaces = self.model, (self.model.observation_space, self.model.action_space)
        policy = model.policy_class(*spaces, model.lr_schedule, **model.policy_kwargs)
        self.player = Player(policy, deterministic=False)

    def _on_rollout_start(self):
        self.player.policy.load_state_dict(self.model.policy.state_dict())

    def _on_step(self):
        return True


def main(steps: int = 200_000, seed: int = 0, out: Path = Path("out/sb3-self-play")):
    """Train a policy against itself, save it, and print how often it wins."""
    opponent = FrozenLearner()
    learner = make_learner(opponent, seed, verbose=1)
    learner.learn(steps, callback=opponent)
    out.mkdir(parents=True, exist_ok=True)
    learner.save(out / "model")
    for row in wins(Player(learner.policy), seed + 1):
        print("{value:.1%} ({low:.1%} to {high:.1%}) against three {against}, {games} games, seed {seed}".format(**row))


if __name__ == "__main__":
    typer.run(main)
