"""Parcel: the files of agents, packed for machines that do not have them, and unpacked there.

The code of an agent travels if it is not installed: its module or package, and what it names beside it. So do files and
folders below the current folder that the agent's name gives as arguments, such as `policy:out/train/best`. All else
must be there already, and must be the same: `check` compares it.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from borneo_agents.arena.play.isolated import instantiate_agent
from borneo_agents.arena.store.sources import IN_NO_FILE, INSTALLED, PROGRAM, digest_of, digest_of_program, files_of
from borneo_env.agent import Agent
from kontor.files import in_short, on_one_line, read_bytes

LARGEST = 2**28  # bytes of a parcel
MIB = 2**20
HERE = "here"  # the folder of what lies below the current one


class ParcelError(ValueError):
    """Agents that cannot travel, or cannot play where they have come to."""


class File(NamedTuple):
    """A file, with its permissions: it may be a program."""

    content: bytes
    mode: int


@dataclass
class Parcel:
    """All that a machine needs to make the same agents."""

    folders: dict[str, dict[str, File]]  # by the folder they come from: files by their paths in it
    here: str  # the current folder
    program: str  # the digest of the game and the arena
    versions: dict[str, str] = field(default_factory=dict)  # of the agents, by name
    isolate: bool = False


def packed(agents: Mapping[str, Agent], isolate: bool) -> Parcel:
    """The files of agents by name, as they are now."""
    here = str(Path.cwd())
    folders: dict[str, dict[str, File]] = {here: {}}
    size = 0
    for name, agent in agents.items():
        for folder, path in {*_code(agent), *_arguments(name)}:
            file = Path(folder, path)
            content = read_bytes(file, LARGEST)
            folders.setdefault(folder, {})[path] = File(content, file.stat().st_mode & 0o777)
            size += len(content)
            if size > LARGEST:
                raise ParcelError(
                    f"the files of {in_short(name)} and those before it have more than {LARGEST // MIB} MiB, and "
                    "would travel to all machines; name a smaller folder, or an absolute path that all machines have"
                )
    versions = {name: version_of(agent) for name, agent in agents.items()}
    return Parcel(folders, here, digest_of_program(), versions, isolate)


def unpack(parcel: Parcel, place: Path) -> None:
    """Lay the files out below `place`, go there, and let modules be found there before where they have come from."""
    for number, (folder, files) in enumerate(parcel.folders.items()):
        laid_out = place / (HERE if folder == parcel.here else str(number))
        laid_out.mkdir(parents=True)
        for path, file in files.items():
            (laid_out / path).parent.mkdir(parents=True, exist_ok=True)
            (laid_out / path).write_bytes(file.content)
            (laid_out / path).chmod(file.mode | 0o600)
        where = sys.path.index(folder) if folder in sys.path else len(sys.path)
        sys.path.insert(where, str(laid_out))
    os.chdir(place / HERE)


def check(parcel: Parcel) -> None:
    """Complain unless this machine plays as the one that has packed the parcel."""
    if digest_of_program() != parcel.program:
        raise ParcelError("it has another version of borneo-env: install the same on all machines")
    for name, version in parcel.versions.items():
        try:
            found = version_of(instantiate_agent(name, parcel.isolate))
        except ValueError as error:
            raise ParcelError(
                f"{on_one_line(str(error))}; what an agent reads travels if its name has it as an argument, below the "
                "current folder"
            ) from None
        if found != version:
            raise ParcelError(f"it has another version of {in_short(name)}: install the same on all machines")


def version_of(agent: Agent) -> str:
    """Stands for what an agent brings along or finds installed; its code that travels is the same by itself."""
    if any(True for _ in _code(agent)):
        return hashlib.sha256(getattr(agent, "fingerprint", b"")).hexdigest()[:16]
    digest = digest_of(agent)
    return IN_NO_FILE if digest.startswith(IN_NO_FILE) else digest


def _code(agent: Agent) -> Iterator[tuple[str, str]]:
    """The files of an agent's code that is not installed: folders to find modules in, and paths there."""
    for name in sorted({kind.__module__ for kind in type(agent).__mro__}):
        top = sys.modules[name.partition(".")[0]]
        file = getattr(top, "__file__", None)
        if file is None or top in PROGRAM:
            continue
        folder = Path(file).resolve().parent.parent if hasattr(top, "__path__") else Path(file).resolve().parent
        if not _is_installed(folder):
            yield from ((str(folder), str(path.relative_to(folder))) for path in files_of(name))


def _is_installed(folder: Path) -> bool:
    standard = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
    return any(part in INSTALLED for part in folder.parts) or any(folder.is_relative_to(one) for one in standard)


def _arguments(name: str) -> Iterator[tuple[str, str]]:
    """The files that an agent's name gives as arguments and that lie below the current folder."""
    here = Path.cwd()
    for argument in name.split(":")[1:]:
        for word in _words(argument.rpartition("=")[2]):
            path = Path(word)
            inside = not path.is_absolute() and path.name and ".." not in path.parts
            if inside and path.is_file():
                yield str(here), str(path)
            elif inside and path.is_dir():
                yield from ((str(here), str(file)) for file in sorted(path.rglob("*")) if file.is_file())


def _words(argument: str) -> list[str]:
    try:
        return [argument, *shlex.split(argument)]
    except ValueError:
        return [argument]
