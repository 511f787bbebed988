"""The film of the README: some turns of a game in a browser, as a GIF. `make film` makes it anew; it needs Chromium.

A merchant plays in the place of the person, by clicking what its choice is about.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from borneo_agents.human.game import HUMAN
from borneo_web.server.app import make_app
from borneo_web.server.choices import parts_of
from borneo_web.server.games import Games
from borneo_web.server.process import Process
from borneo_web.server.serve import Server, settings
from borneo_web.server.table import Table
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from borneo_env.agent import Views, find_agent
from borneo_env.ruleset import Ruleset

OUT = Path(__file__).parent / "pictures" / "browser.gif"
SEED, DECISIONS, SKIPPED = 12, 4, 9  # decisions that are filmed, after some that are not
MOST_STEPS = 4  # of what others do after each
WINDOW, SIZE = {"width": 1180, "height": 720}, (800, 488)
COLOURS = 128
LARGEST = 1_000_000  # bytes
LOOK, STEP, CLICK, READ = 1200, 1300, 800, 2200  # milliseconds that a picture stays


class Film:
    """Pictures of a page, each with the time it stays."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pictures: list[Image.Image] = []
        self._times: list[int] = []

    def shoot(self, milliseconds: int) -> None:
        self._page.evaluate("scrollTo(0, 0)")
        picture = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
        self._pictures.append(picture)
        self._times.append(milliseconds)

    def save(self, path: Path) -> None:
        """All pictures with the same colours: so what stays as it is takes no room."""
        palette = self._pictures[0].quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        first, *others = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in self._pictures]
        first.save(path, save_all=True, append_images=others, duration=self._times, loop=0, optimize=True, disposal=1)


def chosen(table: Table) -> str:
    """What a merchant would do in the place of the person."""
    batch = table.batch()
    action = int(find_agent("merchant").act(Views(batch.ruleset, *batch.view([0])))[0])
    return batch.actions.text(action, batch.phase_name())


def decide(page: Page, table: Table, film: Film | None) -> None:
    """Click a choice, and what leads to it, one after the other; then watch what the others do."""
    batch, number = table.batch(), table.choices
    moves = [chosen(table)]
    if film:
        film.shoot(LOOK)
    for part in parts_of(batch, moves[0]):
        page.locator(f'#board [data-part="{part}"].live').first.dispatch_event("click")
        if film:
            film.shoot(CLICK)
    if not page.locator("input[name=move]:checked").count() and page.locator(f'input[value="{moves[0]}"]').count():
        page.check(f'input[value="{moves[0]}"]')
    if film:
        page.wait_for_selector("#preview:not(:empty)")
        film.shoot(READ)
    page.click("#do")
    page.wait_for_selector(f'#main:not(:has([name=decision][value="{number}"]))', state="attached")
    page.wait_for_selector("#main[data-state=asked], #main[data-state=over]")
    if film and page.is_visible("#again"):
        watch(page, film)


def watch(page: Page, film: Film) -> None:
    """What the others did, step by step."""
    page.click("#again")
    page.wait_for_selector("#step button")
    steps = 0
    while page.is_visible("#step button"):
        if steps < MOST_STEPS:
            film.shoot(STEP)
        steps += 1
        page.click("#step button")
        time.sleep(0.1)
    page.wait_for_selector("#step[hidden]", state="attached")


def play(games: Games, address: str, page: Page) -> Film:
    name = games.begin(Ruleset(players=4), [HUMAN, *["normal"] * 3], ["Anna", "Ben", "Chitra", "Dewi"], SEED)
    table, film = games.table(name), Film(page)
    page.goto(address + table.address(0))
    for decision in range(SKIPPED + DECISIONS):
        page.wait_for_selector("#main[data-state=asked]")
        decide(page, table, film if decision >= SKIPPED else None)
    film.shoot(READ)
    return film


def main() -> None:
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        sys.exit("Chromium is missing: `make test-browser` installs it")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as engine:
        games = Games(Path(folder))
        server = Server(settings(make_app(games, coach=Process(), reader=Process())), games.close)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        browser: Any = engine.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport=WINDOW, reduced_motion="reduce")
        film = play(games, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", page)
        browser.close()
        server.should_exit = True
        thread.join()
    film.save(OUT)
    size = OUT.stat().st_size
    print(f"{OUT}: {size:,} bytes")
    if size > LARGEST:
        sys.exit(f"it should have at most {LARGEST:,}")


if __name__ == "__main__":
    main()
