"""Kontor's state of a batch."""

from kontor.engine.batch_state import LAST_NUMBER, BatchState, checked_first, checked_seed, make_run

__all__ = ["LAST_NUMBER", "BatchState", "checked_first", "checked_seed", "make_run"]
