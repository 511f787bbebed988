"""Replays: pages of recorded games. Each takes seconds, so that they are made beside the server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from borneo_env.record import Line, RecordError, parse_record
from borneo_web.replay import Replay
from borneo_web.replay.page import policy, with_way_back
from borneo_web.server.live_game import Refused
from borneo_web.server.long_work import LongWork, Worker

if TYPE_CHECKING:  # whose package takes a while, and few servers need it
    from borneo_web.server.arena_folder import ArenaFolder

KEPT = 24  # pages, of up to a megabyte each
MOST, EACH = 16, 4  # that are waited for, by all people and by one


def replays(worker: Worker) -> LongWork:
    """The last pages that were asked for."""
    return LongWork(worker, "The maker of replays", most=MOST, each=EACH, kept=KEPT)


def replay_of(record: Sequence[Line]) -> str:
    """The page of a record; Refused if it is wrong."""
    with _refused():
        return Replay.of(record).html()


def replay_of_sent(body: bytes) -> str:
    """The page of a record that somebody has sent."""
    with _refused():
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            raise RecordError(1, "the file is not text in UTF-8") from None
        return replay_of(parse_record(text))


def replay_of_arena(arena: ArenaFolder, number: int | None) -> str:
    """The page of a game that an arena has recorded."""
    with _refused():
        record = None if number is None else arena.record(number)
    if record is None:
        raise Refused(404, "There is no record of this game. `borneo arena --records` writes them.")
    return replay_of(record)


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except RecordError as error:
        words = f"Records are files that end in .jsonl, and this one is wrong: {error}"
        raise Refused(422, words) from None


def replay_answer(page: str, words: str, address: str) -> HTMLResponse:
    """A replay with a link back to where it was opened, and a policy of its own: of all scripts, the one in it runs."""
    page = with_way_back(page, words, address)  # not in what is kept: an address of a seat has its key in it
    return HTMLResponse(page, headers={"content-security-policy": f"{policy()}; frame-ancestors 'none'"})
