"""Briefing: what a policy is told about each of its options.

The merchant's opinion, and what the option changes once it is played, and paid for if it is a contract: every player's
facts and the chance to win that the search bots judge by (see `chances`), in an imagined game that the deciding player
cannot tell from the real one. Options come in the order of their actions; what is missing is 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import MERCHANT
from borneo_agents.chances import FACTS, chances, gather_facts
from borneo_agents.room import ROOM
from borneo_agents.scripted import choose, list_options
from borneo_agents.search import play
from borneo_env.agent import Views
from borneo_env.engine.batch import Batch
from borneo_env.engine.dice import roll, scramble
from borneo_env.engine.game import MAX_OPTIONS, legal
from borneo_env.engine.hidden import resample_game
from borneo_env.engine.jit import attributes, entry, rule
from borneo_env.engine.state import CHOICES, GAME, OVER, PAY, SEATS, THINGS, make_box

# What is noted of an option: the merchant's opinion, the change of the own chance, whether it ends the turn, and the
# changes of the own facts and of the others' mean.
ADVICE, CHANCE, ENDS_TURN, OWN = range(4)
OTHERS = OWN + FACTS
NOTES = OTHERS + FACTS

ADVISED = 127  # the merchant's opinion of what it would play itself
AS_GOOD = 120  # and of another option that is worth as much
PER_POINT = 20.0  # how much less for each point that an option is worth less
PER_CHANCE, PER_FACT = 500.0, 8.0
MOST = 127

IMAGINED, TRIED = range(2)
BEFORE, AFTER = range(2)

# The room to brief in: an imagined game and one with an option played, scratch paper, facts before and after.
DRAFT = np.dtype(
    [
        ("facts", "f8", (2, SEATS, FACTS)),
        ("odds", "f8", (SEATS,)),
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
    twins[IMAGINED] = g
    resample_game(twins[IMAGINED], me, scramble(dice, np.uint64(0)) | np.uint64(1), draft.unseen)
    chances(box, twins[IMAGINED], draft.facts[BEFORE], draft.odds)
    chance = draft.odds[me]
    for i in range(count):
        twins[TRIED] = twins[IMAGINED]
        play(box, twins[TRIED], options[i])
        finish(box, twins[TRIED], me, draft.options, room)
        if twins[TRIED].phase == OVER:
            gather_facts(box, twins[TRIED], draft.facts[AFTER])
        chances(box, twins[TRIED], draft.facts[AFTER], draft.odds)
        notes[i, CHANCE] = cut(PER_CHANCE * (draft.odds[me] - chance))
        notes[i, ENDS_TURN] = twins[TRIED].turn != g.turn
        write_changes(box, draft.facts, me, notes[i])


@rule
def finish(box, g, me, options, room):
    """Play what is forced, and let the merchant pay for a contract that was chosen."""
    count = legal(box, g, options)
    while g.phase != OVER and (count == 1 or (g.phase == PAY and g.player == me)):
        play(box, g, choose(MERCHANT, box, g, options, count, np.uint64(0), room))
        count = legal(box, g, options)


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
def write_changes(box, facts, me, note):
    """Write how the facts of the decider have changed, and those of the others on average."""
    for fact in range(FACTS):
        note[OWN + fact] = cut(PER_FACT * (facts[AFTER, me, fact] - facts[BEFORE, me, fact]))
        others = 0.0
        for player in range(box.players):
            if player != me:
                others += facts[AFTER, player, fact] - facts[BEFORE, player, fact]
        note[OTHERS + fact] = cut(PER_FACT * others / (box.players - 1))


@rule
def cut(value):
    """The nearest whole number that a note can hold."""
    return int(np.rint(min(float(MOST), max(-float(MOST), value))))


@entry
def brief_views(boxes, views, dice, options, rooms, twins, drafts, notes):
    """Write the notes for each view."""
    for i in range(len(views)):
        count = legal(boxes[0], views[i], options)
        brief(boxes[0], views[i], dice[i], options, count, rooms[0], twins, drafts[0], notes[i])


@entry
def brief_games(boxes, blank, runs, games, desks, masks, rows, options, rooms, twins, drafts, notes):
    """Write the notes for some games, whose dice stay as they are."""
    for k in range(len(rows)):
        g = games[rows[k]]
        stream = g.rng[CHOICES]
        dice = roll(g)
        g.rng[CHOICES] = stream
        count = list_options(desks[rows[k]], options[0])
        brief(boxes[0], g, dice, options[0], count, rooms[0], twins[0], drafts[0], notes[k])


def brief_on(views: Views) -> NDArray[np.int8]:
    """(views, MAX_OPTIONS * NOTES): the notes for each view."""
    notes = np.empty((len(views), MAX_OPTIONS, NOTES), np.int8)
    box, games = attributes(make_box(views.ruleset)), attributes(np.ascontiguousarray(views.games))
    room, twins, draft = map(attributes, (np.zeros(1, ROOM), np.zeros(2, GAME), np.zeros(1, DRAFT)))
    brief_views(box, games, views.dice, np.empty(MAX_OPTIONS, np.int64), room, twins, draft, notes)
    return notes.reshape(len(views), MAX_OPTIONS * NOTES)


class Briefing:
    """Writes notes on the options in the games of a batch, which it leaves as they are."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        size = len(batch)  # each thread works in the first of its slice
        self._options = np.empty((size, MAX_OPTIONS), np.int64)
        self._rooms, self._twins, self._drafts = np.zeros(size, ROOM), np.zeros((size, 2), GAME), np.zeros(size, DRAFT)

    def notes(self, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        """(rows, MAX_OPTIONS * NOTES): the notes for some games that are not over."""
        notes = np.empty((len(rows), MAX_OPTIONS, NOTES), np.int8)
        scratch = (part[: len(rows)] for part in (self._options, self._rooms, self._twins, self._drafts))
        self._batch.play(brief_games, rows, (), (*scratch, notes))
        return notes.reshape(len(rows), MAX_OPTIONS * NOTES)
