"""Folder: where an arena keeps its games, so that a run that was stopped can go on.

settings.json   what is played: a run with other settings is refused here
chunks/         the finished games, chunk by chunk, as plain .npz files
records/        a record of each game, if asked for; unfinished/ has the games lost by a fault, up to there
replays/        a page of each recorded game, if asked for
agents.log      what agents have printed, and the tracebacks of their faults
results.json, games.csv, report.html            once all is played
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
import time
import zipfile
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from borneo_agents.arena.chairs import FAULTS, LONGEST_REASON
from borneo_agents.arena.match import Fault, Played, Trace, outcome_type
from borneo_agents.arena.sources import IN_NO_FILE, digest_of_program
from borneo_agents.arena.tournament import Tournament
from borneo_env.engine.batch_state import LAST_NUMBER
from borneo_env.engine.state import NOBODY
from borneo_env.files import (
    FileError,
    in_short,
    make_folder,
    on_one_line,
    parse_json,
    read_bytes,
    read_text,
    remove_half_written,
    write_file,
)
from borneo_env.record import RULESET_KEYS
from borneo_env.traces import LONGEST_TRACE

SETTINGS, CHUNKS, RECORDS, UNFINISHED, LOG = "settings.json", "chunks", "records", "unfinished", "agents.log"
REPLAYS = "replays"
RESULTS, GAMES, REPORT = "results.json", "games.csv", "report.html"
SOURCES, PROGRAM, CHUNK_SIZE = "sources", "program", "deals per chunk"
OLD = 3600  # seconds after which what is half written may go: arenas may share a folder
LARGEST_SETTINGS = 2**20  # bytes
PARTS = ("outcomes", "faults", "seconds", "traces")  # of a chunk
ROOM = 2**16  # bytes of a chunk beside its games


ANEW = "start anew with --fresh"
MOST_CHANGES = 5  # that are told


class FolderError(ValueError):
    """A folder that holds another run."""


def settings_of(tournament: Tournament, sources: dict[str, str], records: bool) -> dict[str, Any]:
    """What must not change between the parts of a run. The number of games may: a run can go on to more."""
    cards = json.dumps(asdict(tournament.ruleset.tables), sort_keys=True)
    return {
        "borneo-env": version("borneo-env"),
        "agents": list(tournament.agents),
        SOURCES: sources,
        PROGRAM: digest_of_program(),
        **{key: getattr(tournament.ruleset, key) for key in RULESET_KEYS},
        "cards": hashlib.sha256(cards.encode()).hexdigest()[:16],
        "seed": tournament.seed,
        "lineups": tournament.lineups,
        CHUNK_SIZE: tournament.chunk,
        "time limit": tournament.time_limit,
        "isolate": tournament.isolate,
        "records": records,
    }


class Folder:
    """The folder of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()  # agents may go elsewhere

    def clear(self) -> None:
        """Remove what an earlier run has left here, and nothing else."""
        for name in (CHUNKS, RECORDS, REPLAYS):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in (SETTINGS, LOG, RESULTS, GAMES, REPORT):
            (self.path / name).unlink(missing_ok=True)

    def deals_per_chunk(self) -> int | None:
        """The size of the chunks of the run that is kept here, if there is one."""
        saved = self.saved_settings()
        if saved is None:
            return None
        size = saved.get(CHUNK_SIZE)
        if type(size) is not int or not 1 <= size < LAST_NUMBER:
            raise FolderError(f"{self._settings}: {CHUNK_SIZE} is no number from 1: {in_short(size)}; {ANEW}")
        return size

    def saved_settings(self) -> dict[str, Any] | None:
        """The settings of the run that is kept here, if there is one. What they name is compared, and never used."""
        if not os.path.lexists(self._settings):
            return None
        try:
            settings = parse_json(read_text(self._settings, LARGEST_SETTINGS))
        except FileError as error:
            raise FolderError(f"{error}; {ANEW}") from None
        except ValueError as error:
            raise FolderError(f"{self._settings} cannot be read: {error}; {ANEW}") from None
        if not isinstance(settings, dict):
            raise FolderError(f"{self._settings} holds no settings; {ANEW}")
        return settings

    def open(self, settings: dict[str, Any]) -> None:
        """Begin a run here, or go on with one that has the same settings."""
        saved = self.saved_settings()
        make_folder(self.path / CHUNKS)
        self._sweep()
        if saved is None:
            self.write(SETTINGS, json.dumps(settings, indent=2) + "\n")
            return
        now = json.loads(json.dumps(settings))
        other = [key for key in {**now, **saved} if saved.get(key) != now.get(key)]
        if other:
            changes = "; ".join(_change(key, saved.get(key), now.get(key)) for key in other[:MOST_CHANGES])
            raise FolderError(
                f"{self.path} holds a run with other settings: {changes}. Games of both must not be mixed: "
                "use another --out, or --fresh to remove that run"
            )

    def write(self, name: str, text: str) -> None:
        """Write a whole file or, if the process ends meanwhile, none."""
        write_file(self.path / name, text)

    def log(self, text: str) -> None:
        """Write lines into the log, beside what agents have printed."""
        with open(self.path / LOG, "a", encoding="utf-8") as log:
            print(text, file=log)

    def save(self, deals: range, played: Played) -> None:
        """Keep a finished chunk."""
        faults = np.array(json.dumps([list(fault) for fault in played.faults]))
        traces = np.array(json.dumps([list(trace) for trace in played.traces]))
        packed = io.BytesIO()
        np.savez_compressed(packed, outcomes=played.outcomes, faults=faults, seconds=played.seconds, traces=traces)
        self.put(deals, packed.getvalue())

    def put(self, deals: range, content: bytes) -> None:
        """Keep a chunk that has been saved elsewhere; `load` says whether it is one."""
        write_file(self._chunk(deals), content)

    def take(self, deals: range) -> bytes:
        """A chunk as `save` has written it, which is here no longer."""
        path = self._chunk(deals)
        content = path.read_bytes()
        path.unlink()
        return content

    def load(self, tournament: Tournament, deals: range) -> Played | None:
        """A finished chunk; None if there is none that can be used."""
        path = self._chunk(deals)
        if not os.path.lexists(path):
            return None
        if not path.is_file():
            raise FolderError(f"{path} should be a file with games, and is no plain file: remove it, or {ANEW}")
        try:
            return _read_chunk(path, tournament, deals)
        except Exception as error:  # a damaged archive can raise nearly anything
            reason = error.reason if isinstance(error, FileError) else str(error)
            print(f"{path}: {on_one_line(reason)}; its games are played again", file=sys.stderr)
            return None

    @property
    def _settings(self) -> Path:
        return self.path / SETTINGS

    def _chunk(self, deals: range) -> Path:
        return self.path / CHUNKS / f"{deals.start:09}.npz"

    def _sweep(self) -> None:
        """Remove what runs that were killed have half written here."""
        for name in ("", CHUNKS, RECORDS, f"{RECORDS}/{UNFINISHED}"):
            remove_half_written(self.path / name, time.time() - OLD)


def _change(key: str, saved: Any, now: Any) -> str:
    """What is different, in words."""
    if key == PROGRAM:
        return "borneo-env itself has changed since"
    if key == SOURCES and isinstance(saved, dict) and set(saved) == set(now):
        changed = [name for name in now if saved[name] != now[name]]
        if any(now[name].startswith(IN_NO_FILE) for name in changed):
            return f"the code of {', '.join(changed)} stands in no file, so nobody knows whether it has changed since"
        return f"the code of {', '.join(changed)}, or a file beside it or that it plays by, has changed since"
    return f"{on_one_line(str(key), 80)} was {in_short(saved)} and is {in_short(now)}"


def _read_chunk(path: Path, tournament: Tournament, deals: range) -> Played:
    """The games of a chunk, checked; raises nearly anything if they are none."""
    kind = outcome_type(tournament.ruleset.players)
    games = len(deals) * tournament.block
    largest = ROOM + games * (kind.itemsize + 64 * LONGEST_REASON) + 8 * len(tournament.agents)
    largest += 64 * LONGEST_TRACE * len(FAULTS) * len(tournament.agents)
    data = read_bytes(path, largest)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = archive.infolist()
    if sorted(file.filename for file in files) != sorted(f"{name}.npy" for name in PARTS):
        raise ValueError("it is no chunk of games")
    packings = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if sum(file.file_size for file in files) > largest or any(file.compress_type not in packings for file in files):
        raise ValueError("it unpacks to more than the games of a chunk")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        outcomes, seconds = file["outcomes"], file["seconds"]
        faults = [Fault(*fault) for fault in parse_json(str(file["faults"]))]
        traces = [Trace(*trace) for trace in parse_json(str(file["traces"]))]
    if outcomes.dtype != kind or outcomes.shape != (games,):
        raise ValueError("it has games of another kind or number")
    _check_outcomes(outcomes, tournament, deals)
    _check_faults(faults, outcomes)
    _check_traces(traces, faults)
    if seconds.dtype != np.float64 or seconds.shape != (len(tournament.agents),) or not (seconds >= 0).all():
        raise ValueError("it has no seconds for each agent")
    return Played(outcomes, faults, seconds, [], traces)


def _check_outcomes(outcomes: Any, tournament: Tournament, deals: range) -> None:
    """Games that cannot have been these are refused; what only looks wrong is not."""
    players, block = tournament.ruleset.players, tournament.block
    own: dict[str, Any] = {
        "game": deals.start * block + np.arange(len(outcomes)),
        "deal": np.repeat(np.arange(deals.start, deals.stop), block),
        "seats": tournament.seats(deals),
    }
    limits = {"start": (0, players - 1), "places": (1, players), "pirates": (NOBODY, players - 1),
              "offender": (NOBODY, players - 1), "rank": (0, 100)}  # fmt: skip
    for name, wanted in own.items():
        if not np.array_equal(outcomes[name], wanted):
            raise ValueError("it has other games")
    for name, (low, high) in limits.items():
        if not ((outcomes[name] >= low) & (outcomes[name] <= high)).all():
            raise ValueError(f"it has games with an impossible {name}")
    for name in ("turns", "decisions", "fulfilled", "ports_taken", "tally"):
        if (outcomes[name] < 0).any():
            raise ValueError(f"it has games with an impossible {name}")
    if not (outcomes["places"].min(1) == 1).all():
        raise ValueError("it has games that nobody has won")


def _check_faults(faults: list[Fault], outcomes: Any) -> None:
    lost = outcomes[outcomes["offender"] != NOBODY]
    wanted = [(row["game"], row["offender"], row["seats"][row["offender"]]) for row in lost]
    told = all(f.kind in FAULTS and type(f.reason) is str and len(f.reason) <= LONGEST_REASON for f in faults)
    if not told or [fault[:3] for fault in faults] != wanted:
        raise ValueError("it has other faults than games lost by one")


def _check_traces(traces: list[Trace], faults: list[Fault]) -> None:
    """Each is that of a fault, and text that tells a terminal nothing."""
    lost = {(fault.agent, fault.kind, fault.game) for fault in faults}
    for trace in traces:
        if trace[:3] not in lost or type(trace.text) is not str or len(trace.text) > LONGEST_TRACE:
            raise ValueError("it has other tracebacks than those of its faults")
        if not trace.text.replace("\n", "").isprintable():
            raise ValueError("it has a traceback that is no printable text")
