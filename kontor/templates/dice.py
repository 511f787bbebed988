"""Randomness: a small generator whose state is in the game record, so that a game is the same game everywhere.

The generator is a multiply-with-carry on 32-bit halves (its products fit in 64 bits, so compiled, interpreted and GPU
arithmetic agree); streams are seeded through the Philox-2x32 cipher, which sends different game numbers of a seed to
different states. Both can be run backwards by whoever sees a state, so no state is ever handed out: the dice of agents
are what the Threefry-2x32 cipher makes with the state as its key. They tell nothing of other dice, of the shuffles or
of the seed. Nothing can hide a seed that is guessed: whoever knows it can deal the cards himself.
"""

from __future__ import annotations

import numpy as np

from kontor.compile import rule
from kontor.fields import STREAMS

LUCK, CHOICES = range(STREAMS)  # the streams every game has: its chance, and who plays at random

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
CARRY_MULTIPLIER = np.uint64(4294883355)
PHILOX_MULTIPLIER = np.uint64(0xD256D193)
PHILOX_WEYL = np.uint64(0x9E3779B9)
PHILOX_ROUNDS = 10
THREEFRY_PARITY = np.uint64(0x1BD11BDA)
THREEFRY_ROUNDS = 20
ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)


@rule
def scramble(value, key):
    """A 64-bit value sent to another by a permutation that the 32-bit key chooses."""
    left = value & LOW
    right = value >> HALF
    for _ in range(PHILOX_ROUNDS):
        product = left * PHILOX_MULTIPLIER
        left = (product >> HALF) ^ key ^ right
        right = product & LOW
        key = (key + PHILOX_WEYL) & LOW
    return left | (right << HALF)


@rule
def seed_streams(g, seed, number):
    """Start all random streams of a game from the seed and the game's number (np.uint64 both)."""
    mixed = scramble(number, seed & LOW)
    g.rng[LUCK] = scramble(mixed, seed >> HALF) | np.uint64(1)
    g.rng[CHOICES] = scramble(mixed ^ LOW, seed >> HALF) | np.uint64(1)
    for own in range(STREAMS, len(g.rng)):
        g.rng[own] = scramble(mixed ^ np.uint64(own), seed >> HALF) | np.uint64(1)


@rule
def below(g, stream, n):
    """A random number from 0 to n - 1."""
    state = g.rng[stream]
    state = (state & LOW) * CARRY_MULTIPLIER + (state >> HALF)
    g.rng[stream] = state
    bits = (state & LOW) ^ (state >> HALF)
    return int((bits * np.uint64(n)) >> HALF)


@rule
def encipher(value, key):
    """A 64-bit value under a 64-bit key: who sees both values cannot find the key but by trying all."""
    left = ((value & LOW) + (key & LOW)) & LOW
    right = ((value >> HALF) + (key >> HALF)) & LOW
    keys = (key & LOW, key >> HALF, THREEFRY_PARITY ^ (key & LOW) ^ (key >> HALF))
    for i in range(THREEFRY_ROUNDS):
        turn = np.uint64(ROTATIONS[i % 8])
        left = (left + right) & LOW
        right = ((right << turn) & LOW) | (right >> (HALF - turn))
        right ^= left
        if i % 4 == 3:
            injection = i // 4 + 1
            left = (left + keys[injection % 3]) & LOW
            right = (right + keys[(injection + 1) % 3] + np.uint64(injection)) & LOW
    return left | (right << HALF)


@rule
def roll(g):
    """64 random bits that tell nothing of the game's streams."""
    below(g, CHOICES, 1)
    return encipher(np.uint64(0), g.rng[CHOICES])


@rule
def shuffle(g, cards, n):
    """Put the first n entries of an array in random order."""
    for i in range(n - 1, 0, -1):
        j = below(g, LUCK, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
