"""Replays: pages of recorded games, made when somebody asks for them and kept for a while."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from starlette.responses import HTMLResponse

from borneo_env.record import Line
from borneo_web.replay import Replay
from borneo_web.replay.page import policy

KEPT = 24  # pages, of up to a megabyte each
THINKER = "merchant"  # says what it thinks of every decision


class Replays:
    """The last pages that were asked for. One is made at a time: it takes seconds, and games go on beside it."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, name: str, record: Callable[[], Sequence[Line]]) -> str:
        """The page of this name; what it is made of is asked for if it is not there. Raises RecordError."""
        with self._lock:
            if name not in self._pages:
                self._pages[name] = Replay.of(record(), thoughts=[THINKER]).html()
            self._pages.move_to_end(name)
            while len(self._pages) > KEPT:
                self._pages.popitem(last=False)
            return self._pages[name]

    def find(self, name: str) -> str | None:
        """The page of this name, if it is still there."""
        with self._lock:
            return self._pages.get(name)


def replay_answer(page: str) -> HTMLResponse:
    """A replay with a policy of its own: of all scripts, the one in the page runs."""
    return HTMLResponse(page, headers={"content-security-policy": f"{policy()}; frame-ancestors 'none'"})
