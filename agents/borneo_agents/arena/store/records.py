"""Records of the games of a match, made by playing their actions again with the forced moves written down."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.match import lay_out
from borneo_agents.arena.play.outcomes import PlayedChunk
from borneo_agents.arena.store.folder import RECORDS, UNFINISHED
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import NOBODY
from borneo_env.record import Line, header, result_line, step_and_record, write_record


def write_records(folder: Path, tournament: Tournament, played: PlayedChunk) -> None:
    """Write a record of each game; those lost by a fault go, as far as they went, into a folder of their own."""
    (folder / RECORDS / UNFINISHED).mkdir(parents=True, exist_ok=True)
    for outcome, lines in zip(played.outcomes, records(tournament, played), strict=True):
        finished = outcome["offender"] == NOBODY
        place = folder / RECORDS if finished else folder / RECORDS / UNFINISHED
        write_record(place / f"game{outcome['game']:07}.jsonl", lines)


def records(tournament: Tournament, played: PlayedChunk) -> list[list[Line]]:
    """The record of each game of a match; without a result where the game was lost by a fault."""
    batch = lay_out(tournament, played.deals)
    names = [[tournament.agents[agent] for agent in seats] for seats in played.outcomes["seats"]]
    written = [
        [header(tournament.ruleset, game, seated, tournament.seed)]
        for game, seated in zip(batch.games, names, strict=True)
    ]
    left = [iter(actions.tolist()) for actions in played.actions]
    while True:
        moves = batch.forced()
        for i in np.flatnonzero((moves == NO_ACTION) & (batch.player != NOBODY)):
            moves[i] = next(left[i], NO_ACTION)
        if (moves == NO_ACTION).all():
            break
        step_and_record(batch, moves, written)
    for i in np.flatnonzero(batch.player == NOBODY):
        written[i].append(result_line(batch, int(i)))
    return written
