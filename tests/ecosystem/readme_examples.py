"""Runs the README's examples with other libraries: its blocks marked `py`, which `make test` cannot run."""

import re
import warnings
from pathlib import Path

README = Path(__file__).parent.parent.parent / "README.md"


def main():
    warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested using version")
    blocks = re.findall(r"^```py\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2, f"the README has {len(blocks)} examples with other libraries, not 2"
    for block in blocks:
        exec(block, {})
    print(f"README: {len(blocks)} examples run")


if __name__ == "__main__":
    main()
