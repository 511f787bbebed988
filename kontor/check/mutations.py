"""Faults: a game's own source with one comparison, sum or number of a rule changed."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from kontor.check.chance import rules_of
from kontor.check.report import Trial
from kontor.game import Game

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
SUMS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A game's file with one fault in it."""

    file: str
    function: str
    line: int
    change: str  # what became what
    place: int  # which of the changes of the function it is

    def __str__(self) -> str:
        return f"{self.function}, {Path(self.file).name}:{self.line}: {self.change}"


def mutants_of(game: Game, most: int, seed: int) -> list[Mutant]:
    """Some of all faults of one change that the functions of a game's own modules can have, in their order."""
    every = list(all_mutants(game))
    chosen = sorted(Random(seed).sample(range(len(every)), min(most, len(every))))
    return [every[k] for k in chosen]


def all_mutants(game: Game) -> Iterator[Mutant]:
    """Every fault of one change."""
    trial = Trial(next(iter(game.Ruleset.every())), 1, 0)
    own = home_of(game)
    functions = sorted(
        {
            (function.__code__.co_filename, function.__code__.co_firstlineno, function.__name__)
            for function in rules_of(trial)
            if Path(function.__code__.co_filename).is_relative_to(own)
        }
    )
    for file, line, name in functions:
        function = _function(ast.parse(Path(file).read_text(encoding="utf-8")), name, line)
        if function is not None:
            yield from (Mutant(file, name, *told, place) for place, (told, _) in enumerate(_changes(function)))


def home_of(game: Game) -> Path:
    """Where a game's own functions stand: its file, or the package that it is in."""
    module = _module_of(game)
    file = Path(str(module.__file__))
    depth = module.__name__.count(".")
    return file.parents[depth - 1] if depth else file


def _module_of(game: Game) -> ModuleType:
    place = game.place.rpartition(":")[0]
    if place in sys.modules:
        return sys.modules[place]
    return next(module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == place)


def mutated(source: str, mutant: Mutant) -> ast.Module:
    """The program with the fault in it."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == mutant.function:
            for place, ((line, change), put) in enumerate(_changes(node)):
                if (place, line, change) == (mutant.place, mutant.line, mutant.change):
                    put()
                    return ast.fix_missing_locations(tree)
    raise ValueError(f"{mutant} is not in the file any more")


def _function(tree: ast.Module, name: str, line: int) -> ast.FunctionDef | None:
    """A function by its name and its first line, which may be that of a decorator."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if line in (node.lineno, *(decorator.lineno for decorator in node.decorator_list)):
                return node
    return None


Change = tuple[tuple[int, str], Callable[[], None]]


def _changes(function: ast.FunctionDef) -> Iterator[Change]:
    """Every change of a function: its line and words, and what makes it."""
    for part in function.body:
        for node in ast.walk(part):
            if isinstance(node, ast.Compare):
                for k, sign in enumerate(node.ops):
                    if type(sign) in COMPARISONS:
                        yield _replaced(node, node.ops, k, COMPARISONS[type(sign)]())
            elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in SUMS:
                yield _changed(node, "op", SUMS[type(node.op)]())
            elif isinstance(node, ast.BoolOp):
                yield _changed(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
            elif isinstance(node, ast.Constant) and type(node.value) is int:
                yield _changed(node, "value", node.value + 1)


def _replaced(node: ast.expr, signs: list[Any], k: int, new: Any) -> Change:
    before = ast.unparse(node)
    changed = deepcopy(node)
    changed.ops[k] = new  # type: ignore[attr-defined]
    return (node.lineno, f"{before} -> {ast.unparse(changed)}"), lambda: signs.__setitem__(k, new)


def _changed(node: ast.expr | ast.stmt, name: str, new: Any) -> Change:
    changed = deepcopy(node)
    setattr(changed, name, new)
    return (node.lineno, f"{ast.unparse(node)} -> {ast.unparse(changed)}"), lambda: setattr(node, name, new)
