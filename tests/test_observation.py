"""The observation: its blocks, its words, and that it tells a seat nothing it may not know."""

import numpy as np
import pytest
from playing import RULESETS

import borneo_env
from borneo_env import every_ruleset
from borneo_env.engine.observe import LAYOUT, explain, join, layout, split

# ---------------------------------------------------------------- no leak


def compare_twins(ruleset, games, seed):
    """Play random games, and at every decision compare what every seat observes, and the decider's mask, with a game
    resampled for that seat; returns how many decisions were compared."""
    rng = np.random.default_rng(seed)
    batch = borneo_env.Batch(games, ruleset, seed=seed, finished="hold", skip_forced=False)
    twins = batch.copy()
    decisions = 0
    while (playing := batch.player >= 0).any():
        decisions += int(playing.sum())
        for seat in range(ruleset.players):
            twins.games[:] = borneo_env.resample(batch.games, seat, rng)
            twins.refresh()
            assert (twins.observe(seat) == batch.observe(seat)).all()
            mine = batch.player == seat
            assert (twins.mask[mine] == batch.mask[mine]).all()
        batch.step(batch.sample())
    return decisions


@pytest.mark.parametrize("ruleset", RULESETS)
def test_twins_a_seat_cannot_tell_apart_look_the_same(ruleset):
    """No leak, in at least 4,000 decisions of each ruleset."""
    assert compare_twins(ruleset, games=24, seed=3) >= 4_000


def test_twins_do_differ():
    """The comparison above would be empty if resampled games were the same games."""
    batch = borneo_env.Batch(50, seed=3)
    batch.play_random(60)
    twins = borneo_env.resample(batch.games, 0, np.random.default_rng(1))
    hidden = twins["place"] != batch.games["place"]
    assert hidden.any(axis=1).all() and hidden.sum() > 500


@pytest.mark.soak
def test_twins_look_the_same_in_100000_decisions(capsys):
    decisions = sum(compare_twins(ruleset, games=60, seed=100 + i) for i, ruleset in enumerate(every_ruleset()))
    with capsys.disabled():
        print(f"\n{decisions:,} decisions in {len(every_ruleset())} rulesets: twins look the same to every seat")
    assert decisions >= 100_000


# ---------------------------------------------------------------- blocks


@pytest.mark.parametrize("slots", [5, 15])
def test_the_layout_covers_the_observation_without_gaps(slots):
    blocks = layout(slots)
    assert [block.slice.start for block in blocks] == [0, *(block.slice.stop for block in blocks[:-1])]
    assert len({block.name for block in blocks}) == len(blocks)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_observations_split_into_blocks_and_back(ruleset):
    batch = borneo_env.Batch(8, ruleset, seed=3)
    batch.play_random(120)
    seen = batch.observe()
    blocks = split(seen)
    assert (join(blocks) == seen).all()
    assert (blocks["hand"].sum(1) == blocks["hand_size"][:, 0]).all()
    assert (blocks["hand_ages"].sum(2) == blocks["hand_size"]).all()
    assert (blocks["unseen"].sum((1, 2)) == blocks["hand_size"][:, 1:].sum(1) + blocks["draw_left"]).all()
    assert (blocks["ladders"].sum((1, 2, 3)) == blocks["placed"]).all()
    assert (blocks["player"][:, 0] == 1).all()


def test_an_observation_is_explained_in_words():
    batch = borneo_env.Batch(1, seed=2)
    batch.play_random(30)
    hand = np.flatnonzero(split(batch.observe())["hand"][0])
    told = explain(batch.observe()[0])
    assert "hand: " + ", ".join(f"card {card}" for card in hand) in told
    assert "player: you" in told
    assert all(block.name in told for block in LAYOUT)
    with pytest.raises(ValueError, match="969"):
        explain(np.zeros(5))
