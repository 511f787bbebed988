"""The pages of an arena and of a training on a phone: names and numbers side by side, without scrolling."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from borneo_web.server.arena_folder import ArenaFolder
from borneo_web.server.training_folder import TrainingFolder
from web_games import served

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: no browser is tried")
pytestmark = pytest.mark.browser

AGENTS = ("contractor", "merchant", "random")


def estimate(value: float, low: float, high: float, method: str = "bootstrap") -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "method": method}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[str]:
    """The address of a server with an arena and a training."""
    folder = tmp_path / "run"
    (folder / "records").mkdir(parents=True)
    row = {"win_share": estimate(0.0, 0.0, 0.161, "wilson"), "place": estimate(3.0, 2.7, 3.0, "wilson"),
           "points": estimate(39.0, 37.0, 41.0), "seats": 24000}  # fmt: skip
    (folder / "results.json").write_text(json.dumps({"standings": [row | {"agent": agent} for agent in AGENTS]}))
    heads = [f"{what} {seat}" for what in ("agent", "score", "place") for seat in range(3)]
    games = "".join(f"{game},,,{','.join(AGENTS)},46,5,23,1,3,2\n" for game in range(9))
    (folder / "games.csv").write_text(f"game,fault,reason,{','.join(heads)}\n{games}")
    (folder / "records" / "game0000003.jsonl").touch()
    point = {"measure": "win share", "against": "merchant", "value": 0.2, "low": 0.15, "high": 0.261}
    strength = [point | {"players": players} for players in (3, 4, 5)]
    curve = [json.dumps({"steps": steps, "strength": strength}) for steps in (0, 10_000_000)]
    (folder / "curve.jsonl").write_text("\n".join(curve))
    with served(tmp_path / "games", arena=ArenaFolder(folder), training=TrainingFolder(folder)) as (_, address):
        yield address


def test_tables_fit_a_phone(library: str, chromium: Any) -> None:
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    for path, tables in (("/arena", 2), ("/training", 1)):
        page.goto(library + path)
        wide = page.locator(".scrolls").evaluate_all("all => all.map((one) => one.scrollWidth - one.clientWidth)")
        assert wide == [0] * tables and page.evaluate("document.documentElement.scrollWidth") == 360
    page.goto(f"{library}/arena")
    cells = page.locator("[aria-label=Standings] td:first-child")
    assert cells.all_inner_texts() == list(AGENTS)
    lines = """all => all.map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return range.getClientRects().length;
    })"""
    assert cells.evaluate_all(lines) == [1, 1, 1], "no name is broken"
    context.close()
