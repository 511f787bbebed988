"""Whether a game is one: what `kontor check` runs, for authors and their tests."""

from kontor.check.report import Failed, Finding, Report
from kontor.check.run import check_game

__all__ = ["Failed", "Finding", "Report", "check_game"]
