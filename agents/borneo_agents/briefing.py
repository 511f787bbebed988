"""Briefing: what a policy is told about each of its options.

The merchant's opinion, and what the option leads to if merchants play on for two rounds: how every player's facts have
changed when the turn is over, and the chance to win that the search bots judge by (see `chances`), whenever a turn
begins. This is found out in some imagined games, which the deciding player cannot tell from the real one. Options come
in the order of their actions; what is missing is 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import MERCHANT, as_arrays
from borneo_agents.chances import FACTS, chances, gather_facts
from borneo_agents.room import ROOM
from borneo_agents.scripted import choose
from borneo_agents.search import play, play_out
from borneo_env.agent import Views
from borneo_env.engine.batch import Batch
from borneo_env.engine.dice import scramble
from borneo_env.engine.game import MAX_OPTIONS, legal
from borneo_env.engine.hidden import resample_game
from borneo_env.engine.jit import entry, rule
from borneo_env.engine.state import CHOICES, GAME, OVER, SEATS, THINGS
from borneo_env.engine.threads import in_parallel

WORLDS = 2  # imagined games for each decision
ROUNDS = 2  # how long they are played on
VIEWS_PER_THREAD = 2  # at least: each takes a millisecond and more
SPANS = 3  # for which the mean chance is noted: the turn, a round, and all rounds

# What is noted of an option: the merchant's opinion; whether it ends the turn; the change of the own chance over each
# span; the changes of the own facts, and of the others' mean, when the turn is over.
ADVICE, ENDS_TURN, CHANCE = range(3)
IN_TIME = CHANCE + SPANS - 1  # over all rounds
OWN = CHANCE + SPANS
OTHERS = OWN + FACTS
NOTES = OTHERS + FACTS

ADVISED = 127  # the merchant's opinion of what it would play itself
AS_GOOD = 120  # and of another option that is worth as much
PER_POINT = 20.0  # how much less for each point that an option is worth less
PER_CHANCE, PER_FACT = 500.0, 8.0
MOST = 127

IMAGINED, TRIED = range(2)
BEFORE, AFTER = range(2)

# Scratch paper: facts and chances before and after, and what the notes add up to.
DRAFT = np.dtype(
    [
        ("facts", "f8", (2, SEATS, FACTS)),
        ("odds", "f8", (2, SEATS)),
        ("sums", "f8", (MAX_OPTIONS, NOTES)),
        ("options", "i8", (MAX_OPTIONS,)),
        ("unseen", "i1", (THINGS,)),
    ],
    align=True,
)


@rule
def brief(box, g, dice, options, count, room, twins, draft, notes):
    """Write the notes on all options of a decision."""
    notes[:] = 0
    write_advice(box, g, options, count, room, notes)
    draft.sums[:count] = 0.0
    for world in range(WORLDS):
        imagine(g, dice, world, twins, draft.unseen)
        chances(box, twins[IMAGINED], draft.facts[BEFORE], draft.odds[BEFORE])
        for i in range(count):
            follow(box, g.player, options[i], room, twins, draft, draft.sums[i])
    for i in range(count):
        for note in range(ENDS_TURN, NOTES):
            notes[i, note] = cut(draft.sums[i, note] / WORLDS)


@rule
def imagine(g, dice, world, twins, unseen):
    """Imagine a complete game, with a number for each one that is imagined."""
    twins[IMAGINED] = g
    resample_game(twins[IMAGINED], int(g.player), scramble(dice, np.uint64(world)) | np.uint64(1), unseen)


@rule
def follow(box, me, option, room, twins, draft, sums):
    """Play an option in the imagined game, let merchants play on, and add up what it changes."""
    twins[TRIED] = twins[IMAGINED]
    g = twins[TRIED]
    begun = 1 if play(box, g, option) else 0  # how many turns have begun since
    sums[ENDS_TURN] += begun
    for turn in range(1, ROUNDS * box.players + 1):
        play_out(box, g, MERCHANT, turn - begun, draft.options, room)
        begun = turn
        chances(box, g, draft.facts[AFTER], draft.odds[AFTER])
        change = PER_CHANCE * (draft.odds[AFTER, me] - draft.odds[BEFORE, me])
        if turn == 1:
            sums[CHANCE] += change
            if g.phase == OVER:  # when chances take no facts
                gather_facts(box, g, draft.facts[AFTER])
            add_changes(box, draft.facts, me, sums)
        if turn <= box.players:
            sums[CHANCE + 1] += change / box.players
        sums[IN_TIME] += change / (ROUNDS * box.players)


@rule
def write_advice(box, g, options, count, room, notes):
    """Write what the merchant thinks of every option."""
    action = choose(MERCHANT, box, g, options, count, np.uint64(0), room)
    most = room.worth[0]
    for i in range(count):
        most = max(most, room.worth[i])
    for i in range(count):
        if options[i] == action:
            notes[i, ADVICE] = ADVISED
        else:
            notes[i, ADVICE] = max(1, cut(AS_GOOD - PER_POINT * (most - room.worth[i])))


@rule
def add_changes(box, facts, me, sums):
    """Add up how the facts of the decider have changed, and those of the others on average."""
    for fact in range(FACTS):
        sums[OWN + fact] += PER_FACT * (facts[AFTER, me, fact] - facts[BEFORE, me, fact])
        others = 0.0
        for player in range(box.players):
            if player != me:
                others += facts[AFTER, player, fact] - facts[BEFORE, player, fact]
        sums[OTHERS + fact] += PER_FACT * others / (box.players - 1)


@rule
def cut(value):
    """The nearest whole number that a note can hold."""
    return int(np.rint(min(float(MOST), max(-float(MOST), value))))


@entry
def brief_views(boxes, views, dice, notes, options, rooms, twins, drafts):
    """Write the notes for each view."""
    for i in range(len(views)):
        count = legal(boxes[0], views[i], options[0])
        brief(boxes[0], views[i], dice[i], options[0], count, rooms[0], twins[0], drafts[0], notes[i])


def brief_on(views: Views, threads: int = 1) -> NDArray[np.int8]:
    """(views, MAX_OPTIONS * NOTES): the notes for each view."""
    size = len(views)
    notes = np.empty((size, MAX_OPTIONS, NOTES), np.int8)
    boxes, games, dice = as_arrays(views)
    options = np.empty((threads, MAX_OPTIONS), np.int64)
    scratch = (options, np.zeros(threads, ROOM), np.zeros((threads, 2), GAME), np.zeros(threads, DRAFT))
    in_parallel(threads, brief_views, (boxes,), (games, dice, notes), VIEWS_PER_THREAD, scratch)
    return notes.reshape(size, MAX_OPTIONS * NOTES)


def brief_batch(batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.int8]:
    """(rows, MAX_OPTIONS * NOTES): the notes for some games that are not over, whose dice stay as they are."""
    dice = batch.games["rng"][rows, CHOICES]
    try:
        views = Views(batch.ruleset, *batch.view(rows))
    finally:
        batch.games["rng"][rows, CHOICES] = dice
    return brief_on(views, batch.threads)
