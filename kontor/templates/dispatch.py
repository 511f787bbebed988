"""One game: the dispatch on the phase. `legal` lists what may be done, `apply` does it. Templates, as the loops."""

from __future__ import annotations

from typing import Any

from kontor.compile import entry, rule
from kontor.compile.binding import OpenName
from kontor.fields import OVER

legal_in = OpenName("legal_in", "legal_in(phase, box, g, options): what may be done, by the function of a phase")
apply_in = OpenName("apply_in", "apply_in(phase, box, g, action): do it, by the function of a phase")
weight_in = OpenName("weight_in", "weight_in(phase, box, g, outcome): how likely an outcome is")
note_turn = OpenName("note_turn", "note_turn(g): note that a turn has begun, if one has")
over_phase = OpenName("over_phase", "the number of the last phase, in which nobody decides")


@entry
def legal(box, g, options):
    """Write the legal actions, or outcomes, into `options`, ascending; returns how many there are."""
    if g.player == OVER:
        return 0
    return legal_in(int(g.phase), box, g, options)


@entry
def apply(box, g, action):
    """Carry out a legal action, or bring an outcome, and all that follows from it."""
    apply_in(int(g.phase), box, g, action)
    if g.player == OVER:
        g.phase = over_phase
    else:
        note_turn(g)


@rule
def weight(box, g, outcome):
    return weight_in(int(g.phase), box, g, outcome)


@rule
def turn_of_who_decides(g):
    """A turn is what a player decides before another does: for games that do not say when one begins."""
    if g.player >= 0 and g.player != g.turn:
        g.turn = g.player
        g.turns += 1


def with_a_first_turn(setup: Any) -> Any:
    """A setup, after which the first turn has begun if a player decides."""

    @rule
    def deal(box, g):
        setup(box, g)
        turn_of_who_decides(g)

    return deal


@rule
def turn_by_the_rules(g):
    """The rules count turns themselves."""


@rule
def equally_likely(key, box, g, outcome):
    return 1


@rule
def no_options(key, box, g, options):
    return 0


@rule
def nothing_to_do(key, box, g, action):
    pass
