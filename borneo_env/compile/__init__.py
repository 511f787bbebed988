"""How rules become machine code, and how that is kept. It knows no game."""

from borneo_env.compile.decorators import INTERPRETED, announcer, attributes, entry, machine_code, rule

__all__ = ["INTERPRETED", "announcer", "attributes", "entry", "machine_code", "rule"]
