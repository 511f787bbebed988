"""Replay: a recorded game as a page in one file, for everybody or for what one seat may know."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from borneo_env.pieces import as_json
from borneo_env.record import Line, read_record
from borneo_env.render.picture import TAIL
from borneo_web.replay.eyes import Eyes, Parts, swings
from borneo_web.replay.page import page
from borneo_web.replay.recorded import Position, RecordedGame
from borneo_web.replay.thoughts import PER_MILLE, Track, thoughts, untracked, usual_agents
from kontor.engine.arguments import checked_seat
from kontor.files import write_file

FORMAT = "borneo-replay/2"
HEIGHT = 900  # pixels in a notebook


class Replay:
    """A game to step through in a browser; in a notebook it shows itself.

    `content` is what the page is made of, as plain lists and texts.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    @classmethod
    def of(
        cls,
        record: Sequence[Line],
        seat: int | None = None,
        *,
        thoughts: str | Sequence[str] | None = None,
        seed: int = 0,
        track: Track = untracked,
    ) -> Replay:
        """A recorded game; a record that is wrong raises RecordError, one that breaks off is shown as far as it goes.

        Arguments:
            record: its lines, as `read_record` and `record_games` give them.
            seat: the page holds what this player may know and nothing else (-1: a spectator); None: everything.
            thoughts: names of agents that say at every decision what they think of it; by default a merchant, and the
                policy where it was trained for the game.
            seed: of the chance that agents use, and of the deals of what a seat cannot see.
            track: sees the work go by, for a progress bar.
        """
        game = RecordedGame(record)
        if seat is not None:
            seat = checked_seat(seat, game.ruleset.players)
        seats = [None, *range(game.ruleset.players)] if seat is None else [seat]
        agents = (
            usual_agents(game.ruleset) if thoughts is None else [thoughts] if isinstance(thoughts, str) else thoughts
        )
        return cls(_content(game, [Eyes(game, one) for one in seats], agents, seed, track))

    def html(self) -> str:
        """The page."""
        return page(self.content)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, whole or not at all; returns its path."""
        write_file(path, self.html())
        return Path(path)

    def _repr_html_(self) -> str:
        """In a frame of its own, which can reach nothing of the notebook."""
        page = escape(self.html())
        style = f"width:100%;height:{HEIGHT}px;border:0"
        return f'<iframe title="A game of Borneo" sandbox="allow-scripts" srcdoc="{page}" style="{style}"></iframe>'


def write_replay(record: Path, page: Path) -> None:
    """Write the page of a record file: what an arena finds by the entry-point group `borneo.replays`."""
    Replay.of(read_record(record)).save(page)


def _content(
    game: RecordedGame, watching: Sequence[Eyes], agents: Sequence[str], seed: int, track: Track
) -> dict[str, Any]:
    """All that the page shows. What only some may know is here only if somebody who watches knows it."""
    parts, views = Parts(), []
    knowing = {eyes.seat for eyes in watching}
    # options tell what is in a hand
    decisions = game.decisions(range(game.ruleset.players) if None in knowing else knowing)
    for eyes in track(watching, "pictures"):
        probabilities = eyes.win_probabilities(seed)
        views.append(
            {
                "name": eyes.name,
                "seat": eyes.seat,
                "pictures": parts.add(eyes.pictures()),
                "win": (PER_MILLE * probabilities).round().astype(int).tolist(),
                "moments": swings(probabilities, game.settled(), game.finished),
            }
        )
    return {
        "format": FORMAT,
        "title": watching[0].title,
        "cards": [[*card.flags, card.spice, card.count] for card in game.ruleset.tables.cargo],
        "names": game.names,
        "finished": game.finished,
        "head": next(watching[0].pictures()).head(),
        "parts": parts.contents,
        "tail": TAIL,
        "views": views,
        "points": game.points(),
        "turns": [position.turn for position in game.positions],
        "jumps": game.jumps(),
        "story": [_story(position, knowing) for position in game.positions],
        "players": game.games["player"].tolist(),
        "decisions": [
            decision and {"options": [*map(as_json, decision.options)], "played": decision.played}
            for decision in decisions
        ],
        "thoughts": thoughts(game, decisions, agents, seed, track),
    }


def _story(position: Position, knowing: set[int | None]) -> list[tuple[Any, ...]]:
    """What led to a position, as far as somebody who watches knows it: pieces, how they are told, and who alone is."""
    told = (one for one in position.told if one.seat is None or {None, one.seat} & knowing)
    return [
        (as_json(one.pieces), "heading" if one.heading else "quiet" if one.quiet else "move", one.seat) for one in told
    ]
