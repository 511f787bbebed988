"""What is said when the extra `train` is missing."""

from __future__ import annotations


def missing(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """An error in one line, with the remedy, for a module that could not be imported."""
    return ModuleNotFoundError(
        f"training needs {error.name}: pip install '.[train]' in the project's folder", name=error.name
    )
