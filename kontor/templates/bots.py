"""What plays and estimates where a game has no bots of its own. Templates, as the loops."""

from __future__ import annotations

import numpy as np

from kontor.compile import rule
from kontor.templates.dice import HALF, LOW


@rule
def any_option(kind, box, g, options, count, dice, scratch):
    """Any legal action, each with the same chance."""
    return options[int(((dice & LOW) * np.uint64(count)) >> HALF)]


@rule
def nothing_to_forget(scratch):
    pass


@rule
def no_estimate(box, g, scratch, out):
    pass
