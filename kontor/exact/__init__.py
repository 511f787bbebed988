"""Small games walked to their ends: exact values, best responses, equilibria."""

from kontor.exact.cfr import solve
from kontor.exact.tree import Tree, grow, records
from kontor.exact.values import best_response, exploitability, nash_conv, values

__all__ = ["Tree", "best_response", "exploitability", "grow", "nash_conv", "records", "solve", "values"]
