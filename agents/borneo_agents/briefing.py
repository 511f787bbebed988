"""Briefing: what a policy is told about each of its options.

The merchant's opinion, and what the option leads to if merchants play on to the end of the turn: how every player's
facts change, and the chance to win that the search bots judge by (see `chances`). This is found out in an imagined
game, which the deciding player cannot tell from the real one. The options that look best there are finalists: they are
followed in some more imagined games, and two turns further. Options come in the order of their actions; what is
missing is 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import MERCHANT
from borneo_agents.chances import FACTS, chances, gather_facts
from borneo_agents.room import ROOM
from borneo_agents.scripted import choose
from borneo_agents.search import play, play_out
from borneo_env.agent import Views
from borneo_env.engine.batch import GAMES_PER_THINKER, Batch, in_parallel
from borneo_env.engine.dice import scramble
from borneo_env.engine.game import MAX_OPTIONS, legal
from borneo_env.engine.hidden import resample_game
from borneo_env.engine.jit import entry, rule
from borneo_env.engine.state import CHOICES, GAME, OVER, SEATS, THINGS, make_box

WORLDS = 4  # imagined games for each decision
FINALISTS = 5  # options that are followed in all of them
LOOKS = 3  # how often a finalist's chance is noted: when the turn is over, and one and two turns later

# What is noted of an option: the merchant's opinion; whether it is a finalist; whether it ends the turn; the change of
# the own chance when the turn is over, and one and two turns later (the same again where nobody looked); the changes of
# the own facts, and of the others' mean, when the turn is over.
ADVICE, FINALIST, ENDS_TURN, CHANCE = range(4)
OWN = CHANCE + LOOKS
OTHERS = OWN + FACTS
NOTES = OTHERS + FACTS

ADVISED = 127  # the merchant's opinion of what it would play itself
AS_GOOD = 120  # and of another option that is worth as much
PER_POINT = 20.0  # how much less for each point that an option is worth less
PER_CHANCE, PER_FACT = 500.0, 8.0
MOST = 127
TRUST = 0.25  # what the merchant's opinion counts beside the chance, when options are compared for a longer look

IMAGINED, TRIED = range(2)
BEFORE, AFTER = range(2)

# Scratch paper: facts and chances before and after, what the notes add up to, and how good options look at first.
DRAFT = np.dtype(
    [
        ("facts", "f8", (2, SEATS, FACTS)),
        ("odds", "f8", (2, SEATS)),
        ("sums", "f8", (MAX_OPTIONS, NOTES)),
        ("promise", "f8", (MAX_OPTIONS,)),
        ("options", "i8", (MAX_OPTIONS,)),
        ("unseen", "i1", (THINGS,)),
    ],
    align=True,
)


@rule
def brief(box, g, dice, first, options, count, room, twins, draft, notes):
    """Write the notes on all options of a decision; `first` is the number of its first imagined game."""
    notes[:] = 0
    write_advice(box, g, options, count, room, notes)
    imagine(box, g, dice, first, twins, draft)
    for i in range(count):
        follow(box, g.player, options[i], 1, room, twins, draft, i)
        write_down(draft.sums[i], 1, 1, notes[i])
    choose_finalists(count, draft, notes)
    for world in range(first, first + WORLDS):
        imagine(box, g, dice, world, twins, draft)
        for i in range(count):
            if notes[i, FINALIST]:
                follow(box, g.player, options[i], LOOKS, room, twins, draft, i)
    for i in range(count):
        if notes[i, FINALIST]:
            write_down(draft.sums[i], WORLDS, LOOKS, notes[i])


@rule
def imagine(box, g, dice, world, twins, draft):
    """Imagine a complete game, and note how it stands."""
    twins[IMAGINED] = g
    resample_game(twins[IMAGINED], int(g.player), scramble(dice, np.uint64(world)) | np.uint64(1), draft.unseen)
    chances(box, twins[IMAGINED], draft.facts[BEFORE], draft.odds[BEFORE])


@rule
def follow(box, me, option, looks, room, twins, draft, i):
    """Play an option in the imagined game, let merchants play on, and add up what it changes at every look."""
    twins[TRIED] = twins[IMAGINED]
    g, sums = twins[TRIED], draft.sums[i]
    left = 1 - play(box, g, option)  # whether the turn is still to be played
    sums[ENDS_TURN] += 1 - left
    for look in range(looks):
        play_out(box, g, MERCHANT, left, draft.options, room)
        left = 1
        if g.phase == OVER:
            gather_facts(box, g, draft.facts[AFTER])
        chances(box, g, draft.facts[AFTER], draft.odds[AFTER])
        sums[CHANCE + look] += PER_CHANCE * (draft.odds[AFTER, me] - draft.odds[BEFORE, me])
        if look == 0:
            add_changes(box, draft.facts, me, sums)


@rule
def write_down(sums, worlds, looks, notes):
    """Write the mean of what has been added up, and begin again."""
    for look in range(looks, LOOKS):
        sums[CHANCE + look] = sums[CHANCE + looks - 1]
    for note in range(ENDS_TURN, NOTES):
        notes[note] = cut(sums[note] / worlds)
    sums[:] = 0.0


@rule
def choose_finalists(count, draft, notes):
    """Mark the options that look best, by the chance when the turn is over and the merchant's opinion."""
    for i in range(count):
        draft.promise[i] = notes[i, CHANCE] + TRUST * notes[i, ADVICE]
    for i in range(count):
        better = 0
        for k in range(count):
            better += draft.promise[k] > draft.promise[i] or (draft.promise[k] == draft.promise[i] and k < i)
        notes[i, FINALIST] = better < FINALISTS


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
def brief_views(boxes, first, views, dice, options, rooms, twins, drafts, notes):
    """Write the notes for each view."""
    for i in range(len(views)):
        count = legal(boxes[0], views[i], options[0])
        brief(boxes[0], views[i], dice[i], first, options[0], count, rooms[0], twins[0], drafts[0], notes[i])


def brief_on(views: Views, threads: int = 1, before: int = 0) -> NDArray[np.int8]:
    """(views, MAX_OPTIONS * NOTES): the notes for each view, after so many briefings on the same decisions `before`."""
    size = len(views)
    notes = np.empty((size, MAX_OPTIONS, NOTES), np.int8)
    # Each thread works in the first of its slice; pages that nobody writes on cost nothing.
    rooms, twins, drafts = np.zeros(size, ROOM), np.zeros((size, 2), GAME), np.zeros(size, DRAFT)
    options = np.empty((size, MAX_OPTIONS), np.int64)
    own = (np.ascontiguousarray(views.games), views.dice, options, rooms, twins, drafts, notes)
    in_parallel(threads, brief_views, (make_box(views.ruleset), WORLDS * before), own, GAMES_PER_THINKER)
    return notes.reshape(size, MAX_OPTIONS * NOTES)


def brief_batch(batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.int8]:
    """(rows, MAX_OPTIONS * NOTES): the notes for some games that are not over, whose dice stay as they are."""
    dice = batch.games["rng"][rows, CHOICES]
    views = Views(batch.ruleset, *batch.view(rows))
    batch.games["rng"][rows, CHOICES] = dice
    return brief_on(views, batch.threads)
