"""Runs the documents' examples with other libraries: blocks marked `py`, which `make test` cannot run."""

import re
import warnings
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "environments.md"


def main():
    warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested using version")
    blocks = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2, f"{PAGE.name} has {len(blocks)} examples with other libraries, not 2"
    for block in blocks:
        exec(block, {})
    print(f"{PAGE.name}: {len(blocks)} examples run")


if __name__ == "__main__":
    main()
