"""OpenSpiel's PPO learns to play Borneo against random players, and OpenSpiel's IS-MCTS plays it in the arena.

python train/examples/openspiel.py --steps 100000 --simulations 10 --search-games 12 --seed 1

Copy this file and against_random.py beside it, and change them.
"""

import random
from typing import Annotated

import numpy as np
import pyspiel
import torch
import typer
from against_random import Experiment
from borneo_agents.arena import play_arena
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import StepType, TimeStep
from rich.progress import track

import borneo_env.open_spiel  # registers the game

GAME = "borneo(players=4,edition=board,reward=place)"
GAMES, STEPS = 32, 128  # games side by side, and decisions in each of them before an update
SETTINGS = {"num_minibatches": 8, "update_epochs": 4, "learning_rate": 1e-3, "entropy_coef": 0.003, "gamma": 0.99}
LEARNER = 0  # the name of the learner's observations, wherever it sits


class Table:
    """A game in which the learner has one seat, drawn for each deal; chance and the others play at random."""

    def __init__(self, game, draws):
        self.game, self.random = game, draws

    def deal(self):
        """What the learner sees at its first decision."""
        self.state, self.seat = self.game.new_initial_state(), self.random.randrange(self.game.num_players())
        self._play_on()
        return self._seen()

    def play(self, action):
        """What the learner sees next, its reward, and whether a game has ended; then the next one is dealt."""
        self.state.apply_action(action)
        self._play_on()
        if self.state.is_terminal():
            reward = self.state.returns()[self.seat]
            return self.deal(), reward, True
        return self._seen(), 0.0, False

    def _play_on(self):
        """To the learner's next decision with a choice."""
        while not self.state.is_terminal():
            if self.state.is_chance_node():
                options = [outcome for outcome, _ in self.state.chance_outcomes()]  # all as likely
            else:
                options = self.state.legal_actions()
                if self.state.current_player() == self.seat and len(options) > 1:
                    return
            self.state.apply_action(self.random.choice(options))

    def _seen(self):
        """A step as OpenSpiel's learners want it. Its own `Environment` would make observations for every seat."""
        seen = {
            "info_state": {LEARNER: self.state.observation_tensor(self.seat)},
            "legal_actions": {LEARNER: self.state.legal_actions()},
            "current_player": LEARNER,
        }
        return TimeStep(observations=seen, rewards=None, discounts=None, step_type=StepType.MID)


def learn(learner, tables, updates, as_json):
    """So many updates, each after some decisions at every table."""
    seen = [table.deal() for table in tables]
    for _ in track(range(updates), "learning", disable=as_json):
        for _ in range(STEPS):
            outputs = learner.step(seen)
            played = [table.play(output.action) for table, output in zip(tables, outputs, strict=True)]
            seen, rewards, ends = zip(*played, strict=True)
            learner.post_step(rewards, ends)
        learner.learn(seen)


def search_against_random(simulations, games, seed):
    """How often OpenSpiel's IS-MCTS wins, alone at tables of random players of ours."""
    agents = {"IS-MCTS": f"borneo_env.open_spiel:IsMcts:simulations={simulations}", "random": "random"}
    result = play_arena(agents, lineups="challenge", players=4, games=games, seed=seed, jobs=1)
    return next(row.win_share for row in result.lone_seats if row.agent == "IS-MCTS")


def main(
    steps: int = 100_000,
    evaluation_games: int = 1000,
    simulations: int = 10,
    search_games: int = 0,
    seed: int = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
):
    """Train PPO against random players, and print how often it wins before and after; then let IS-MCTS play."""
    assert borneo_env.open_spiel
    torch.set_num_threads(1)
    torch.manual_seed(seed)  # OpenSpiel's learners draw from the global generators of torch
    np.random.seed(seed)  # noqa: NPY002  # and of NumPy
    game, updates = pyspiel.load_game(GAME), max(1, steps // (GAMES * STEPS))
    sizes = {"input_shape": tuple(game.observation_tensor_shape()), "num_actions": game.num_distinct_actions()}
    places = {"num_players": game.num_players(), "num_envs": GAMES, "steps_per_batch": STEPS}
    learner = PPO(player_id=LEARNER, agent_fn=PPOAgent, **sizes, **places, **SETTINGS)
    experiment = Experiment("OpenSpiel", learner.network.actor, evaluation_games, seed)
    learn(learner, [Table(game, random.Random(f"{seed} {i}")) for i in range(GAMES)], updates, as_json)
    experiment.end(updates * GAMES * STEPS, as_json)
    if search_games:
        share = search_against_random(simulations, search_games, seed)
        print(f"IS-MCTS with {simulations} simulations wins {share.value:.0%} ({share.low:.0%} to {share.high:.0%})")


if __name__ == "__main__":
    typer.run(main)
