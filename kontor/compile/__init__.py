"""How functions become machine code, and how that is kept. Nothing here knows a game."""

from kontor.compile.decorators import INTERPRETED, attributes, entry, machine_code, rule

__all__ = ["INTERPRETED", "attributes", "entry", "machine_code", "rule"]
