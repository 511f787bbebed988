"""The learner's games: every seat of all player counts, as the batches have them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_train.games.games import LearnerGames, by_seat, even_sizes, from_decider  # noqa: E402  # torch may be missing

from borneo_env.engine.batch import Batch  # noqa: E402
from borneo_env.ruleset import Ruleset  # noqa: E402

SIZES = {3: 3, 4: 2, 5: 3}


def played(games, timesteps, seed=0):
    """Play on at random; returns what was seen."""
    generator = torch.Generator().manual_seed(seed)
    seen = []
    for _ in range(timesteps):
        seen.append([tensor.clone() for tensor in (games.state, games.mask, games.seat, games.reward, games.done)])
        games.play(games.random_actions(generator))
    return seen


def test_games_are_those_of_plain_batches():
    games, generator = LearnerGames(SIZES, seed=5), torch.Generator().manual_seed(1)
    batches, first = [], 0
    for players, size in SIZES.items():
        batches.append(Batch(size, Ruleset(players=players), seed=5, first=first))
        first += size
    ended = 0
    for _ in range(300):
        for batch, rows in zip(batches, games.slices, strict=True):
            assert np.array_equal(games.state[rows, : games.width].numpy(), batch.state(batch.player))
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
                assert np.allclose(games.reward[rows][game, :players].numpy(), wins / wins.sum() - 1 / players)
            assert not games.reward[rows][:, players:].any()
    assert ended > 5


def test_a_state_ends_with_zeros_and_begins_with_the_observation():
    games = LearnerGames({4: 5}, seed=3)
    assert games.state.shape[1] % 8 == 0
    assert not games.state[:, games.width :].any()
    observed = Batch(5, Ruleset(players=4), seed=3).observe()
    assert np.array_equal(games.state[:, : observed.shape[1]].numpy(), observed)


def test_games_are_stagger_over_their_length():
    games = LearnerGames({4: 60}, seed=1)
    games.stagger(torch.Generator().manual_seed(0))
    left = games.groups[0].batch.games["ports_left"]
    assert len(np.unique(left)) > 4, "some games are new, others near their end"
    ends = sum(seen[-1].sum() for seen in played(games, 20))
    assert 0 < ends < 30


@pytest.mark.parametrize("opponents", ({}, {4: 3}))
def test_saved_games_go_on(opponents):
    games, twin = (LearnerGames(SIZES, opponents, task="ranks", seed=2) for _ in range(2))
    assert (games.with_opponents.start, games.with_opponents.stop) == (8, len(games))
    played(games, 40)
    twin.restore(games.tensors())
    for t, (one, other) in enumerate(zip(played(games, 200, 9), played(twin, 200, 9), strict=True)):
        for a, b in list(zip(one, other, strict=True))[: 5 if t else 3]:  # of before there are no rewards
            assert torch.equal(a, b)


def test_games_of_others_are_refused():
    saved = LearnerGames({3: 3}, seed=2).tensors()
    for sizes, seed, told in (
        ({3: 4}, 2, "cannot take the place of 4 games"),
        ({3: 3}, 3, "seed 2 cannot take the place"),
        (SIZES, 2, "it has 1 files of games, not 3"),
    ):
        with pytest.raises(ValueError, match=told):
            LearnerGames(sizes, seed=seed).restore(saved)


def test_sizes_are_even():
    assert even_sizes(11, [3, 4, 5]) == {3: 4, 4: 4, 5: 3}


def test_seats_are_counted_from_the_one_who_decides_and_back():
    seat, players = torch.tensor([2, 0, 4]), torch.tensor([3, 4, 5])
    values = torch.arange(5).expand(3, 5)
    order = from_decider(values, seat, players)
    assert order.tolist() == [[2, 0, 1, 3, 4], [0, 1, 2, 3, 4], [4, 0, 1, 2, 3]]
    assert torch.equal(by_seat(order, seat, players), values)
    steps = order.expand(2, 3, 5)  # with timesteps before the games
    assert torch.equal(by_seat(steps, seat.expand(2, 3), players), values.expand(2, 3, 5))
