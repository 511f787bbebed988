"""Functions written once for all games, bound to the functions of one.

A loop such as "play a random game" is a template: the names that a game gives (`legal`, `apply`, ...) are open in it,
as `OpenName`s that its module imports. `bind` makes a copy of a function with these names filled in, and of all that
it calls and that has open names too. What has none is shared by all games. A copy has the byte code, the file and the
lines of its template, so that breakpoints and tracebacks show it.

Passing the game's functions as arguments would compile, too; but Numba writes the address of a function into the type
of such an argument, so that machine code would never be found again by another process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock
from types import CellType, CodeType, FunctionType
from typing import Any

from kontor.compile.decorators import entry, rule

KINDS = {"rule": rule, "entry": entry}


class OpenName:
    """A name that each game fills in, with what it stands for."""

    def __init__(self, name: str, meaning: str) -> None:
        self.__name__ = self.open_name = name
        self.__doc__ = meaning

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.__name__} is a name for games to fill in: bind the function that calls it to one")

    def __repr__(self) -> str:
        return f"OpenName({self.__name__!r})"


class Binder:
    """Binds functions to one game: each of them once. Those of a module have one scope: its names, filled in."""

    def __init__(self, names: Mapping[str, Any], tag: str) -> None:
        self.names, self.tag = names, tag
        self._bound: dict[Any, Any] = {}
        self._scopes: dict[int, dict[str, Any]] = {}
        self._one_at_a_time = RLock()

    def __call__(self, function: Any) -> Any:
        """The function with its open names filled in; the same function, if it has none."""
        with self._one_at_a_time:
            if function not in self._bound:
                self._bound[function] = function  # for those that call themselves
                self._bound[function] = self._made(function) if self._has_open_names(function) else function
            return self._bound[function]

    def _has_open_names(self, function: Any, seen: frozenset[Any] = frozenset()) -> bool:
        """Whether a copy is needed: a name is open in it or in what it calls, or it is not compiled yet."""
        if not is_compiled(function) or _plain(function).compiled_as not in ("rule", "entry"):
            return True
        named = _used(_plain(function)).values()
        called = [value for value in named if _is_function(value) and value not in seen]
        return any(isinstance(value, OpenName) for value in named) or any(
            self._has_open_names(one, seen | {function}) for one in called
        )

    def _made(self, function: Any) -> Any:
        plain = _plain(function)
        scope = self._scopes.setdefault(id(plain.__globals__), dict(plain.__globals__))
        for name, value in _used(plain).items():
            if name in scope:
                scope[name] = self._value(value, plain.__globals__)
        cells = [CellType(self._value(cell.cell_contents, None)) for cell in plain.__closure__ or ()]
        copy = FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__, tuple(cells) or None)
        copy.__qualname__, copy.__module__ = f"{plain.__qualname__}[{self.tag}]", plain.__module__
        copy.__doc__ = plain.__doc__
        return KINDS[getattr(plain, "compiled_as", "rule")](copy)

    def _value(self, value: Any, scope: dict[str, Any] | None) -> Any:
        if isinstance(value, OpenName):
            return self.names[value.__name__]
        if not _is_function(value):
            return value
        if _plain(value).__globals__ is scope and value not in self._bound:  # a neighbour shares the scope
            self._bound[value] = value  # for one whose name a field has, too: `g.points` in `points`
            self._bound[value] = self._made(value)
        return self(value)


def _plain(function: Any) -> Any:
    return getattr(function, "py_func", function)


def _used(plain: FunctionType) -> dict[str, Any]:
    """The values that a function names: global ones, and those it closes over."""
    named = {name: plain.__globals__[name] for name in _names(plain.__code__) if name in plain.__globals__}
    return named | {f"cell {k}": cell.cell_contents for k, cell in enumerate(plain.__closure__ or ())}


def _is_function(value: Any) -> bool:
    return is_compiled(value) or _is_plain(value)


def is_compiled(value: Any) -> bool:
    """Whether something is a rule or an entry."""
    return hasattr(getattr(value, "py_func", value), "compiled_as")


def _is_plain(value: Any) -> bool:
    """Whether something is a function of somebody's game that is not compiled yet: a helper of its rules."""
    return type(value) is FunctionType and value.__module__.partition(".")[0] not in ("numba", "numpy", "kontor")


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def one_of(name: str, arguments: str, rules: Mapping[int, Callable[..., Any]], otherwise: Callable[..., Any]) -> Any:
    """A rule that does what the rule of a number does: compiled code calls no function of a table."""
    branches = "".join(f"    if key == {number}:\n        return rule_{number}({arguments})\n" for number in rules)
    text = f"def {name}(key, {arguments}):\n{branches}    return otherwise(key, {arguments})\n"
    scope = {f"rule_{number}": own for number, own in rules.items()} | {"otherwise": otherwise, "__name__": __name__}
    exec(compile(text, f"<{name}>", "exec"), scope)  # made above of numbers alone
    made: Any = scope[name]
    return rule(made)
