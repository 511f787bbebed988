"""The file of a finished chunk of games, which is checked when it is read: it may be a stranger's."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.calls import FAULTS, LONGEST_REASON
from borneo_agents.arena.play.outcomes import Forfeit, PlayedChunk, Trace, impossible_field, outcome_type
from borneo_env.engine.state import NOBODY
from kontor.files import parse_json, read_bytes
from kontor.traces import LONGEST_TRACE

PARTS = ("outcomes", "faults", "seconds", "traces")
OVERHEAD = 2**16  # bytes of a chunk beside its games


def chunk_bytes(played: PlayedChunk) -> bytes:
    """What the file of a chunk holds."""
    faults = np.array(json.dumps([list(fault) for fault in played.faults]))
    traces = np.array(json.dumps([list(trace) for trace in played.traces]))
    packed = io.BytesIO()
    np.savez_compressed(packed, outcomes=played.outcomes, faults=faults, seconds=played.seconds, traces=traces)
    return packed.getvalue()


def read_chunk(path: Path, tournament: Tournament, deals: range) -> PlayedChunk:
    """The games of a chunk, checked; raises nearly anything if they are none."""
    kind = outcome_type(tournament.ruleset.players)
    games = len(deals) * tournament.block
    largest = OVERHEAD + games * (kind.itemsize + 64 * LONGEST_REASON) + 8 * len(tournament.agents)
    largest += 64 * LONGEST_TRACE * len(FAULTS) * len(tournament.agents)
    data = read_bytes(path, largest)
    _check_archive(data, largest)
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        outcomes, seconds = file["outcomes"], file["seconds"]
        faults = [Forfeit(*fault) for fault in parse_json(str(file["faults"]))]
        traces = [Trace(*trace) for trace in parse_json(str(file["traces"]))]
    if outcomes.dtype != kind or outcomes.shape != (games,):
        raise ValueError("it has games of another kind or number")
    _check_outcomes(outcomes, tournament, deals)
    _check_faults(faults, outcomes)
    _check_traces(traces, faults)
    if seconds.dtype != np.float64 or seconds.shape != (len(tournament.agents),) or not (seconds >= 0).all():
        raise ValueError("it has no seconds for each agent")
    return PlayedChunk(outcomes, faults, seconds, [], traces)


def _check_archive(data: bytes, largest: int) -> None:
    """What unpacks to something else than a chunk is refused before it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = archive.infolist()
    if sorted(file.filename for file in files) != sorted(f"{name}.npy" for name in PARTS):
        raise ValueError("it is no chunk of games")
    packings = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if sum(file.file_size for file in files) > largest or any(file.compress_type not in packings for file in files):
        raise ValueError("it unpacks to more than the games of a chunk")


def _check_outcomes(outcomes: Any, tournament: Tournament, deals: range) -> None:
    """Games that cannot have been these are refused; what only looks wrong is not."""
    own: dict[str, Any] = {
        "game": deals.start * tournament.block + np.arange(len(outcomes)),
        "deal": np.repeat(np.arange(deals.start, deals.stop), tournament.block),
        "seats": tournament.seats(deals),
    }
    if not all(np.array_equal(outcomes[name], wanted) for name, wanted in own.items()):
        raise ValueError("it has other games")
    if impossible := impossible_field(outcomes, tournament.ruleset.players):
        raise ValueError(f"it has games with an impossible {impossible}")
    if not (outcomes["places"].min(1) == 1).all():
        raise ValueError("it has games that nobody has won")


def _check_faults(faults: list[Forfeit], outcomes: Any) -> None:
    lost = outcomes[outcomes["offender"] != NOBODY]
    wanted = [(row["game"], row["offender"], row["seats"][row["offender"]]) for row in lost]
    known = all(f.kind in FAULTS and type(f.reason) is str and len(f.reason) <= LONGEST_REASON for f in faults)
    if not known or [fault[:3] for fault in faults] != wanted:
        raise ValueError("it has other faults than games lost by one")


def _check_traces(traces: list[Trace], faults: list[Forfeit]) -> None:
    """Each is that of a fault, and text that can do nothing to a terminal."""
    lost = {(fault.agent, fault.kind, fault.game) for fault in faults}
    for trace in traces:
        if trace[:3] not in lost or type(trace.text) is not str or len(trace.text) > LONGEST_TRACE:
            raise ValueError("it has other tracebacks than those of its faults")
        if not trace.text.replace("\n", "").isprintable():
            raise ValueError("it has a traceback that is no printable text")
