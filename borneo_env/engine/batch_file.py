"""Kontor's batch files."""

from kontor.engine.batch_file import BatchFileError

__all__ = ["BatchFileError"]
