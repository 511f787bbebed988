"""Sources: digests of the code that plays, since games of two versions of a bot must not be mixed.

They may differ though nothing that matters has changed. They always differ if code has changed. Files that an agent
reads are not seen: the agent gives them as bytes in its `fingerprint`.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import sys
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path

from numba.extending import is_jitted

import borneo_agents
import borneo_env
import kontor
from borneo_env.agent import Agent
from kontor.compile.digest import digest_of as digest_of_code

PROGRAM = (kontor, borneo_env, borneo_agents)
CODE = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)
INSTALLED = ("site-packages", "dist-packages")  # modules in these folders have nothing to do with each other
IN_NO_FILE = "in no file"  # how the digest of code begins that can be compared with nothing


def digest_of_program() -> str:
    """Stands for all code of the game, the arena and the bots that come with it."""
    return _digest(file for package in PROGRAM for file in code_below(Path(package.__path__[0])))


def digest_of(agent: Agent) -> str:
    """Stands for the code of an agent: its package, or its file and those beside it, and what is compiled into it."""
    kinds = [kind for kind in type(agent).__mro__ if kind is not object]
    try:
        files = sorted({file for kind in kinds for file in files_of(kind.__module__)})
        return _digest(files, getattr(agent, "fingerprint", b"") + _compiled(kinds))
    except ValueError:  # a bot in a process that does not answer says why
        raise
    except Exception:  # an agent's own code may raise anything
        return f"{IN_NO_FILE}: {secrets.token_hex(8)}"


class _Unknown(Exception):
    """Compiled code without a digest."""


def _compiled(kinds: Iterable[type]) -> bytes:
    """What the compiled functions beside an agent's classes are made of, in whatever packages that stands."""
    modules = [sys.modules[kind.__module__] for kind in kinds]
    found = {id(one): one for module in modules for one in vars(module).values() if is_jitted(one)}
    digests = {digest_of_code(one) for one in found.values()}
    if None in digests:
        raise _Unknown
    return "".join(sorted(filter(None, digests))).encode()


def files_of(name: str) -> list[Path]:
    """The code of a package or, for a module in none, its file and what this names, or has imported, beside it."""
    top = sys.modules[name.partition(".")[0]]
    if hasattr(top, "__path__"):
        return [file for folder in top.__path__ for file in code_below(Path(folder))]
    file = Path(str(top.__file__)).resolve()
    return _with_neighbours(file) if file.parent.name not in INSTALLED else [file]


def _with_neighbours(file: Path) -> list[Path]:
    """A file with all code of its folder that it names, and that this names, and so on."""
    imported = {name for name, module in sys.modules.items() if _folder_of(module) == file.parent}
    found, new = {file}, [file]
    while new:
        names = {*re.findall(r"\w+", new.pop().read_text(encoding="utf-8", errors="replace")), *imported}
        fresh = {code for name in names for code in _code_named(file.parent, name)} - found
        found |= fresh
        new += fresh
    return sorted(found)


def _folder_of(module: object) -> Path | None:
    """The folder a module or package lies in."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return None
    lies = Path(file).resolve()
    return lies.parent.parent if lies.stem == "__init__" else lies.parent


def _code_named(folder: Path, name: str) -> tuple[Path, ...]:
    package = folder / name
    if (package / "__init__.py").is_file():
        return tuple(code_below(package))
    return tuple(file for suffix in CODE if (file := folder / f"{name}{suffix}").is_file())


def code_below(folder: Path) -> list[Path]:
    """All code in a folder and those in it."""
    return sorted(file for file in folder.resolve().rglob("*") if file.name.endswith(CODE))


def _digest(files: Iterable[Path], more: bytes = b"") -> str:
    digest = hashlib.sha256(more)
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.parent.name}/{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]
