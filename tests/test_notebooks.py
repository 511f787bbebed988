"""The notebooks run from top to bottom, and what is saved in them says nothing about the machine they ran on."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
import matplotlib.pyplot as plt
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
LONG = ("03_training",)  # `make test` does not run it: tests/train has all it does

# What `make test` runs with fewer games; `make soak` runs the notebooks as they are.
SMALLER = {
    "01_the_game_and_the_environment": {"games < 2_000": "games < 200"},
    "02_bots_and_the_arena": {
        "games=800": "jobs=0, chunk=48, games=48",
        "games=2000": "jobs=0, chunk=48, games=48",
        "games=500": "jobs=0, chunk=48, games=48",
        "size=500": "size=50",
    },
    "03_training": {
        "timesteps=786_432": "timesteps=384",
        "n_envs=384": "n_envs=12",
        "batch_size=384": "batch_size=12",
        "evaluation_games=400": "evaluation_games=4",
        "games=200": "jobs=0, chunk=48, games=48",
        "Batch(40,": "Batch(4,",
        ">= 50]": ">= 5]",
    },
    "04_a_hundred_thousand_games": {"100_000": "1_000", "10_000": "100", "4_000": "100"},
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


def run_here(notebook: nbformat.NotebookNode) -> None:
    """Run it in this process, which has loaded already what a kernel would have to load."""
    names: dict[str, object] = {}
    try:
        for cell in notebook.cells:
            if cell.cell_type == "code":
                run_cell(cell.source, names)
    finally:
        plt.close("all")
        for value in names.values():
            if isinstance(value, TemporaryDirectory):
                value.cleanup()


def run_cell(source: str, names: dict[str, object]) -> None:
    *body, last = ast.parse(source).body
    shown = isinstance(last, ast.Expr) and not source.endswith(";")
    exec(compile(ast.Module(body if shown else [*body, last], []), "notebook", "exec"), names)
    if shown:
        show(eval(compile(ast.Expression(last.value), "notebook", "eval"), names))
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


def show(value: object) -> None:
    """What a notebook does with the last value of a cell."""
    ways = [getattr(value, name) for name in ("_repr_svg_", "_repr_markdown_", "_repr_html_") if hasattr(value, name)]
    assert value is None or (ways or [value.__repr__])[0]()


def run(notebook: nbformat.NotebookNode, folder: Path) -> None:
    NotebookClient(notebook, kernel_manager_class=OwnKernel, timeout=LONGEST).execute(cwd=str(folder))
    warnings = [text for output in outputs(notebook) for text in texts(output) if "Warning" in text]
    assert not warnings


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=pytest.mark.soak if path.stem in LONG else ()) for path in NOTEBOOKS],
)
def test_notebook_runs_with_fewer_games(path, tmp_path, monkeypatch):
    """Without a kernel: notebooks need none to show that they run."""
    notebook = with_fewer_games(read(path), SMALLER[path.stem])
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context({"backend": "agg"}):
        run_here(notebook)


@each_notebook
def test_cells_of_a_notebook_are_programs_and_import_what_there_is(path):
    imports = [
        node
        for cell in with_fewer_games(read(path), SMALLER[path.stem]).cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert imports
    exec(compile(ast.Module(imports, []), "notebook", "exec"), {})


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
