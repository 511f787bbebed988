"""Runs the examples of a section of docs/ecosystem.md: blocks marked `py`, which `make test` cannot run."""

import re
import warnings
from pathlib import Path
from typing import Annotated

import typer

PAGE = Path(__file__).parents[2] / "docs" / "ecosystem.md"


def main(section: Annotated[str, typer.Argument(help="A heading of the page, such as TorchRL.")]):
    warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested using version")
    page = PAGE.read_text(encoding="utf-8")
    (text,) = re.findall(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks, f"{PAGE.name} has no example under {section}"
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    print(f"{section}: examples run: {len(blocks)}")


if __name__ == "__main__":
    typer.run(main)
