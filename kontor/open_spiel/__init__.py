"""Games as OpenSpiel has them. Importing this registers the installed ones: `pyspiel.load_game("kontor_kuhn")`, say.

`register` adds one of your own: `register(find_game("my_game.py:MY_GAME"))`.
"""

try:
    import pyspiel  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"OpenSpiel needs {error.name}: pip install '.[open-spiel]' in the project's folder", name=error.name
    ) from None

from kontor.game import find_game, game_names
from kontor.open_spiel.game import SpielGame, SpielState, register
from kontor.open_spiel.observer import Observer

__all__ = ["Observer", "SpielGame", "SpielState", "register"]

for installed in game_names():
    register(find_game(installed))
