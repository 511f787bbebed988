"""Borneo, Paolo Mori's game of spice traders, as a reinforcement-learning environment.

`Batch` is the engine: thousands of games as NumPy records, stepped by compiled rules. `Ruleset` says which Borneo is
played. The rules are in RULES.md beside this file.
"""

from borneo_env.cards import TableError, Tables, load_tables
from borneo_env.engine.batch import NO_ACTION, Batch, BatchFileError, IllegalMove
from borneo_env.engine.hidden import SPECTATOR, redact, resample
from borneo_env.engine.state import GAME, PHASES
from borneo_env.ruleset import Ruleset, RulesetError, every_ruleset

__version__ = "0.1.0"

__all__ = [
    "GAME",
    "NO_ACTION",
    "PHASES",
    "SPECTATOR",
    "Batch",
    "BatchFileError",
    "IllegalMove",
    "Ruleset",
    "RulesetError",
    "TableError",
    "Tables",
    "every_ruleset",
    "load_tables",
    "redact",
    "resample",
]
