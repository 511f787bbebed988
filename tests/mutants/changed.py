"""Tries the suite with simple mutations of the lines that were changed since a revision, and lists those that survive.

A comparison is turned, a constant is one more, `and` becomes `or`, a statement is left out. Each mutation is put into a
copy of the project by itself, and the tests that `TESTS` names for its file must notice it. Not every survivor is a
fault of the tests: some mutations change nothing that can be seen.

    python -m mutants.changed --base main      (with tests/ on the path)
"""

from __future__ import annotations

import ast
import copy
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from mutants.run import PROJECT, SURVIVED, Fault, report, try_them
from rich.console import Console

# The tests of a file by the beginning of its path: the first that fits. True: the rules run as plain Python.
TESTS: dict[str, tuple[str, bool]] = {
    "kontor/record.py": ("tests/kontor/test_record.py tests/test_record.py", False),
    "kontor/chance.py": ("tests/kontor/test_chance.py tests/test_chance.py", False),
    "kontor/open_spiel/": ("tests/spiel", False),
    "borneo_env/engine/rules/": ("tests/rules", True),
    "borneo_env/engine/": ("tests/rules tests/engine", True),
    "kontor/compile/": ("tests/compile", False),
    "kontor/templates/": ("tests/rules tests/engine tests/kontor", True),
    "kontor/engine/": ("tests/engine tests/kontor", True),
    "kontor/gpu/": ("tests/gpu", False),
    "kontor/check/": ("tests/kontor/test_check.py", False),
    "kontor/files.py": ("tests/test_files.py", False),
    "kontor/": ("tests/kontor", False),
    "borneo_env/gpu/": ("tests/gpu", False),
    "borneo_env/cards/": ("tests/test_cards.py tests/test_ruleset.py", False),
    "borneo_env/render/": ("tests/test_render.py tests/test_animation.py tests/test_scenes.py", False),
    "borneo_env/screen.py": ("tests/test_render.py", False),
    "borneo_env/open_spiel/": ("tests/spiel", False),
    "borneo_env/commands/": ("tests/test_cli.py", False),
    "borneo_env/console.py": ("tests/test_cli.py", False),
    "borneo_env/pieces.py": ("tests/test_story.py tests/test_record.py", False),
    "borneo_env/outcomes.py": ("tests/agents/arena", False),
    "borneo_env/traces.py": ("tests/agents/arena", False),
    "borneo_env/__init__.py": ("tests/test_aec.py tests/test_reprs.py", False),
    "borneo_env/": ("tests/test_{name}.py", False),
    "agents/borneo_agents/cluster.py": ("tests/cluster", False),
    "agents/borneo_agents/warm_up.py": ("tests/test_cli.py", False),
    "agents/borneo_agents/__init__.py": ("tests/agents", False),
    "agents/borneo_agents/commands/": ("tests/agents", False),
    "agents/borneo_agents/": ("tests/agents/{folder}", False),
    "train/borneo_train/": ("tests/train", False),
    "web/borneo_web/": ("tests/web", False),
    "benchmarks/borneo_bench/": ("tests/test_cli.py", False),
}
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SECONDS = 300  # until tests are taken to hang
LEFT_OUT = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Continue, ast.Break, ast.Delete)


def named_tests(file: str) -> tuple[tuple[str, ...], bool]:
    """The tests that are named for a file, and whether they run interpreted; none for what is no source."""
    path = Path(file)
    for beginning, (tests, interpreted) in TESTS.items():
        if file.startswith(beginning):
            return tuple(tests.format(name=path.stem, folder=(*path.parts, "")[2]).split()), interpreted
    return (), False


def changed_lines(diff: str) -> dict[str, set[int]]:
    """The numbers of new and changed lines by file, from what `git diff -U0` prints."""
    found: dict[str, set[int]] = {}
    for file, first, count in re.findall(r"^\+\+\+ b/(.*)$|^@@ \S+ \+(\d+)(?:,(\d+))? @@", diff, re.MULTILINE):
        if file:
            lines = found.setdefault(file, set())
        else:
            lines.update(range(int(first), int(first) + int(count or 1)))
    return found


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it, but for types and f-strings: those are not run, or have no place in Python 3.11."""
    yield node
    left_out = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    for child in ast.iter_child_nodes(node):
        if child not in left_out and not isinstance(child, ast.JoinedStr):
            yield from nodes(child)


def mutated(node: ast.AST) -> ast.AST | None:
    """The mutation of a node; None where it has none."""
    other = copy.deepcopy(node)
    match other:
        case ast.Compare(ops=[op, *_]) if type(op) in TURNED:
            other.ops[0] = TURNED[type(op)]()
        case ast.BoolOp():
            other.op = ast.Or() if isinstance(other.op, ast.And) else ast.And()
        case ast.Constant(value=bool(value)):
            other.value = not value
        case ast.Constant(value=int(value) | float(value)):
            other.value = value + 1
        case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(), *_]):
            return None  # a docstring; without a name, what uses it would fail: nothing is learnt
        case _:
            return ast.Pass() if isinstance(other, LEFT_OUT) else None
    return other


def mutations(source: str, lines: set[int]) -> Iterator[tuple[int, str, str, str]]:
    """Line, old text, new text and the whole new source of each mutation that begins in one of these lines."""
    rows = [row.encode() for row in source.splitlines(keepends=True)]
    for node in nodes(ast.parse(source)):
        if getattr(node, "lineno", None) not in lines or (new := mutated(node)) is None:
            continue
        begin = sum(map(len, rows[: node.lineno - 1])) + node.col_offset
        end = sum(map(len, rows[: node.end_lineno - 1])) + node.end_col_offset
        whole, text = source.encode(), ast.unparse(ast.fix_missing_locations(new))
        text = f"({text})" if isinstance(new, ast.BoolOp) else text
        changed = (whole[:begin] + text.encode() + whole[end:]).decode()
        yield node.lineno, whole[begin:end].decode(), text, changed


def faults_since(base: str) -> list[Fault]:
    """A fault for each mutation of the source that was changed since a revision."""
    command = ["git", "diff", "-U0", "--no-color", "--no-ext-diff", "--diff-filter=d", base, "--", "*.py"]
    git = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    if git.returncode:
        raise typer.BadParameter(git.stderr.strip(), param_hint="--base")
    faults = []
    for file, lines in changed_lines(git.stdout).items():
        tests, interpreted = named_tests(file)
        source = (PROJECT / file).read_text(encoding="utf-8")
        for line, old, new, changed in mutations(source, lines) if tests else ():
            name = f"{file}:{line}: {' '.join(old.split())} -> {new}"
            faults.append(Fault(file.split("/")[0], name, file, source, changed, tests, interpreted))
    return faults


def main(
    base: Annotated[str, typer.Option(help="The revision since which lines were changed.")] = "main",
    only: Annotated[str, typer.Option(help="Only mutations with this text in their file.")] = "",
    jobs: Annotated[int, typer.Option(min=1, help="How many to try at a time.")] = 1,
) -> None:
    """Mutate the lines changed since a revision, one place at a time; list the mutations that no test notices."""
    faults = [fault for fault in faults_since(base) if only in fault.file]
    console = Console()
    if not faults:
        console.print(f"No line of the source that can be mutated was changed since {base}.")
        return
    verdicts = try_them(console, faults, jobs, SECONDS)
    report(console, verdicts)
    raise typer.Exit(not verdicts or any(verdict.outcome == SURVIVED for verdict in verdicts))


if __name__ == "__main__":
    typer.run(main)
