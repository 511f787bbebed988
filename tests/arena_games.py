"""Games of imagined agents with known strengths, for testing the statistics of the arena."""

from __future__ import annotations

import numpy as np
from borneo_agents.statistics.results import Results, results


def made_up(rng, log_strengths, players, deals, luck=0.0):
    """Rankings by the Plackett-Luce model: each deal is played once in each rotation of a random line-up.

    `luck` makes the games of a deal dependent: the agent in the deal's first seat gets so much strength more, or less.
    """
    log_strengths = np.asarray(log_strengths, float)
    lineups = np.array([rng.permutation(len(log_strengths))[:players] for _ in range(deals)])
    seats = np.concatenate([np.roll(lineups, shift, 1) for shift in range(players)])
    gift = np.tile(rng.choice([-luck, luck], deals), players)
    worth = log_strengths[seats] + gift[:, None] * (seats == np.tile(lineups[:, 0], players)[:, None])
    drawn = worth + rng.gumbel(size=seats.shape)
    places = (-drawn).argsort(1).argsort(1) + 1
    names = [f"agent-{i}" for i in range(len(log_strengths))]
    mixed = rng.permutation(len(seats))  # games of a deal need not follow each other
    return results(names, seats[mixed], places[mixed], drawn[mixed], np.tile(np.arange(deals), players)[mixed])


def by_hand(agents: str, *games: tuple[str, str, int]) -> Results:
    """Games as rows such as ("abc", "112", 7): the agents in their seats, their places, the deal."""
    return results(
        list(agents),
        [[agents.index(letter) for letter in seats] for seats, _, _ in games],
        [[int(digit) for digit in places] for _, places, _ in games],
        [[10 * len(places) - int(digit) for digit in places] for _, places, _ in games],
        [deal for *_, deal in games],
    )
