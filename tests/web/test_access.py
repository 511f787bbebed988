"""Every page passes the checks of axe, in light and dark colours, on a phone and on a desk."""

from __future__ import annotations

import random
import re

import pytest
from borneo_agents.arena import play_arena
from borneo_web.server.arena_folder import ArenaFolder
from web_games import Person, seats, served

from borneo_env.engine.state import SPECTATOR
from borneo_env.ruleset import Ruleset

TINY = Ruleset(players=3, tables="tiny")
LOOKS = [(360, "light", 9), (1280, "dark", 3)]  # width, colours, and how many of the pages
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is missing: pip install '.[dev]'"
    ).Axe()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """A page of every kind."""
    folder = tmp_path_factory.mktemp("arena")
    play_arena(["merchant", "random"], TINY, games=6, seed=1, out=folder, records=True, jobs=0)
    with served(tmp_path_factory.mktemp("games"), arena=ArenaFolder(folder)) as (games, address):
        name = games.begin(TINY, ["human", "random", "random"], ["Anna", "r 1", "r 2"], 3)
        over = games.begin(TINY, ["random"] * 3, ["r 0", "r 1", "r 2"], 3)
        anna, rng = Person(address, seats(games, name)[0]), random.Random(1)
        for _ in range(4):
            assert anna.wait() == "asked"
            anna.choose(rng)
        assert anna.wait() == "asked"
        watcher = Person(address, seats(games, over)[SPECTATOR])
        assert watcher.wait() == "over"
        seat, end = anna.address, watcher.address
        paths = ("/", f"{seat}?coach", f"{end}/replay", "/rules", "/arena", "/nothing", seat, f"{seat}/story", end)
        yield [address + path for path in paths]


@pytest.mark.parametrize(("width", "scheme", "pages"), LOOKS)
def test_axe_finds_nothing_to_complain_about(chromium, axe, addresses, width, scheme, pages):
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    for address in addresses[:pages]:
        page.goto(address)
        if address.endswith("/replay"):
            page.wait_for_selector("html[data-ready]")
        found = axe.run(page).response["violations"]
        told = [(one["id"], node["html"][:200]) for one in found for node in one["nodes"]]
        assert not told, (re.sub(r"[\w-]{32}", "KEY", address), told)
    context.close()
