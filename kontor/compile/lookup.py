"""Private parts of other packages: tables of them, and what is missing of one."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from inspect import unwrap
from types import FunctionType
from typing import Any, NamedTuple


class Private(NamedTuple):
    """Something that is no promise of its package: where it is, since which version, and what it is used for."""

    module: str
    name: str
    since: str
    used_for: str


def look_up_all(table: Iterable[Private]) -> tuple[dict[str, Any], list[str]]:
    """What a table names, by the first part of each name, and the full names of what is missing."""
    found, missing = {}, []
    for one in table:
        try:
            found[one.name.partition(".")[0]] = look_up(one)
        except (AttributeError, ImportError):
            missing.append(f"{one.module}.{one.name}")
    return found, missing


def look_up(one: Private) -> Any:
    """The first part of a name; AttributeError or ImportError if any part of it is missing.

    What follows a function is an attribute or a name that it must use; after `__init__`, that of any base class may.
    """
    first, *parts = one.name.split(".")
    whole = found = getattr(import_module(one.module), first)
    for part in parts:
        if not hasattr(found, "__code__"):
            found = getattr(found, part)
        elif not any(part in function.__code__.co_names for function in _of_bases(whole, found)):
            raise AttributeError(f"{one.module}.{one.name} is missing")
    return whole


def _of_bases(kind: type, function: FunctionType) -> list[FunctionType]:
    """A function of a class, and those of its name that its base classes have, without what decorates them."""
    found = [vars(base)[function.__name__] for base in kind.__mro__ if function.__name__ in vars(base)]
    return [unwrap(one) for one in found if isinstance(one, FunctionType)]
