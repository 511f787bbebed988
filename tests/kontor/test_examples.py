"""The small games: how little they take."""

import ast
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def lines_of_code(path):
    """Lines of a file that are neither blank, comments, docstrings nor imports."""
    source = path.read_text(encoding="utf-8")
    left_out = (ast.Import, ast.ImportFrom)
    code = set()
    for node in ast.walk(ast.parse(source)):
        words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and not isinstance(node, left_out) and not words:
            code |= set(range(node.lineno, node.end_lineno + 1))
    text = source.splitlines()
    return sum(bool(text[number - 1].strip()) for number in code)


@pytest.mark.parametrize(("game", "most"), [("kuhn", 35), ("leduc", 70)])
def test_a_small_game_takes_few_lines(game, most):
    assert 20 < lines_of_code(EXAMPLES / f"{game}.py") <= most
