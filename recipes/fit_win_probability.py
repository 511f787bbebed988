"""Fits the weights of `win_probability` to games of merchants and prints them.

    python recipes/fit_win_probability.py

At the beginning of some turns the features of all players are noted, and later who won. The weights are those under
which the winners are most likely (a conditional logit: McFadden 1974), found by Newton's method. A fifth of the
positions is left out and says how well they do: of 85,587 positions, loss 0.9628, knowing nothing 1.3680. Weights
in use are of an earlier run.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import typer
from borneo_agents.scripted.agents import Merchant
from borneo_agents.scripted.valuation.win_probability import FEATURES, LONG, WEIGHTS, gather_features
from numpy.typing import NDArray

from borneo_env.agent import ask
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import SEATS, copy_games, make_box
from borneo_env.ruleset import PLAYER_COUNTS, Ruleset
from kontor.compile import attributes, entry

NOTED = 0.25  # of the turns
AT_RANDOM = 0.04  # of the moves, so that positions are not all alike
RIDGE = 1e-3
ROUNDS = 30


class Sample(NamedTuple):
    """Positions: the features of each seat, how young the game was, each seat's share of the win, and who took part."""

    features: NDArray[np.float64]  # (positions, seats, features)
    young: NDArray[np.float64]
    won: NDArray[np.float64]  # (positions, seats)
    playing: NDArray[np.bool_]


@entry
def features_of_games(boxes, games, features):
    for i in range(len(games)):
        gather_features(boxes[0], games[i], features[i])


def play(players: int, games: int, seed: int) -> Sample:
    """Positions from games of merchants."""
    ruleset = Ruleset(players=players)
    batch = Batch(games, ruleset, seed=seed, finished="hold", threads=1)
    rng = np.random.default_rng(seed)
    seated = np.zeros((games, players), np.int64)
    merchant, turn = Merchant(), batch.games["turn"].copy()
    noted: list[tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]] = []
    rows = np.arange(games)
    while len(rows):
        begins = (batch.games["turn"][rows] != turn[rows]) & (batch.games["placed"][rows] == players * ruleset.traders)
        turn[rows] = batch.games["turn"][rows]
        chosen = rows[begins & (rng.random(len(rows)) < NOTED)]
        features = np.zeros((len(chosen), SEATS, FEATURES))
        features_of_games(attributes(make_box(ruleset)), attributes(copy_games(batch.games, chosen)), features)
        noted.append((chosen, features, np.minimum(LONG, batch.games["ports_left"][chosen]) / LONG))
        actions = ask(batch, rows, [merchant], seated)
        strays = rng.random(len(rows)) < AT_RANDOM
        actions[strays] = (rng.random((strays.sum(), batch.mask.shape[1])) * batch.mask[rows[strays]]).argmax(1)
        batch.step(actions, rows)
        rows = rows[batch.player[rows] >= 0]
    first = batch.result["places"] == 1
    shares = first / first.sum(1, keepdims=True)
    which = np.concatenate([chosen for chosen, _, _ in noted])
    playing = np.broadcast_to(np.arange(SEATS) < players, (len(which), SEATS))
    features, young = np.concatenate([f for _, f, _ in noted]), np.concatenate([y for _, _, y in noted])
    return Sample(features, young, shares[which], playing)


def fit(sample: Sample) -> NDArray[np.float64]:
    """(2, features): the weights at the end, and what is added to them in a young game."""
    scale = sample.features[sample.playing].std(0) + 1e-9
    design = _design(sample, scale)
    weights = np.zeros(2 * FEATURES)
    for _ in range(ROUNDS):
        probability = _probabilities(design @ weights, sample.playing)
        mean = np.einsum("np,npf->nf", probability, design)
        slope = np.einsum("np,npf->f", probability - sample.won, design) / len(design) + RIDGE * weights
        curve = np.einsum("np,npf,npg->fg", probability, design, design, optimize=True) - mean.T @ mean
        weights -= np.linalg.solve(curve / len(design) + RIDGE * np.eye(len(weights)), slope)
    unscaled: NDArray[np.float64] = weights.reshape(2, FEATURES) / scale
    return unscaled


def loss(sample: Sample, weights: NDArray[np.float64]) -> float:
    """The mean of minus the logarithm of the winner's probability."""
    probability = _probabilities(_design(sample, np.ones(FEATURES)) @ weights.ravel(), sample.playing)
    return float(-(sample.won * np.log(np.maximum(probability, 1e-12))).sum(1).mean())


def _design(sample: Sample, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    features = sample.features / scale
    return np.concatenate([features, features * sample.young[:, None, None]], 2)


def _probabilities(rating: NDArray[np.float64], playing: NDArray[np.bool_]) -> NDArray[np.float64]:
    rating = np.where(playing, rating, -np.inf)
    odds = np.exp(rating - rating.max(1, keepdims=True))
    probability: NDArray[np.float64] = odds / odds.sum(1, keepdims=True)
    return probability


def main(
    games: Annotated[int, typer.Option(help="Games for each number of players.")] = 4000,
    seed: Annotated[int, typer.Option(help="Seed of the games.")] = 7,
) -> None:
    """Fit the win probabilities of players to games of merchants."""
    parts = [play(players, games, seed) for players in PLAYER_COUNTS]
    sample = Sample(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    tested = np.arange(len(sample.young)) % 5 == 0
    weights = fit(Sample(*(column[~tested] for column in sample)))
    for (name, _, _), end, young in zip(WEIGHTS, *weights, strict=True):
        print(f'    ("{name}", {end:.3f}, {young:.3f}),')
    held_out = Sample(*(column[tested] for column in sample))
    nothing = loss(held_out, np.zeros((2, FEATURES)))
    print(f"{len(sample.young)} positions; loss {loss(held_out, weights):.4f}, knowing nothing {nothing:.4f}")


if __name__ == "__main__":
    typer.run(main)
