"""The notebooks run from top to bottom, and what is saved in them says nothing about the machine they ran on."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from traitlets import default

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
MACHINE = re.compile(r"/(?:tmp|home|root|Users|usr|var|opt|mnt|work)/|\b[A-Z]:\\|site-packages")
LONGEST = 600  # seconds for a cell: the first one may compile the rules and the bots
LARGEST = 1_500_000  # bytes of a notebook, so that code hosts show it

# What `make test` runs with fewer games; `make soak` runs the notebooks as they are.
SMALLER = {
    "01_the_game_and_the_environment": {"games < 2_000": "games < 200"},
    "02_bots_and_the_arena": {
        "games=800": "jobs=0, games=96",
        "games=2000": "jobs=0, games=48",
        "games=500": "games=48",
    },
    "03_training": {
        "steps=49_152": "steps=1_536",
        "games=384": "games=24",
        "minibatch=512": "minibatch=64",
        "evaluate_every=12_288": "evaluate_every=768",
        "evaluation_games=100": "evaluation_games=8",
        "games=200": "games=48",
        "Batch(40,": "Batch(4,",
        ">= 50]": ">= 5]",
    },
    "04_a_hundred_thousand_games": {"100_000": "1_000", "10_000": "200", "4_000": "200"},
}

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


class OwnKernel(AsyncKernelManager):
    """Starts the Python that runs the tests, whatever kernels are installed."""

    @default("kernel_spec_manager")
    def _knows_no_other(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[])


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def outputs(notebook: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    return (output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)


def texts(output: nbformat.NotebookNode) -> Iterator[str]:
    """All that can be read in an output; pixels cannot."""
    yield output.get("text", "")
    yield "\n".join(output.get("traceback", []))
    yield from (str(data) for kind, data in output.get("data", {}).items() if kind != "image/png")


def test_there_are_notebooks():
    assert NOTEBOOKS


def with_fewer_games(notebook: nbformat.NotebookNode, fewer: dict[str, str]) -> nbformat.NotebookNode:
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for old, new in fewer.items():
        assert any(old in cell.source for cell in cells), f"{old} is not in the notebook"
        for cell in cells:
            cell.source = cell.source.replace(old, new)
    return notebook


def run(notebook: nbformat.NotebookNode, folder: Path) -> None:
    NotebookClient(notebook, kernel_manager_class=OwnKernel, timeout=LONGEST).execute(cwd=str(folder))
    warnings = [text for output in outputs(notebook) for text in texts(output) if "Warning" in text]
    assert not warnings


def test_notebooks_run_with_fewer_games(tmp_path):
    """One after the other, by a kernel that is started once and forgets all names in between."""
    sources = []
    for path in NOTEBOOKS:
        cells = with_fewer_games(read(path), SMALLER[path.stem]).cells
        sources += [*(cell.source for cell in cells if cell.cell_type == "code"), "%reset -f"]
    run(nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, sources)]), tmp_path)


@pytest.mark.soak
@each_notebook
def test_notebook_runs(path, tmp_path):
    run(read(path), tmp_path)


@each_notebook
def test_notebook_was_saved_with_its_outputs(path):
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell.outputs for cell in cells)
    assert path.stat().st_size < LARGEST


@each_notebook
def test_notebook_says_nothing_about_a_machine(path):
    notebook = read(path)
    found = [MACHINE.findall(text) for output in outputs(notebook) for text in texts(output)]
    assert not any(found), found
    assert not any(output.get("name") == "stderr" for output in outputs(notebook))
    assert not any(cell.metadata for cell in notebook.cells), "clear the metadata: it holds times"
