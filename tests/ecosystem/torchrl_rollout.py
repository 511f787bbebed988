"""Whole random games of `borneo_env.env()` through TorchRL's PettingZoo wrapper, checked decision by decision."""

import argparse
import warnings

import torch
from torchrl.envs import PettingZooWrapper

import borneo_env

LONGEST = 5000  # decisions; no game is as long as this
TRIED_WITH_AN_OLDER_PETTINGZOO = "PettingZoo in TorchRL is tested using version"


def play(players, games, seed):
    """Play random games to their ends; returns the number of decisions, and what each seat won."""
    torch.manual_seed(seed)
    env = PettingZooWrapper(borneo_env.env(players=players), use_mask=True)
    env.set_seed(seed)
    decisions, wins = 0, torch.zeros(players)
    for _ in range(games):
        game = env.rollout(LONGEST)  # without a policy, TorchRL draws from the masked action specs
        decisions += len(game)
        wins += check(game, list(env.group_map))
    return decisions, wins


def check(game, agents):
    """Assert that one agent decides at a time and plays what it may, and that the end rewards all; the rewards."""
    acting = torch.cat([game[agent, "mask"] for agent in agents], dim=1)
    assert (acting.sum(1) == 1).all(), "one agent at a time decides"
    for agent in agents:
        mine = game[agent, "mask"].squeeze(1)
        legal = game[agent, "action_mask"].squeeze(1)[mine]
        assert not legal.all(1).any(), "no decision of this game allows everything: the mask did not arrive"
        assert legal.gather(1, game[agent, "action"][mine]).all(), f"{agent} played an illegal action"
    rewards = torch.cat([game["next", agent, "reward"].reshape(-1, 1) for agent in agents], dim=1)
    ends = torch.cat([game["next", agent, "terminated"].reshape(-1, 1) for agent in agents], dim=1)
    assert ends[-1].all() and not ends[:-1].any(), "the game ends once, for all seats"
    assert not rewards[:-1].any() and (rewards[-1] >= 0).all(), "nobody is rewarded before the end"
    assert torch.isclose(rewards[-1].sum(), torch.tensor(1.0)), f"the seats share one win, not {rewards[-1]}"
    return rewards[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=3, help="games for each number of players")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message=TRIED_WITH_AN_OLDER_PETTINGZOO)
    for players in (3, 4, 5):
        decisions, wins = play(players, arguments.games, arguments.seed)
        told = ", ".join(f"{win:g}" for win in wins.tolist())
        print(f"torchrl: {players} players, {arguments.games} games, {decisions} decisions, wins per seat: {told}")


if __name__ == "__main__":
    main()
