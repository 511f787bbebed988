"""What a game's own bots lend to searches: how they play on, and what they think of a position."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kontor.compile.binding import Binder, one_of
from kontor.templates import bots as templates

RANDOM = "random"  # the bot that every game has
NOTHING = np.dtype([("nothing", "i8")])
Rule = Callable[..., Any]


@dataclass(frozen=True)
class SearchBots:
    """The bots of a game whose rules are compiled into searches. Without any, all play at random.

    Arguments:
        rules: by name (box, g, options, count, dice, scratch): one of the `count` legal actions in `options`, on a
            view or on a complete game alike; `dice` are 64 random bits.
        usual: the name of the bot that plays on if nobody says which.
        scratch: the type of the record that they work in; compiled rules allocate nothing.
        begin: (scratch): forget what the last search was about.
        estimate: (box, g, scratch, out): write each player's share of the win as it is to be expected in a complete
            game that is not over. Without it games are played to their ends.
    """

    rules: Mapping[str, Rule] = field(default_factory=dict)
    usual: str = RANDOM
    scratch: np.dtype[np.void] = NOTHING
    begin: Rule | None = None
    estimate: Rule | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All that play, each by its number for `choose`."""
        return (RANDOM, *self.rules)

    def open_names(self, bind: Binder) -> dict[str, Any]:
        """What searches call of them."""
        rules = {self.names.index(name): bind(own) for name, own in self.rules.items()}
        return {
            "choose": one_of("choose", "box, g, options, count, dice, scratch", rules, templates.any_option),
            "begin_bots": bind(self.begin or templates.nothing_to_forget),
            "estimate": bind(self.estimate or templates.no_estimate),
        }
