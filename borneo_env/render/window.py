"""PictureWindow: where `render_mode="human"` shows a game. Needs the extra `render`."""

from __future__ import annotations

import os
import time
from math import ceil

from borneo_env.render.chart import HEIGHT, WIDTH
from borneo_env.render.picture import Picture
from borneo_env.render.pixels import extra

SECONDS = 0.5  # how long a position stays at least, so that a game can be followed
LARGEST_SHARE = 0.86  # of the screen: bars and menus need their room
SMALLEST = 320


class PictureWindow:
    """A window that fits the screen. When its user closes it, it stays closed and costs no time."""

    def __init__(self) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame greets on stdout
        self._pygame = extra("pygame")
        self._closed_by_user = False
        self._shown_until = 0.0
        try:
            self._open()
        except self._pygame.error as error:
            raise RuntimeError(f"no window can be opened: {error}; render_mode='rgb_array' needs none") from error

    def _open(self) -> None:
        display = self._pygame.display
        display.init()
        across, down = display.get_desktop_sizes()[0]
        self._width = max(SMALLEST, int(min(WIDTH, LARGEST_SHARE * min(across, down * WIDTH / HEIGHT))))
        display.set_mode((self._width, ceil(self._width * HEIGHT / WIDTH)))
        display.set_caption("Borneo")

    def show(self, picture: Picture) -> None:
        """Put a picture into the window, once the last one has been there long enough."""
        self._attend()
        if self._closed_by_user:
            return
        pixels = picture.rgb(self._width)
        while time.monotonic() < self._shown_until and not self._closed_by_user:
            time.sleep(0.02)
            self._attend()
        if not self._closed_by_user:
            drawn = self._pygame.surfarray.make_surface(pixels.swapaxes(0, 1))
            self._pygame.display.get_surface().blit(drawn, (0, 0))
            self._pygame.display.flip()
            self._shown_until = time.monotonic() + SECONDS

    def _attend(self) -> None:
        """Answer the window's user. Another environment may have closed the one window that pygame has."""
        if self._closed_by_user:
            return
        if self._pygame.display.get_surface() is None:
            self._open()
        if any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
            self.close()
            self._closed_by_user = True

    def close(self) -> None:
        self._pygame.display.quit()
