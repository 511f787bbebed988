"""OpenSpiel's DQN learns to play Borneo, and OpenSpiel's IS-MCTS plays it. Copy this file and change it.

python train/examples/openspiel.py --games 300 --simulations 10 --search-games 12 --seed 1
"""

import random
import time

import numpy as np
import torch
import typer
from borneo_agents.arena import play_arena
from open_spiel.python.algorithms.random_agent import RandomAgent
from open_spiel.python.pytorch.dqn import DQN
from open_spiel.python.rl_environment import ChanceEventSampler, Environment, ObservationType

import borneo_env.open_spiel  # registers the game

GAME = "borneo(players=4,edition=board,reward=place)"
LEARNER = 0  # its seat
DECISIONS = 60  # of the learner in a game, about
SETTINGS = {"batch_size": 64, "learning_rate": 1e-3, "optimizer_str": "adam", "loss_str": "huber", "learn_every": 4}
SETTINGS |= {"update_target_network_every": 200, "discount_factor": 0.99, "epsilon_decay_schedule_str": "linear"}


def make_learner(env, games, seed):
    """A DQN agent for one seat, and random agents for the others."""
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    decay = {"epsilon_end": 0.05, "epsilon_decay_duration": games * DECISIONS * 3 // 4}
    learner = DQN(LEARNER, size, actions, (128,), replay_buffer_capacity=20_000, seed=seed, **decay, **SETTINGS)
    return [learner, *(RandomAgent(seat, actions) for seat in range(1, env.num_players))]


def play(env, agents, *, is_evaluation):
    """One game; returns what each seat got."""
    now = env.reset()
    while not now.last():
        seat = now.observations["current_player"]
        now = env.step([agents[seat].step(now, is_evaluation).action])
    if not is_evaluation:
        agents[LEARNER].step(now)
    return now.rewards


def is_won(rewards):
    return rewards[LEARNER] == max(rewards)


def search_against_random(simulations, games, seed):
    """How often OpenSpiel's IS-MCTS wins, alone at tables of random players of ours."""
    agents = {"IS-MCTS": f"borneo_env.open_spiel:IsMcts:simulations={simulations}", "random": "random"}
    result = play_arena(agents, lineups="challenge", players=4, games=games, seed=seed, jobs=1)
    return next(row.win_share for row in result.lone_seats if row.agent == "IS-MCTS")


def main(games: int = 300, evaluation_games: int = 100, simulations: int = 10, search_games: int = 12, seed: int = 0):
    """Train DQN against random players, then let IS-MCTS play against them."""
    assert borneo_env.open_spiel
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # which OpenSpiel's agents draw from
    env = Environment(GAME, chance_event_sampler=ChanceEventSampler(seed), observation_type=ObservationType.OBSERVATION)
    agents, begun = make_learner(env, games, seed), time.monotonic()
    for _ in range(games):
        play(env, agents, is_evaluation=False)
    print(f"DQN learnt from {games} games in {time.monotonic() - begun:.0f} s")
    won = sum(is_won(play(env, agents, is_evaluation=True)) for _ in range(evaluation_games))
    print(f"DQN wins {won} of {evaluation_games} games against three random players; par is a quarter")
    share = search_against_random(simulations, search_games, seed)
    print(f"IS-MCTS with {simulations} simulations wins {share.value:.0%} ({share.low:.0%} to {share.high:.0%})")


if __name__ == "__main__":
    typer.run(main)
