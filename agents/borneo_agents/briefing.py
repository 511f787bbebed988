"""Briefing: what a policy is told about each of its options.

The merchant's opinion, and what the option leads to if merchants play on to the end of the turn, and of the next one:
how every player's facts change, and the chance to win that the search bots judge by (see `chances`). This is found out
in an imagined game, which the deciding player cannot tell from the real one; for options that look best there, it is
the mean of some more. Options come in the order of their actions; what is missing is 0.
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
FINALISTS = 5  # options that are followed in more than the first of them
LOOKS = 2  # how often the chance is noted: when the turn is over, and one turn later

# What is noted of an option: the merchant's opinion; whether it was followed in all imagined games; whether it ends the
# turn; the change of the own chance when the turn is over, and one turn later; the changes of the own facts, and of the
# others' mean, when the turn is over.
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

# Scratch paper: facts before and after, what the notes add up to, and how good options look at first.
DRAFT = np.dtype(
    [
        ("facts", "f8", (2, SEATS, FACTS)),
        ("odds", "f8", (SEATS,)),
        ("sums", "f8", (MAX_OPTIONS, NOTES)),
        ("promise", "f8", (MAX_OPTIONS,)),
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
    me = int(g.player)
    draft.sums[:] = 0.0
    for world in range(WORLDS):
        twins[IMAGINED] = g
        resample_game(twins[IMAGINED], me, scramble(dice, np.uint64(world)) | np.uint64(1), draft.unseen)
        chances(box, twins[IMAGINED], draft.facts[BEFORE], draft.odds)
        chance = draft.odds[me]
        for i in range(count):
            if world == 0 or notes[i, FINALIST]:
                twins[TRIED] = twins[IMAGINED]
                look_ahead(box, twins[TRIED], options[i], me, chance, room, draft, draft.sums[i])
        if world == 0:
            choose_finalists(count, draft, notes)
    for i in range(count):
        worlds = WORLDS if notes[i, FINALIST] else 1
        for note in range(ENDS_TURN, NOTES):
            notes[i, note] = cut(draft.sums[i, note] / worlds)


@rule
def choose_finalists(count, draft, notes):
    """Mark the options that look best, by the chance at the last look and the merchant's opinion."""
    for i in range(count):
        draft.promise[i] = draft.sums[i, OWN - 1] + TRUST * notes[i, ADVICE]
    for i in range(count):
        better = 0
        for k in range(count):
            better += draft.promise[k] > draft.promise[i] or (draft.promise[k] == draft.promise[i] and k < i)
        notes[i, FINALIST] = better < FINALISTS


@rule
def look_ahead(box, g, option, me, chance, room, draft, sums):
    """Play an option in an imagined game, let merchants play on, and add up what it changes."""
    left = 1 - play(box, g, option)  # whether the turn is still to be played
    sums[ENDS_TURN] += 1 - left
    for turns in range(LOOKS):
        play_out(box, g, MERCHANT, left, draft.options, room)
        left = 1
        if g.phase == OVER:
            gather_facts(box, g, draft.facts[AFTER])
        chances(box, g, draft.facts[AFTER], draft.odds)
        sums[CHANCE + turns] += PER_CHANCE * (draft.odds[me] - chance)
        if turns == 0:
            add_changes(box, draft.facts, me, sums)


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
def brief_views(boxes, views, dice, options, rooms, twins, drafts, notes):
    """Write the notes for each view."""
    for i in range(len(views)):
        count = legal(boxes[0], views[i], options[0])
        brief(boxes[0], views[i], dice[i], options[0], count, rooms[0], twins[0], drafts[0], notes[i])


def brief_on(views: Views, threads: int = 1) -> NDArray[np.int8]:
    """(views, MAX_OPTIONS * NOTES): the notes for each view."""
    size = len(views)
    notes = np.empty((size, MAX_OPTIONS, NOTES), np.int8)
    # Each thread works in the first of its slice; pages that nobody writes on cost nothing.
    rooms, twins, drafts = np.zeros(size, ROOM), np.zeros((size, 2), GAME), np.zeros(size, DRAFT)
    options = np.empty((size, MAX_OPTIONS), np.int64)
    own = (np.ascontiguousarray(views.games), views.dice, options, rooms, twins, drafts, notes)
    in_parallel(threads, brief_views, (make_box(views.ruleset),), own, GAMES_PER_THINKER)
    return notes.reshape(size, MAX_OPTIONS * NOTES)


def brief_batch(batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.int8]:
    """(rows, MAX_OPTIONS * NOTES): the notes for some games that are not over, whose dice stay as they are."""
    dice = batch.games["rng"][rows, CHOICES]
    views = Views(batch.ruleset, *batch.view(rows))
    batch.games["rng"][rows, CHOICES] = dice
    return brief_on(views, batch.threads)
