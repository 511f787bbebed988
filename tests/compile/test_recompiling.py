"""What is compiled anew after an edit: machine code is found by the digest of what it is made of."""

import json
import re
import shutil
from pathlib import Path

import pytest
from copies import Copy

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "kontor": ROOT / "kontor",
    "borneo_env": ROOT / "borneo_env",
    "borneo_agents": ROOT / "agents" / "borneo_agents",
}

# Prints the digest of every function that Python calls compiled.
DIGESTS = """
import importlib, json, pkgutil
import borneo_agents, borneo_env
from numba.extending import is_jitted
from kontor.compile.digest import digest_of

found = {}
for package in (borneo_env, borneo_agents):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith((".window", ".plots", ".open_spiel")):  # which need more than the core
            for name, value in vars(importlib.import_module(module.name)).items():
                if is_jitted(value):
                    found[f"{value.py_func.__module__}.{name}"] = digest_of(value)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy")
    for name, source in PACKAGES.items():
        shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def digests(folder):
    return json.loads(Copy(DIGESTS, place=folder, folders=[folder], anew=True).said()[0])


def test_an_edit_compiles_what_it_can_reach_and_nothing_else(copy):
    before = digests(copy)
    bots = {name for name in before if name.startswith("borneo_agents.")}
    assert len(before) > 30 and len(bots) > 10 and all(before.values())
    replaced = 0
    for folder in ("borneo_agents/arena", "borneo_agents/statistics", "borneo_agents/human", "borneo_env/render"):
        for file in (copy / folder).rglob("*.py"):
            source = file.read_text(encoding="utf-8")
            numbers, count = re.subn(r"(?m)^([A-Z_]+ = )(\d+)(?=\s|$)", r"\g<1>1 + \2", source)  # other constants
            replaced += count
            file.write_text(f"{numbers}\n\nMORE = 7\n", encoding="utf-8")
    assert replaced > 20
    assert digests(copy) == before, "nothing that is compiled uses them"
    goods = copy / "borneo_agents" / "scripted" / "valuation" / "goods.py"
    source = goods.read_text(encoding="utf-8")
    assert source.count("now = prospects(") == 1
    goods.write_text(source.replace("now = prospects(", "now = 1 + prospects("), encoding="utf-8")
    after = digests(copy)
    changed = {name for name in before if before[name] != after[name]}
    assert {"act_games", "bots_play_games"} <= {one.split(".")[-1] for one in changed}
    assert changed <= bots, "the rules are not compiled again"
