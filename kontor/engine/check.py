"""Whether records are games that can be: for saved batches, for records written by hand, and for tests.

The compiled rules trust their records, so the range of every field is checked here first, and that who decides has
something to decide. A game may check more (`Game.wrongs`): that counts agree with where cards lie, say.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kontor.compile import attributes
from kontor.engine.records import copy_games
from kontor.game import Game
from kontor.ruleset import Ruleset
from kontor.templates import loops

Wrong = tuple[str, NDArray[np.bool_]]  # a statement, and in which games it is not true


class BrokenGame(ValueError):
    """A record that no game can have come to."""


def check_games(ruleset: Ruleset, games: NDArray[np.void]) -> None:
    """Raise BrokenGame, naming the game and what is wrong, unless all complete games are consistent."""
    game = ruleset.game
    check_type(game, games)
    _raise_first(wrong_ranges(game, games))
    _raise_first([("player is a player", games["player"] >= ruleset.players)])
    if game.wrongs:
        _raise_first(game.wrongs(ruleset, games))
    options = np.empty(game.most_options_of_all, np.int16)
    copies = attributes(copy_games(games))
    stuck = game.of(loops).first_stuck(attributes(game.box(ruleset)), copies, options)
    if stuck >= 0:
        raise BrokenGame(f"game {stuck}: not true: a game without a legal move is over")


def check_readable(ruleset: Ruleset, games: NDArray[np.void]) -> None:
    """Raise BrokenGame unless all games, complete or redacted, are such that they can be looked at."""
    check_type(ruleset.game, games)
    _raise_first(wrong_ranges(ruleset.game, games))
    if ruleset.game.unreadable:
        _raise_first(ruleset.game.unreadable(ruleset, games))


def check_type(game: Game, games: NDArray[np.void]) -> None:
    """Raise BrokenGame unless these are records of this version of the game."""
    if not isinstance(games, np.ndarray) or games.dtype != game.record or games.ndim != 1:
        raise BrokenGame(f"the records have other fields than this version's games of {game.title}")


def wrong_ranges(game: Game, games: NDArray[np.void]) -> Iterator[Wrong]:
    """Each field, and where it is out of its range."""
    for field in game.all_fields:
        values, low, high = games[field.name], field.low, field.high(game.seats)
        wrong = (values < low) | (values > high)
        if wrong.any():
            yield f"{field.name} is from {low} to {high}", _somewhere(wrong)

    if "padding" in (games.dtype.names or ()):
        yield "padding is nothing", _somewhere(games["padding"] != 0)


def _somewhere(wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each game whether it is wrong at any of the further axes."""
    return np.asarray(wrong.any(axis=tuple(range(1, wrong.ndim))))


def _raise_first(wrongs: Iterator[Wrong] | list[Wrong]) -> None:
    for statement, wrong in wrongs:
        if wrong.any():
            raise BrokenGame(f"game {int(np.argmax(wrong))}: not true: {statement}")
