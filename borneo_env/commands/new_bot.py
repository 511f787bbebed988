"""The command `borneo new-bot`."""

from __future__ import annotations

import json
from keyword import iskeyword
from pathlib import Path
from typing import Annotated

import typer

from borneo_env.console import AsJson
from kontor.files import in_short, write_file

TEXTS = Path(__file__).parent / "new_bot_files"


def new_bot(
    file: Annotated[Path, typer.Argument(help="The file to write, such as my_bot.py.")] = Path("my_bot.py"),
    as_json: AsJson = False,
) -> None:
    """Write a bot to begin with, and a test beside it."""
    module = file.name.removesuffix(".py")
    if not module.isidentifier() or iskeyword(module):
        raise ValueError(f"{in_short(file.name)} cannot be imported by Python: take a name such as my_bot.py")
    kind = "".join(part.capitalize() for part in module.split("_"))
    texts = {
        file.with_name(f"{module}.py"): (TEXTS / "bot.py.txt").read_text(encoding="utf-8"),
        file.with_name(f"test_{module}.py"): (TEXTS / "test_bot.py.txt").read_text(encoding="utf-8"),
    }
    for path in texts:
        if path.exists():
            raise ValueError(f"{path} is there already: take another name, or remove it")
    for path, text in texts.items():
        write_file(path, text.replace("MyBot", kind).replace("my_bot", module))
    if as_json:
        print(json.dumps({"files": [str(path) for path in texts], "agent": f"{module}:{kind}"}))
    else:
        print("\n".join(f"wrote {path}" for path in texts))
        print(f"try it: borneo arena {module}:{kind} random --lineups challenge --games 1000")
