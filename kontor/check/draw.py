"""Many draws of chance from positions, by the very rule that draws in games. A template, as the loops."""

from __future__ import annotations

from kontor.compile import entry
from kontor.templates.loops import draw_outcome


@entry
def draw_many(boxes, games, options, count, drawn):
    """An outcome for each of the copies of a position in which chance decides."""
    for i in range(len(games)):
        drawn[i] = draw_outcome(boxes[0], games[i], options, count)
