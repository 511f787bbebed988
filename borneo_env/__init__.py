"""Borneo, Paolo Mori's game of spice traders, as a reinforcement-learning environment.

`Batch` is the engine: thousands of games as NumPy records, stepped by compiled rules. `Ruleset` says which Borneo is
played. The rules are in RULES.md beside this file.
"""

import gymnasium
import pettingzoo

from borneo_env.aec import env, raw_env
from borneo_env.bot import Bot
from borneo_env.cards import TableError, Tables, load_tables
from borneo_env.engine.batch import Batch, IllegalMove
from borneo_env.engine.hiding import redact, resample
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import GAME, PHASES, SPECTATOR
from borneo_env.ruleset import Ruleset, RulesetError, every_ruleset
from borneo_env.seat import BorneoEnv
from borneo_env.vector import BorneoVectorEnv, Seats
from kontor.engine.batch_file import BatchFileError

__version__ = "0.1.0"

__all__ = [
    "GAME",
    "NO_ACTION",
    "PHASES",
    "SPECTATOR",
    "Batch",
    "BatchFileError",
    "BorneoEnv",
    "BorneoVectorEnv",
    "Bot",
    "IllegalMove",
    "Ruleset",
    "RulesetError",
    "Seats",
    "TableError",
    "Tables",
    "env",
    "every_ruleset",
    "load_tables",
    "raw_env",
    "redact",
    "resample",
]


def __dir__() -> list[str]:
    """The public names: what `dir` and completion show."""
    return ["__version__", *__all__]


gymnasium.register(
    id="Borneo-v0",
    entry_point="borneo_env.seat:BorneoEnv",
    vector_entry_point="borneo_env.vector:BorneoVectorEnv",
)
if hasattr(pettingzoo, "register"):  # older versions have no registry
    pettingzoo.register("aec", "borneo_v0", "borneo_env.aec:env")
