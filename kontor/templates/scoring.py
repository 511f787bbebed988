"""How a game begins, places and winners, where a game does not say its own. Templates, as the loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kontor.compile import rule
from kontor.fields import CHANCE
from kontor.templates.open_names import place_of, score


@rule
def chance_begins(box, g):
    g.phase, g.player = 0, CHANCE


@rule
def first_player_begins(box, g):
    g.phase, g.player = 0, 0


def all_of(ids: tuple[int, ...]) -> Any:
    """A rule by which all of these actions are legal."""
    n = len(ids)

    @rule
    def legal(box, g, options):
        for k in range(n):
            options[k] = ids[k]
        return n

    return legal


@rule
def place_by_points(box, g, player):
    """The more points, the better the place; equal players share theirs."""
    own, place = score(box, g, player), 1
    for other in range(box.players):
        if score(box, g, other) > own:
            place += 1
    return place


@rule
def first_place(box, g, player):
    """Whoever is first has won."""
    return place_of(box, g, player) == 1


@rule
def always(box, g, seat):
    return True


def noting(results: Sequence[tuple[str, Callable[..., Any]]]) -> Any:
    """A rule that notes further results of each player on the desk."""
    if not results:
        return _nothing
    (name, value), others = results[0], noting(results[1:])

    @rule
    def note(box, g, desk):
        for player in range(box.players):
            desk[name][player] = value(box, g, player)
        others(box, g, desk)

    return note


@rule
def _nothing(box, g, desk):
    pass
