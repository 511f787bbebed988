"""The kernels: what the loops of the engine do in each game, done by a thread of the card for each game.

No rule is written here. A kernel finds its game and calls the rules of `engine`, as the loops on the CPU do.

The threads of a warp go through all branches that any of them takes. So `step` lets neighbouring threads take games in
the same phase: the games of a block are put in the order of their phases, before the moves and again before the next
options. That makes it 1.7 times as fast. Rows that threads would write far apart from each other (observations) are
written to shared memory first, and copied from there by the threads of a warp side by side: six times as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import cuda

from kontor.compile import rule
from kontor.compile.binding import KINDS
from kontor.fields import OVER, SPECTATOR
from kontor.game import Game
from kontor.gpu.device import SIMULATED, kernel, shared_memory
from kontor.templates.dice import scramble
from kontor.templates.hidden import resample_game
from kontor.templates.loops import (
    NO_ACTION,
    clear,
    deal_game,
    draw_action,
    draw_seat,
    is_illegal,
    mark,
    next_number,
    others_decide,
    score_game,
    settle,
)
from kontor.templates.open_names import apply, blank_secrets, idle, keys, most_room, reward_of

ASK_ANEW = -2  # in place of an action: the game has been dealt, or written to
THREADS = 2 if SIMULATED else 128  # of a block
SORTED = 2 if SIMULATED else 512  # of a block that takes its games in the order of their phases
WARP = 1 if SIMULATED else 32  # threads that go together
NO_GAME = 2**62  # for a thread with nothing to do: no batch has that many
ONE = np.uint64(1)
KINDS["kernel"] = kernel  # compiled for the card when they are bound to a game


def template(function: Callable[..., None]) -> Callable[..., None]:
    """A kernel for any game."""
    function.compiled_as = "kernel"  # type: ignore[attr-defined]
    return function


# ---------------------------------------------------------------- threads of a block
# A kernel and what it calls are found when it is made, so what it calls stands above it.


@rule
def in_order(key, i, counts, order):
    """Give the threads of a block their games anew, in the order of the keys; who is idle gets none."""
    thread = cuda.threadIdx.x
    for k in range(thread, keys, cuda.blockDim.x):
        counts[k] = 0
    cuda.syncthreads()
    place = cuda.atomic.add(counts, key, 1)
    cuda.syncthreads()
    for k in range(key):
        place += counts[k]
    order[place] = i if key != idle else NO_GAME
    cuda.syncthreads()
    return order[thread]


@rule
def add_up(counts, total):
    """Add the number of threads of the block that count to a total."""
    number = cuda.syncthreads_count(int(counts))
    if cuda.threadIdx.x == 0 and number > 0:
        cuda.atomic.add(total, 0, number)


# ---------------------------------------------------------------- playing


@template
def step(boxes, blank, runs, games, desks, masks, actions, first):
    """Play a legal action in every game and come to its next decision; NO_ACTION and ASK_ANEW play nothing.

    What was done before the first of several steps is forgotten.
    """
    counts = cuda.shared.array(keys, numba.int32)
    order = cuda.shared.array(SORTED, numba.int64)
    i = cuda.grid(1)
    key = idle
    if i < len(games):
        if first:
            desks[i].done = False
        if actions[i] != NO_ACTION:
            key = int(games[i].phase)
    i = in_order(key, i, counts, order)
    key = idle
    if i < len(games):
        if actions[i] != ASK_ANEW:
            mark(masks[i], desks[i], False)
            apply(boxes[0], games[i], actions[i])
        key = int(games[i].phase)
    i = in_order(key, i, counts, order)
    if i < len(games):
        settle(boxes[0], blank, runs[0], games, i, desks[i])
        mark(masks[i], desks[i], True)
        if actions[i] == ASK_ANEW:
            desks[i].done = False  # that a held game is over is no news


@template
def take_actions(masks, given, actions, may_wait, first):
    """Take over actions of any type. Wrong ones become NO_ACTION; `first` notes the first game that has one."""
    i = cuda.grid(1)
    if i < len(actions):
        actions[i] = given[i]
        if is_illegal(masks, i, actions[i]) or (actions[i] == NO_ACTION and not may_wait):
            actions[i] = NO_ACTION
            cuda.atomic.min(first, 0, i)


@template
def take_from_others(games, desks, masks, seats, given, actions, first):
    """Take over actions where somebody else than the seat is asked: a legal one each, or `first` notes the game."""
    i = cuda.grid(1)
    if i < len(actions):
        actions[i] = NO_ACTION
        if others_decide(games[i], desks[i], seats[i]):
            actions[i] = given[i]
            if actions[i] == NO_ACTION or is_illegal(masks, i, actions[i]):
                actions[i] = NO_ACTION
                cuda.atomic.min(first, 0, i)


@template
def sample(games, desks, actions):
    i = cuda.grid(1)
    if i < len(games):
        actions[i] = draw_action(games[i], desks[i])


@template
def sample_others(games, desks, seats, actions, count):
    """Draw actions where somebody else than the seat decides, and count these games."""
    i = cuda.grid(1)
    asked = False
    if i < len(games):
        asked = others_decide(games[i], desks[i], seats[i])
        actions[i] = draw_action(games[i], desks[i]) if asked else NO_ACTION
    add_up(asked, count)


@template
def count_others(games, desks, seats, count):
    """Count the games where somebody else than the seat decides."""
    i = cuda.grid(1)
    add_up(i < len(games) and others_decide(games[i], desks[i], seats[i]), count)


@template
def count_running(desks, count):
    i = cuda.grid(1)
    add_up(i < len(desks) and desks[i].count > 0, count)


# ---------------------------------------------------------------- dealing and copying


@template
def deal(boxes, blank, runs, games, desks, masks, chosen, first, actions):
    """Deal a new game where it is chosen: the one of its place from `first` on, or the next one where that is -1."""
    i = cuda.grid(1)
    if i < len(games):
        actions[i] = NO_ACTION
        if chosen[i]:
            number = next_number(runs[0], games[i])
            if first >= 0:
                number = np.uint64(first + i)
            clear(desks[i], masks[i])
            deal_game(boxes[0], blank, games, i, runs[0].seed, number)
            actions[i] = ASK_ANEW


@template
def forget_done(desks):
    i = cuda.grid(1)
    if i < len(desks):
        desks[i].done = False


@template
def ask_anew(desks, masks, actions):
    """Have the options of all games worked out anew by the next step."""
    i = cuda.grid(1)
    if i < len(desks):
        clear(desks[i], masks[i])
        actions[i] = ASK_ANEW


@template
def take_games(rows, games, desks, masks, to_games, to_desks, to_masks):
    i = cuda.grid(1)
    if i < len(rows):
        to_games[i] = games[rows[i]]
        to_desks[i] = desks[rows[i]]
        for action in range(masks.shape[1]):
            to_masks[i, action] = masks[rows[i], action]


@kernel
def copy_values(values, out):
    """Values that lie far apart, side by side."""
    i = cuda.grid(1)
    if i < len(out):
        for k in range(out.shape[1]):
            out[i, k] = values[i, k]


# ---------------------------------------------------------------- seats, and what they know


@template
def deciders(games, seats):
    i = cuda.grid(1)
    if i < len(games):
        seats[i] = games[i].player


@template
def take_seats(given, lowest, players, seats, first):
    """Take over seats of any type. Those that do not exist become spectators; `first` notes the first such game."""
    i = cuda.grid(1)
    if i < len(seats):
        seats[i] = given[i]
        if seats[i] < lowest or seats[i] >= players:
            seats[i] = SPECTATOR
            cuda.atomic.min(first, 0, i)


@template
def draw_seats(boxes, runs, games, chosen, seats):
    i = cuda.grid(1)
    if i < len(games) and chosen[i]:
        seats[i] = draw_seat(boxes[0].players, runs[0].seed, np.uint64(games[i].number))


@template
def redact(boxes, games, seats):
    i = cuda.grid(1)
    if i < len(games):
        blank_secrets(boxes[0], games[i], seats[i])


@template
def resample(boxes, games, seats, seeds):
    i = cuda.grid(1)
    unseen = cuda.local.array(most_room, numba.int16)
    if i < len(games):
        resample_game(boxes[0], games[i], seats[i], scramble(seeds[i], np.uint64(0)) | ONE, unseen)


def rows_of(width: int) -> int:
    """How many rows of so many numbers a block writes: what its shared memory has room for."""
    return 2 * WARP if 2 * WARP * row_bytes(width) <= shared_memory() else WARP


def row_bytes(width: int) -> int:
    return (width + 3) // 4 * 4


@cache
def observer(game: Game, width: int, whole: bool) -> Any:
    """The kernel that writes observations, or whole tables, of so many numbers; its blocks have `rows_of` threads."""
    write_rows = _row_writer(game.write_state if whole else game.observe, width, rows_of(width))
    name = f"write_{'tables' if whole else 'observations'}_of_{width}"
    write_rows.__name__, write_rows.__qualname__ = name, f"{name}[{game.name}]"
    return kernel(write_rows)


def _row_writer(write: Callable[..., None], width: int, block: int) -> Any:
    stride = row_bytes(width)

    def write_rows(boxes, games, seats, chosen, out):
        i = cuda.grid(1)
        thread = cuda.threadIdx.x
        rows = cuda.shared.array((block, stride), numba.int8)
        if i < len(games) and chosen[i]:
            write(boxes[0], games[i], seats[i], rows[thread, :width])
        cuda.syncthreads()
        first = cuda.blockIdx.x * block
        for row in range(thread // WARP, block, block // WARP):
            if first + row < len(games) and chosen[first + row]:
                for number in range(thread % WARP, width, WARP):
                    out[first + row, number] = rows[row, number]

    return write_rows


# ---------------------------------------------------------------- results


@template
def score(boxes, games, scores, places):
    i = cuda.grid(1)
    if i < len(games):
        score_game(boxes[0], games[i], scores[i], places[i])


@template
def give_rewards(boxes, number, before, after, chosen, rewards):
    """What happened to each player, where it is chosen; 0 elsewhere."""
    i = cuda.grid(1)
    if i < len(after):
        for player in range(boxes[0].players):
            rewards[i, player] = 0
            if chosen[i]:
                rewards[i, player] = reward_of(number, boxes[0], before[i], after[i], player)


@template
def give_to_seats(rewards, seats, own):
    """Of the rewards of all players those of a seat."""
    i = cuda.grid(1)
    if i < len(own):
        own[i] = rewards[i, seats[i]]


@template
def end_games(games, desks, seats, ended, final_seats, scores, places):
    """Note which games are over, and what they came to."""
    i = cuda.grid(1)
    if i < len(games):
        ended[i] = games[i].player == OVER
        if ended[i]:
            final_seats[i] = seats[i]
            for player in range(scores.shape[1]):
                scores[i, player] = desks[i].scores[player]
                places[i, player] = desks[i].places[player]
