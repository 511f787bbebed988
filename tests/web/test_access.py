"""Every page passes the checks of axe, in light and dark colours, on a phone and on a desk."""

from __future__ import annotations

import json
import random
import re
import shutil

import pytest
from borneo_agents.arena import play_arena
from borneo_agents.policy.agent import SHIPPED
from borneo_web.server.arena_folder import ArenaFolder
from borneo_web.server.training_folder import TrainingFolder
from web_games import TINY, Person, seats, served

from borneo_env.engine.state import SPECTATOR

PHONE, DESK = (360, "light"), (1280, "dark")
EVERY_OTHER = {PHONE: slice(0, None, 2), DESK: slice(1, None, 2)}  # so that each page is looked at once
MEASURED = {"measure": "win share", "against": "merchant", "value": 0.2, "low": 0.15, "high": 0.261}
EVALUATION = {"steps": 10_000_000, "strength": [MEASURED | {"players": players} for players in (3, 4, 5)]}
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
    training = tmp_path_factory.mktemp("training")
    (training / "curve.jsonl").write_text(json.dumps(EVALUATION) + "\n")
    shutil.copytree(SHIPPED, training / "best")
    looked_at = {"arena": ArenaFolder(folder), "training": TrainingFolder(training)}
    with served(tmp_path_factory.mktemp("games"), **looked_at) as (games, address):
        name = games.begin(TINY, ["human", "random", "random"], ["Anna", "r 1", "r 2"], 3)
        lobby = f"/games/{games.begin(TINY, ['human', 'human', 'random'], ['Mia', 'Ben', 'r 2'], 3)}"
        over = games.begin(TINY, ["random"] * 3, ["r 0", "r 1", "r 2"], 3)
        anna, rng = Person(address, seats(games, name)[0]), random.Random(1)
        for _ in range(4):
            assert anna.wait() == "asked"
            anna.choose(rng)
        assert anna.wait() == "asked"
        watcher = Person(address, seats(games, over)[SPECTATOR])
        assert watcher.wait() == "over"
        seat, end = anna.address, watcher.address
        paths = (
            f"{seat}?coach=yes",
            "/",
            "/rules",
            lobby,
            f"{end}/replay",
            f"{seat}/story",
            "/arena",
            "/nothing",
            end,
            "/training",
            "/?edition=chess&against=policy",
        )
        yield [address + path for path in paths]


@pytest.mark.parametrize("look", EVERY_OTHER, ids=["phone", "desk"])
def test_axe_finds_nothing_to_complain_about(chromium, axe, addresses, look):
    complain_about(chromium, axe, addresses[EVERY_OTHER[look]], *look)


@pytest.mark.soak
@pytest.mark.parametrize("width", [360, 1280, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page_in_any_look(chromium, axe, addresses, width, scheme):
    complain_about(chromium, axe, addresses, width, scheme)


def complain_about(chromium, axe, addresses, width, scheme):
    """Fail with what axe has to say about some pages."""
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    for address in addresses:
        page.goto(address)
        if address.endswith("/replay"):
            page.wait_for_selector("html[data-ready]")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page fits"
        wide = page.locator(".scrolls").evaluate_all("all => all.map((one) => one.scrollWidth - one.clientWidth)")
        assert not any(wide) or "against=" in page.content(), "names and numbers stand side by side"
        found = axe.run(page).response["violations"]
        told = [(one["id"], node["html"][:200]) for one in found for node in one["nodes"]]
        assert not told, (re.sub(r"[\w-]{32}", "KEY", address), told)
    context.close()
