"""A small playable game to begin with, and a test beside it."""

from __future__ import annotations

from keyword import iskeyword
from pathlib import Path

TEXTS = Path(__file__).parent / "new_game_files"


def write_new_game(file: Path) -> list[Path]:
    """Write a game and its test; returns what was written. Nothing that exists is touched."""
    name = file.name.removesuffix(".py")
    if not name.isidentifier() or iskeyword(name) or not name.islower():
        raise ValueError(f"{file.name} cannot be a game's file: take a name such as my_game.py")
    texts = {
        file.with_name(f"{name}.py"): (TEXTS / "game.py.txt").read_text(encoding="utf-8"),
        file.with_name(f"test_{name}.py"): (TEXTS / "test_game.py.txt").read_text(encoding="utf-8"),
    }
    for path in texts:
        if path.exists():
            raise ValueError(f"{path} is there already: take another name, or remove it")
    for path, text in texts.items():
        own = text.replace("MY_GAME", name.upper()).replace("my_game", name)
        path.write_text(own.replace("My Game", name.replace("_", " ").title()), encoding="utf-8")
    return list(texts)
