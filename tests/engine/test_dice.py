"""The generator: uniform draws, independent streams, and games that never change by accident."""

from itertools import permutations

import numba
import numpy as np
import pytest
from chi_square import FAR, deviation

from borneo_env import Batch, resample
from borneo_env.engine.state import CHOICES, GAME, HAND, SHUFFLES
from kontor.compile import attributes
from kontor.templates.dice import (
    CARRY_MULTIPLIER,
    PHILOX_MULTIPLIER,
    PHILOX_WEYL,
    below,
    encipher,
    scramble,
    seed_streams,
    shuffle,
)


def table_of(first, second, n):
    """How often each pair of numbers below n occurs."""
    return np.bincount(np.asarray(first) * n + second, minlength=n * n)


@numba.njit
def start_streams(games, seeds, numbers):
    for i in range(len(games)):
        seed_streams(games[i], seeds[i], numbers[i])


@numba.njit
def draw_from_each(games, stream, n, drawn):
    for i in range(len(games)):
        for k in range(drawn.shape[1]):
            drawn[i, k] = below(games[i], stream, n)


@numba.njit
def shuffle_often(games, hands, n):
    for i in range(len(hands)):
        shuffle(games[0], hands[i], n)


def games_of(seeds, numbers):
    """Records of which only the random streams are set."""
    games = np.zeros(np.broadcast(seeds, numbers).shape, GAME)
    seeds, numbers = (np.broadcast_to(np.array(a, np.uint64), games.shape).copy() for a in (seeds, numbers))
    start_streams(attributes(games), seeds, numbers)
    return games


def draws(games, n, stream=SHUFFLES, each=1):
    """(games, each): the next numbers below n of every game's stream."""
    drawn = np.zeros((len(games), each), np.int64)
    draw_from_each(attributes(games), stream, n, drawn)
    return drawn


# One stream


@pytest.mark.parametrize("n", [1, 2, 3, 7, 18, 60])
def test_below_is_uniform_from_0_to_n_minus_1(n):
    drawn = draws(games_of(5, [0]), n, each=1000 * n)
    counts = np.bincount(drawn[0], minlength=n)
    assert len(counts) == n
    if n > 1:
        assert abs(deviation(counts)) < FAR


@pytest.mark.parametrize("lag", [1, 2, 3])
def test_later_draws_do_not_depend_on_earlier_ones(lag):
    drawn = draws(games_of(5, [1]), 8, each=64_000)[0]
    assert abs(deviation(table_of(drawn[:-lag], drawn[lag:], 8))) < FAR


def test_shuffle_is_uniform_over_all_orders_of_four_cards():
    hands = np.tile(np.arange(4, dtype=np.int8), (48_000, 1))
    shuffle_often(attributes(games_of(5, [2])), hands, 4)
    assert (np.sort(hands) == np.arange(4)).all()
    counts = [(hands == order).all(1).sum() for order in permutations(range(4))]
    assert abs(deviation(counts)) < FAR


def test_shuffle_leaves_the_cards_behind_the_first_n_alone():
    hands = np.tile(np.arange(9, dtype=np.int8), (100, 1))
    shuffle_often(attributes(games_of(5, [3])), hands, 5)
    assert (hands[:, 5:] == np.arange(5, 9)).all()
    assert (hands[:, :5] != np.arange(5)).any()


def test_the_naive_shuffle_would_be_noticed():
    """The statistic has teeth: exchanging each card with any card gives 4**4 equal chances to 24 orders."""
    rng = np.random.default_rng(0)
    hands = np.tile(np.arange(4), (48_000, 1))
    everywhere = np.arange(len(hands))
    for i in range(4):
        j = rng.integers(4, size=len(hands))
        hands[everywhere, i], hands[everywhere, j] = hands[everywhere, j], hands[everywhere, i].copy()
    counts = [(hands == order).all(1).sum() for order in permutations(range(4))]
    assert deviation(counts) > 10 * FAR


# Many streams


NEIGHBOURS = {
    "games of one seed": (7, np.arange(32_000)),
    "seeds": (np.arange(32_000), 0),
    "high halves of seeds": (np.arange(32_000, dtype=np.uint64) << np.uint64(32), 0),
    "high halves of game numbers": (7, np.arange(32_000, dtype=np.uint64) << np.uint64(32)),
    "seeds and games together": (np.arange(32_000), np.arange(32_000)),
}


@pytest.mark.parametrize("stream", [SHUFFLES, CHOICES])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_neighbouring_streams_are_uniform_and_not_correlated(neighbours, stream):
    drawn = draws(games_of(*NEIGHBOURS[neighbours]), 8, stream, each=4)
    for k in range(drawn.shape[1]):
        assert abs(deviation(table_of(drawn[:-1, k], drawn[1:, k], 8))) < FAR, f"draw {k}"


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_the_two_streams_of_a_game_are_not_correlated(neighbours):
    games = games_of(*NEIGHBOURS[neighbours])
    shuffles, choices = draws(games, 8, SHUFFLES), draws(games, 8, CHOICES)
    assert abs(deviation(table_of(shuffles[:, 0], choices[:, 0], 8))) < FAR


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_every_stream_starts_from_a_state_of_its_own(neighbours):
    states = games_of(*NEIGHBOURS[neighbours])["rng"]
    assert len(np.unique(states)) == states.size
    assert states.all(), "a multiply-with-carry generator stays at 0 for ever"


def test_one_game_has_another_deal_under_every_seed_and_number():
    deals = {Batch(1, seed=seed, first=first).games["draw"].tobytes() for seed in range(20) for first in range(20)}
    assert len(deals) == 400


# What is handed out


LOW = 2**32 - 1
CARRY = int(CARRY_MULTIPLIER)
ROUNDS = 10


def unscrambled(value, key):
    """The value that `scramble` has sent to this one: the cipher backwards."""
    left, right = value & LOW, value >> 32
    inverse = pow(int(PHILOX_MULTIPLIER), -1, 2**32)
    for i in reversed(range(ROUNDS)):
        low = right * inverse & LOW
        product = low * int(PHILOX_MULTIPLIER)
        left, right = low, left ^ (product >> 32) ^ (key + i * int(PHILOX_WEYL)) & LOW
    return left | right << 32


def states_before(state, steps):
    """A state of the generator and those before it: multiply-with-carry backwards."""
    modulus = CARRY * 2**32 - 1
    back = pow(CARRY, -1, modulus)
    return {state * pow(2**32, i, modulus) % modulus for i in range(steps)} | {
        state * pow(back, i, modulus) % modulus for i in range(steps)
    }


def betrayed(dice, streams):
    """Whether 64 bits lead back to one of the states the game's streams began with."""
    public = (0, 1, 0xD1CE)
    guesses = {dice, *(unscrambled(dice, key) for key in public)}
    return any(states_before(guess, 300) & streams for guess in guesses)


def dice_of_a_long_game():
    """The states a game's streams began with, and dice of it, those of its last decision among them."""
    batch = Batch(1, players=4, seed=7, finished="hold")
    streams = {int(state) for state in batch.games["rng"][0]}
    dice = []
    while batch.player[0] >= 0:
        dice.append(int(batch.view(np.array([0]))[2][0]))
        batch.step(batch.sample())
    return streams, dice


def test_unscrambled_is_the_cipher_backwards():
    value = int(scramble(np.uint64(0x1234567890ABCDEF), np.uint64(0xD1CE)))
    assert unscrambled(value, 0xD1CE) == 0x1234567890ABCDEF


def test_dice_do_not_lead_back_to_the_deal():
    streams, dice = dice_of_a_long_game()
    assert not any(betrayed(one, streams) for one in (*dice[:3], dice[-1]))


def test_dice_made_by_a_cipher_with_a_public_key_would_lead_back():
    """The attack has teeth: these dice it takes back over a hundred steps to the start of the game."""
    game = games_of(7, [0])
    streams = {int(state) for state in game["rng"][0]}
    draws(game, 8, CHOICES, each=100)
    invertible = int(scramble(game["rng"][0, CHOICES], np.uint64(0xD1CE)))
    assert betrayed(invertible, streams)


def test_dice_are_uniform_and_depend_neither_on_each_other_nor_on_the_deal():
    batch = Batch(32_000, players=4, seed=3)
    first, second = (batch.view(np.arange(len(batch)))[2] for _ in range(2))
    hand = np.argmax(batch.games["place"] == HAND + 1, 1) % 8
    for shift in (0, 29, 32, 61):
        low, after = (((dice >> np.uint64(shift)) & np.uint64(7)).astype(int) for dice in (first, second))
        for other in (after, hand, np.roll(low, 1)):
            table = table_of(low, other, 8).reshape(8, 8)
            expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
            assert ((table - expected) ** 2 / expected).sum() < 49 + FAR * np.sqrt(2 * 49)
        assert abs(deviation(np.bincount(low, minlength=8))) < FAR


def test_a_resampled_game_has_two_streams_of_its_own():
    batch = Batch(2000, players=3, seed=5)
    games = resample(batch.games, batch.player, np.random.default_rng(1))
    shuffles, choices = draws(games, 8, SHUFFLES), draws(games, 8, CHOICES)
    assert abs(deviation(table_of(shuffles[:, 0], choices[:, 0], 8))) < FAR
    assert not (games["rng"][:, SHUFFLES] == games["rng"][:, CHOICES]).any()


# Frozen values: a change here changes every game ever recorded by its seed


@pytest.mark.parametrize(
    ("left", "right", "key", "scrambled"),
    [
        (0x00000000, 0x00000000, 0x00000000, (0xFF1DAE59, 0x6CD10DF2)),
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, (0x2C3F628B, 0xAB4FD7AD)),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, (0xDD7CE038, 0xF62A4C12)),
    ],
)
def test_scramble_is_philox_2x32_with_ten_rounds(left, right, key, scrambled):
    """The known answers of the cipher's authors (Random123, kat_vectors)."""
    value = int(scramble(np.uint64(left | right << 32), np.uint64(key)))
    assert (value & 0xFFFFFFFF, value >> 32) == scrambled


@pytest.mark.parametrize(
    ("value", "key", "enciphered"),
    [
        ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_encipher_is_threefry_2x32_with_twenty_rounds(value, key, enciphered):
    """The known answers of the cipher's authors (Random123, kat_vectors)."""
    value, key = (np.uint64(left | right << 32) for left, right in (value, key))
    assert int(encipher(value, key)) == enciphered[0] | enciphered[1] << 32


def test_frozen_dice():
    batch = Batch(2, players=4, seed=7)
    assert batch.view(np.arange(2))[2].tolist() == [10596651705496517390, 18425130229564543177]


def test_frozen_streams():
    largest = 2**64 - 1
    states = games_of([0, 1, 0, 7, largest], [0, 0, 1, 2**40, 12])["rng"]
    assert states.tolist() == [
        [14870538128544853811, 8855330746155500095],
        [10578749055666494877, 15842222838292542311],
        [2704967094136091641, 9510681980665129647],
        [1709712544351593111, 7008122987592385419],
        [17870102165214471133, 13274316202165549405],
    ]


def test_frozen_deal():
    game = Batch(1, players=4, seed=7, first=2).games[0]
    hands = [np.flatnonzero(game["place"] == HAND + player).tolist() for player in range(4)]
    assert game["start"] == 1
    assert hands == [[23, 36, 50], [3, 25, 48], [0, 15, 35], [12, 44, 59]]
    assert game["open"].tolist() == [60, 70, 71]
    assert game["draw"][:6].tolist() == [24, 13, 51, 54, 1, 30]


@pytest.mark.parametrize(
    ("edition", "players", "scores"),
    [
        ("board", 4, [[23, 13, 23, 20], [25, 21, 24, 9], [41, 11, 17, 12]]),
        ("card", 3, [[50, 22, 11], [20, 40, 22], [25, 20, 21]]),
    ],
)
def test_frozen_random_games(edition, players, scores):
    """Random play to the end: the order of the options is frozen, too."""
    batch = Batch(3, edition=edition, players=players, seed=7, finished="hold")
    batch.play_random()
    assert batch.scores().tolist() == scores
