"""What a seat sees of a table: what lies on it, and news; all made from the game without what it may not know."""

from __future__ import annotations

from typing import Any

import numpy as np

from borneo_env.engine.hiding import redact
from borneo_env.engine.state import SPECTATOR
from borneo_env.render.scene import Scene
from borneo_web.server.game.board import contracts, ladders, piles, ports
from borneo_web.server.game.players import hand, opponents, own
from borneo_web.server.game.underway import underway
from borneo_web.server.game.words import phrase, sentence
from borneo_web.server.html import Html, tag
from borneo_web.server.live_game import LiveGame

RECENT = 12  # lines of the story that a spectator is shown
MOST_STEPS = 60  # that are shown one after the other


def scene_of(table: LiveGame, seat: int, game: np.void) -> Scene:
    """A position for the eyes of a seat."""
    return Scene(table.game.batch.ruleset, redact(game, seat), seat, "", table.game.names)


def pieces(scene: Scene) -> dict[str, list[Html]]:
    """Everything that lies on the table, by its place there. Each piece has an id, so that another can replace it."""
    seat = scene.seat if scene.seat is not None and scene.seat >= 0 else None
    return {
        "opponents": opponents(scene),
        "sea": [ladders(scene), *ports(scene)],
        "supply": [contracts(scene), piles(scene)],
        "own": [] if seat is None else [own(scene, seat)],
        "hand": [] if seat is None else [hand(scene, seat)],
        "underway": [underway(scene)],
    }


def known_before(table: LiveGame, seat: int) -> int:
    """How much of the story a seat knows: what came before the end of its last turn; whoever watches, all but some."""
    return max(0, len(table.game.told) - RECENT) if seat == SPECTATOR else table.game.end_of_turn(seat)


def news(table: LiveGame, seat: int) -> list[Html]:
    """What has happened since the end of the seat's last turn, told as far as the seat may know it."""
    return story(table, seat, known_before(table, seat))


def story(table: LiveGame, seat: int, since: int = 0) -> list[Html]:
    """All that has happened since so much was told."""
    lines = table.game.news(seat, since)
    return [tag("li", sentence(table, seat, line.pieces), class_="turn" if line.heading else None) for line in lines]


def steps(table: LiveGame, seat: int, since: int) -> list[dict[str, Any]]:
    """What has happened since so much was told, step by step: words, who acted, and the pieces that changed."""
    with table.lock:
        positions = sorted(table.game.positions.items())
        lines_told = list(table.game.told)
    shown: list[dict[str, Any]] = []
    before: list[Html] = []
    player = next((int(game["player"]) for count, game in reversed(positions) if count <= since), SPECTATOR)
    start = since
    for count, game in [pair for pair in positions if pair[0] > since][-MOST_STEPS:]:
        lines = [line for line in lines_told[start:count] if line.seat in (None, seat)]
        start = count
        if lines:
            words = [phrase(table, seat, line.pieces) for line in lines]
            drawn = [piece for place in pieces(scene_of(table, seat, game)).values() for piece in place]
            changed = [piece for piece in drawn if piece not in before]
            shown.append({"told": words, "who": player, "turn": int(game["turn"]), "pieces": changed})
            before = drawn
        player = int(game["player"])
    return shown
