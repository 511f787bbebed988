"""Borneo as a game of OpenSpiel. Importing this registers it: `pyspiel.load_game("borneo(players=4,edition=board)")`.

`Uniform` and `IsMcts` are OpenSpiel's bots as agents, such as `borneo_env.open_spiel:IsMcts:simulations=50`.
"""

try:
    import pyspiel  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"OpenSpiel needs {error.name}: pip install '.[open-spiel]' in the project's folder", name=error.name
    ) from None

from borneo_env.open_spiel.bots import Hosted, IsMcts, Uniform
from borneo_env.open_spiel.game import BorneoGame, BorneoState

__all__ = ["BorneoGame", "BorneoState", "Hosted", "IsMcts", "Uniform"]
