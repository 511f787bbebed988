"""The film of the README: some turns of a game in a browser, as a GIF. `make film` makes it anew; it needs Chromium.

A merchant plays in the place of the person: a pointer goes to what its choice is about, and clicks it.
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
from borneo_web.server.game.choices import parts_of
from borneo_web.server.live_game import LiveGame
from borneo_web.server.live_games import LiveGames
from borneo_web.server.process import BackgroundProcess
from borneo_web.server.serve import Server, settings
from PIL import Image, ImageChops
from playwright.sync_api import Locator, Page, sync_playwright

from borneo_env.agent import Views, find_agent
from borneo_env.engine.actions import Move
from borneo_env.ruleset import Ruleset

OUT = Path(__file__).parent / "pictures" / "browser.gif"
SEED, DECISIONS, SKIPPED = 12, 4, 9  # decisions that are filmed, after some that are not
WINDOW, ZOOM = {"width": 1010, "height": 720}, 1  # as large as READMEs show it, so that letters stay as large
COLOURS = 128
LARGEST = 1_500_000  # bytes
LOOK, WAY, CLICK, READ = 1200, 60, 700, 1800  # milliseconds that a picture stays
EVERY = 600  # milliseconds between pictures of what others do
MOST = 9  # of them after a decision
STEPS_OF_WAY = 5  # pictures of the pointer on its way

# A pointer as people know it: browsers without a screen draw none.
POINTER = """() => {
  const pointer = document.createElement("div");
  pointer.id = "pointer";
  pointer.innerHTML = `<svg viewBox="0 0 16 22" width="30" height="41">
    <path d="M1 1V18L5.2 14.2L8 21L11 19.7L8.2 13.2H14Z" fill="#fff" stroke="#000" stroke-width="1.4"/></svg>`;
  Object.assign(pointer.style, { position: "fixed", left: "0", top: "0", zIndex: 99999, pointerEvents: "none" });
  document.documentElement.append(pointer);
}"""
MOVE = "([x, y]) => { document.getElementById('pointer').style.transform = `translate(${x}px, ${y}px)`; }"
ASKED = "#main[data-state=asked]:not(.showing)"


class Film:
    """Pictures of a page, each with the time it stays."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pictures: list[Image.Image] = []
        self._times: list[int] = []
        self._at = WINDOW["width"] * 0.6, WINDOW["height"] * 0.6

    def begin(self) -> None:
        self._page.evaluate(POINTER)
        self._page.evaluate(MOVE, self._at)

    def shoot(self, milliseconds: int) -> None:
        """Take a picture; one that is like the last one only makes that stay longer."""
        picture = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
        if self._pictures and not ImageChops.difference(picture, self._pictures[-1]).getbbox():
            self._times[-1] += milliseconds
        else:
            self._pictures.append(picture)
            self._times.append(milliseconds)

    def click(self, there: Locator) -> None:
        """Move the pointer to what is clicked, slower at the end, and click it."""
        there.scroll_into_view_if_needed()
        box = there.bounding_box()
        assert box is not None, "what is clicked can be seen"
        goal = box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 40)
        (left, top), (right, bottom) = self._at, goal
        for step in range(1, STEPS_OF_WAY + 1):
            part = 1 - (1 - step / STEPS_OF_WAY) ** 2
            self._page.evaluate(MOVE, (left + part * (right - left), top + part * (bottom - top)))
            self.shoot(WAY)
        self._at = goal
        there.dispatch_event("click")
        self.shoot(CLICK)

    def save(self, path: Path) -> None:
        """All pictures with the same colours: so what stays as it is takes no room."""
        palette = self._pictures[0].quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        first, *others = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in self._pictures]
        first.save(path, save_all=True, append_images=others, duration=self._times, loop=0, optimize=True, disposal=1)


def chosen(table: LiveGame) -> Move:
    """What a merchant would do in the place of the person."""
    batch = table.batch()
    action = int(find_agent("merchant").act(Views(batch.ruleset, *batch.view([0])))[0])
    return batch.actions.move(action, batch.phase_name())


def decide(page: Page, table: LiveGame, film: Film | None) -> None:
    """Click a choice, and what leads to it, one after the other; then watch what the others do."""
    move, number = chosen(table), table.choices
    option = page.locator(f'input[name=move][value="{move.text}"]')
    if film:
        film.shoot(LOOK)
        for part in parts_of(table.batch(), move):
            film.click(page.locator(f'#main [data-part="{part}"].live').first)
    if option.count() and not option.is_checked():
        option.dispatch_event("click")
    if film:
        film.shoot(READ)
        film.click(page.locator("#do"))
    else:
        page.locator("#do").dispatch_event("click")
    next_one = page.locator(f'{ASKED}:not(:has([name=decision][value="{number}"]))')
    taken = 0
    while not next_one.count():
        page.wait_for_timeout(EVERY)
        if film and taken < MOST:
            film.shoot(EVERY)
            taken += 1


def play(games: LiveGames, address: str, page: Page) -> Film:
    name = games.begin(Ruleset(players=4), [HUMAN, *["normal"] * 3], ["Anna", "Ben", "Chitra", "Dewi"], SEED)
    table, film = games.table(name), Film(page)
    page.goto(address + table.address(0))
    for decision in range(SKIPPED + DECISIONS):
        if decision == SKIPPED:
            page.evaluate("localStorage.removeItem('borneo-motion')")
            film.begin()
        elif decision == 0:
            page.evaluate("localStorage.setItem('borneo-motion', 'off')")
        page.wait_for_selector(ASKED)
        decide(page, table, film if decision >= SKIPPED else None)
    film.shoot(READ)
    return film


def main() -> None:
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        sys.exit("Chromium is missing: `make test-browser` installs it")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as engine:
        games = LiveGames(Path(folder))
        server = Server(settings(make_app(games, coach=BackgroundProcess(), reader=BackgroundProcess())), games.close)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        browser: Any = engine.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport=WINDOW, device_scale_factor=ZOOM)
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
