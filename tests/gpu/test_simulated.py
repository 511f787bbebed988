"""The kernels in Numba's simulator of a card: the same games as on the CPU, on a machine without a card."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from simulated_card import DECISIONS, SEED, TINY

from borneo_env import Batch, IllegalMove, Seats, every_ruleset, redact, resample

GAMES = 3  # more than a block of threads has in the simulator
RULESETS = every_ruleset()


def running(ruleset, before):
    """Games in which some random decisions have been made."""
    batch = Batch(GAMES, ruleset, seed=SEED)
    batch.play_random(before)
    return batch


def simulate(folder, rulesets, before, steps):
    """What the simulator makes of some games of each ruleset."""
    files = [str(folder / f"{ruleset.name}.npz") for ruleset in rulesets]
    for ruleset, file in zip(rulesets, files, strict=True):
        running(ruleset, before).save(file)
    command = [sys.executable, str(Path(__file__).parents[1] / "simulated_card.py"), str(folder / "told.npz")]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([*command, str(steps), *files], env=environment, check=True)
    with np.load(folder / "told.npz") as told:
        return dict(told)


def expected(ruleset, before, steps):
    """The same from the CPU."""
    batch = running(ruleset, before)
    batch.play_random(steps)
    told = {"games": batch.games.copy(), "mask": batch.mask.copy(), "player": batch.player.copy()}
    told |= {"observation": batch.observe(), "state": batch.state(1), "view": redact(batch.games, 0)}
    actions = batch.sample()
    with pytest.raises(IllegalMove) as complaint:
        batch.step([*actions[:-1], 10_000])
    batch.step(actions)
    told |= {"complaint": np.array(str(complaint.value)), "stepped": batch.games.copy()}
    some = Batch(3, ruleset)
    some.games[:] = resample(batch.games[[0, 0, 1]], 1, np.random.default_rng(SEED))
    some.refresh()
    told |= {"imagined": some.games, "imagined_mask": some.mask}
    batch.reset(where=np.arange(GAMES) == 0)
    return told | {"reset": batch.games, "reset_mask": batch.mask, "scores": batch.scores()}


def expected_by_a_learner():
    seats = Seats(2, TINY, seed=SEED, reward="score")
    told = []
    for _ in range(DECISIONS):
        seats.step(seats.mask.argmax(1))
        told.append([array.copy() for array in (seats.observation, seats.reward, seats.done, seats.seat)])
    finals = (seats.final_observation, seats.final_scores, seats.final_places, seats.final_seat)
    arrays = [*map(np.array, zip(*told, strict=True)), *finals]
    return {f"learner {k}": values for k, values in enumerate(arrays)}


REFUSALS = [
    "TypeError: one action for each game is needed, whole numbers, not an array of float64",
    "ValueError: one action for each of the 2 games is needed, not an array of (1,)",
    "TypeError: one action for each game is needed, whole numbers, not an array of uint64",
    "ValueError: game 0: give the seat of a player, 0 to 2; a spectator never decides",
    "ValueError: a seat is a number from 0 to 2, or -1 for a spectator, not array(4)",
    "ValueError: rows are places of the batch, one after the other, not an array of (1, 2)",
    "ValueError: rows are different places of the batch, 0 to 1, in ascending order",
    "ValueError: out is an array on the card, not ndarray; observe() makes one",
    "IllegalMove: game 1, player 2, phase place: 'action -1 (there are 0 to 369)' is not legal",
    "IllegalMove: game 0, player 2, phase place: 'action -1 (there are 0 to 369)' is not legal",
    "ZeroDivisionError: division by zero",
    "ResetNeeded: The environment was interrupted in the middle of a step: reset() deals a new game.",
]


def compare(folder, rulesets, before, steps):
    told = simulate(folder, rulesets, before, steps)
    for k, ruleset in enumerate(rulesets):
        for name, values in expected(ruleset, before, steps).items():
            assert told[f"{k} {name}"].tobytes() == values.tobytes(), f"{ruleset.name}: {name}"
    return told


def test_the_simulated_card_plays_the_same_games_of_every_ruleset(tmp_path):
    told = compare(tmp_path, RULESETS, before=80, steps=3)
    for name, values in expected_by_a_learner().items():
        assert told[name].tobytes() == values.tobytes(), name
    assert told["learner 1"].any(), "nothing was rewarded"
    assert told["learner 2"].any(), "no game ended"
    assert [text.partition("; legal are")[0] for text in told["refusals"]] == REFUSALS


@pytest.mark.soak
@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.name)
def test_the_simulated_card_plays_whole_games(ruleset, tmp_path):
    compare(tmp_path, [ruleset], before=0, steps=300)
