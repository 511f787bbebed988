"""The learner's games: every seat of all player counts, as the batches have them; and games with bots."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_train.games.games import Games, even_sizes, seats_in_order, seats_on_table  # noqa: E402  # torch may be missing

from borneo_env.agent import find_agent  # noqa: E402
from borneo_env.engine.batch import Batch  # noqa: E402
from borneo_env.ruleset import Ruleset  # noqa: E402
from borneo_env.vector import Seats  # noqa: E402

SIZES = {3: 3, 4: 2, 5: 3}


def played(games, moments, seed=0):
    """Play on at random; returns what was seen of the moments."""
    generator = torch.Generator().manual_seed(seed)
    seen = []
    for _ in range(moments):
        seen.append([tensor.clone() for tensor in (games.table, games.mask, games.seat, games.reward, games.done)])
        games.play(games.random_actions(generator))
    return seen


def test_games_are_those_of_plain_batches():
    games, generator = Games(SIZES, reward="win", seed=5), torch.Generator().manual_seed(1)
    batches, first = [], 0
    for players, size in SIZES.items():
        batches.append(Batch(size, Ruleset(players=players), seed=5, first=first))
        first += size
    ended = 0
    for _ in range(300):
        for batch, rows in zip(batches, games.slices, strict=True):
            assert np.array_equal(games.table[rows, : games.width].numpy(), batch.state(batch.player))
            assert np.array_equal(games.mask[rows].numpy(), batch.mask)
            assert np.array_equal(games.seat[rows].numpy(), batch.player)
        actions = games.random_actions(generator)
        games.play(actions)
        for batch, rows in zip(batches, games.slices, strict=True):
            batch.step(actions[rows].numpy())
            players = batch.ruleset.players
            assert np.array_equal(games.done[rows].numpy(), batch.done)
            for game in np.flatnonzero(batch.done):
                ended += 1
                scores = batch.result["scores"][game, :players]
                assert np.array_equal(games.points[rows][game, :players].numpy(), scores)
                wins = batch.result["places"][game, :players] == 1
                assert np.allclose(games.reward[rows][game, :players].numpy(), wins / wins.sum())
            assert not games.reward[rows][:, players:].any()
    assert ended > 5


def test_games_with_bots_are_those_of_seats_with_these_opponents():
    games = Games({3: 2}, reward="contracts", seed=5, bots={3: 4, 4: 3}, bot=find_agent("contractor"))
    generator = torch.Generator().manual_seed(1)
    rows, rest = games.slices[2], {"opponents": "contractor", "reward": "contracts", "seed": 5}
    seats = Seats(3, Ruleset(players=4), first=6, whole_table=True, **rest)
    ended = gained = 0
    for _ in range(120):
        asked = seats.seat.copy()
        assert np.array_equal(games.table[rows, : games.width].numpy(), seats.observation)
        assert np.array_equal(games.mask[rows].numpy(), seats.mask)
        assert np.array_equal(games.seat[rows].numpy(), asked)
        actions = games.random_actions(generator)
        games.play(actions)
        seats.step(actions[rows].numpy())
        assert np.array_equal(games.done[rows].numpy(), seats.done)
        assert np.array_equal(games.points[rows, :4].numpy()[seats.done], seats.final_scores[seats.done])
        assert np.array_equal(games.reward[rows][np.arange(3), asked].numpy(), seats.reward)
        assert np.count_nonzero(games.reward[rows]) == np.count_nonzero(seats.reward), "others get nothing"
        ended, gained = ended + seats.done.sum(), gained + np.abs(seats.reward).sum()
    assert ended and gained


def test_a_table_ends_with_zeros_and_begins_with_the_observation():
    games = Games({4: 5}, seed=3)
    assert games.table.shape[1] % 8 == 0
    assert not games.table[:, games.width :].any()
    batch = Batch(5, Ruleset(players=4), seed=3)
    assert np.array_equal(games.table[:, : games.known].numpy(), batch.observe())


def test_games_are_spread_out_over_their_length():
    games = Games({4: 60}, seed=1)
    games.spread_out(torch.Generator().manual_seed(0))
    left = games.groups[0].batch.games["ports_left"]
    assert len(np.unique(left)) > 4, "some games are new, others near their end"
    ends = sum(seen[-1].sum() for seen in played(games, 20))
    assert 0 < ends < 30


@pytest.mark.parametrize("bots", ({}, {4: 3}))
def test_saved_games_go_on(tmp_path, bots):
    games, twin = (Games(SIZES, reward="ranks", seed=2, bots=bots, bot=find_agent("contractor")) for _ in range(2))
    played(games, 40)
    games.save(tmp_path)
    twin.restore(tmp_path)
    for moment, (one, other) in enumerate(zip(played(games, 200, 9), played(twin, 200, 9), strict=True)):
        for a, b in list(zip(one, other, strict=True))[: 5 if moment else 3]:  # of before there are no rewards
            assert torch.equal(a, b)


def test_games_of_others_are_refused(tmp_path):
    Games(SIZES, seed=2).save(tmp_path)
    with pytest.raises(ValueError, match="cannot take the place of 4 games"):
        Games({3: 4}, seed=2).restore(tmp_path)
    with pytest.raises(ValueError, match="seed 2 cannot take the place"):
        Games(SIZES, seed=3).restore(tmp_path)


def test_sizes_are_even():
    assert even_sizes(11, [3, 4, 5]) == {3: 4, 4: 4, 5: 3}


def test_seats_are_counted_from_the_one_who_decides_and_back():
    seat, players = torch.tensor([2, 0, 4]), torch.tensor([3, 4, 5])
    order = seats_in_order(seat, players)
    assert order.tolist() == [[2, 0, 1, 3, 4], [0, 1, 2, 3, 4], [4, 0, 1, 2, 3]]
    values = torch.arange(15.0).view(3, 5)
    assert torch.equal(values.gather(1, order).gather(1, seats_on_table(seat, players)), values)
