"""Card tables: what is printed on every cargo card, port and contract (R0.8 to R0.11).

A table file is TOML with three lists, `cargo`, `ports` and `contracts`, one row per card; `board.toml` beside
this file is the model. A file may name a shipped edition as its `base` and give only the lists that differ.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from kontor.files import FileError, in_short, on_one_line, read_text

COMPANIES = ("red", "yellow", "green", "blue")  # R0.1
SPICES = ("pepper", "cinnamon", "cloves", "nutmeg")  # R0.2
CHEST = "chest"  # what a port shows in place of a spice when it is a joker (R0.9)
CONTRACT_KINDS = ("each-1", "same-4", "each-2", "same-8", "each-3")  # R0.10
CARGO_CARDS = 60  # R0.3
MIN_PORTS, MAX_PORTS = 3, 16
MOST_CONTRACTS = 100  # of a kind
MARKS = ("", "3/4", "5")
LONGEST_FIELD = 80  # characters of a field's name that are told
LARGEST_FILE = 64_000  # bytes; the shipped tables have 6,000
MOST_DOTS = 30  # in a line: the time that a key a.b.c takes to be parsed grows with the square of its length
SHIPPED = Path(__file__).parent


class TableError(ValueError):
    """A card table that cannot be played with; the message names the file, the row and the field."""


Check = Callable[[Any], str]  # what is wrong with a value; nothing if it is right


def _one_of(*allowed: str) -> Check:
    named = ", ".join(one or repr(one) for one in allowed)
    return lambda value: "" if value in allowed else f"{in_short(value)} is not allowed; use {named}"


def _whole(low: int, high: int) -> Check:
    words = f"is not a whole number from {low} to {high}"
    return lambda value: "" if type(value) is int and low <= value <= high else f"{in_short(value)} {words}"


def _four_companies(value: Any) -> str:
    if isinstance(value, list) and len(value) == 4 and all(flag in COMPANIES for flag in value):
        return ""
    return f"{in_short(value)} is not a list of four companies; use {', '.join(COMPANIES)}"


def _short_name(value: Any) -> str:
    right = isinstance(value, str) and value.isprintable() and 1 <= len(value) <= 24
    return "" if right else f"{in_short(value)} is not a name of 1 to 24 letters"


def _checked(check: Check, default: Any = MISSING) -> Any:
    """A field of a row, and what is checked when a row is read."""
    return field(default=default, metadata={"check": check})


@dataclass(frozen=True)
class Cargo:
    flags: tuple[str, str, str, str] = _checked(_four_companies)  # reading order: three above, one in the bottom row
    spice: str = _checked(_one_of(*SPICES))
    count: int = _checked(_whole(1, 2), default=1)  # 2 for a double


@dataclass(frozen=True)
class Port:
    name: str = _checked(_short_name)
    spice: str = _checked(_one_of(*SPICES, CHEST))
    limit: int = _checked(_whole(1, CARGO_CARDS))
    monopoly: int = _checked(_whole(1, 4 * CARGO_CARDS))
    mark: str = _checked(_one_of(*MARKS), default="")  # the numbers of players it is used with; "" is always


@dataclass(frozen=True)
class Contract:
    kind: str = _checked(_one_of(*CONTRACT_KINDS))
    points: int = _checked(_whole(0, 1000))
    supply: int = _checked(_whole(0, MOST_CONTRACTS))
    marked_5: int = _checked(_whole(0, MOST_CONTRACTS), default=0)  # how many more lie out with five players


@dataclass(frozen=True)
class Tables:
    """All cards of one edition, or of a user's own file."""

    cargo: tuple[Cargo, ...]
    ports: tuple[Port, ...]
    contracts: tuple[Contract, ...]

    def ports_in_play(self, players: int) -> tuple[Port, ...]:
        """The ports used with this number of players (R1.2)."""
        unused = "3/4" if players == 5 else "5"
        return tuple(port for port in self.ports if port.mark != unused)

    def supply_in_play(self, players: int) -> tuple[int, ...]:
        """How many contracts of each kind lie out with this number of players (R1.2, R1.4)."""
        return tuple(c.supply + (c.marked_5 if players == 5 else 0) for c in self.contracts)


def load_tables(source: str | Path) -> Tables:
    """The tables of a shipped edition by its name (`board`, `card`, `tiny`), or of a TOML file by its path."""
    if source in _shipped_names():
        return _load_shipped(str(source))
    return read_tables(_parse(Path(source)), on_one_line(str(source)))


@cache
def _shipped_names() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


@cache
def _load_shipped(name: str) -> Tables:
    return read_tables(_parse(SHIPPED / f"{name}.toml"), name)


def _parse(path: Path) -> dict[str, Any]:
    try:
        text = read_text(path, LARGEST_FILE)
        for number, line in enumerate(text.split("\n"), start=1):
            if line.count(".") > MOST_DOTS:
                raise FileError(path, f"line {number} has more than {MOST_DOTS} dots")
        return tomllib.loads(text)
    except FileError as error:
        raise TableError(f"{error}; give the path of a TOML card table, which has 60 cargo rows") from None
    except RecursionError:
        raise TableError(f"{on_one_line(str(path))}: is not TOML of a card table: it is nested too deeply") from None
    except ValueError as error:  # not only TOMLDecodeError: a number may have too many digits
        raise TableError(f"{on_one_line(str(path))}: is not TOML: {on_one_line(str(error))}") from None


def read_tables(data: dict[str, Any], where: str) -> Tables:
    """Checked tables from parsed data; `where` names the file in errors."""
    _check_names(data, where, ("base", "cargo", "ports", "contracts"))
    if "base" in data:
        if reason := _one_of(*_shipped_names())(data["base"]):
            raise _wrong(where, "base", reason)
        inherited = _parse(SHIPPED / f"{data['base']}.toml")
        data = {**inherited, **data, "base": inherited.get("base")}
        if data["base"] is None:
            del data["base"]
        return read_tables(data, where)
    cargo = _read_list(data, where, "cargo", Cargo)
    if len(cargo) != CARGO_CARDS:
        raise TableError(f"{where}: cargo: has {len(cargo)} rows; the game has {CARGO_CARDS} cargo cards")
    ports = _read_list(data, where, "ports", Port)
    contracts: dict[str, Contract] = {}
    for i, contract in enumerate(_read_list(data, where, "contracts", Contract)):
        if contract.kind in contracts:
            raise TableError(f"{where}: contracts row {i}: kind: {contract.kind} has a row already; give each kind one")
        if reason := _whole(0, MOST_CONTRACTS - contract.supply)(contract.marked_5):
            raise _wrong(f"{where}: contracts row {i}", "marked_5", reason)
        contracts[contract.kind] = contract
    tables = Tables(
        tuple(cargo), tuple(ports), tuple(contracts.get(kind, Contract(kind, 0, 0)) for kind in CONTRACT_KINDS)
    )
    for players in (3, 5):
        in_play = len(tables.ports_in_play(players))
        if not MIN_PORTS <= in_play <= MAX_PORTS:
            used = "3 or 4" if players == 3 else "5"
            raise TableError(
                f"{where}: ports: {in_play} are in play with {used} players; {MIN_PORTS} to {MAX_PORTS} are allowed"
            )
    return tables


def check_tables(tables: Tables) -> None:
    """Raise TableError unless tables made by hand are such as `read_tables` makes from a file."""
    data: dict[str, Any] = {}
    for name, kind in (("cargo", Cargo), ("ports", Port), ("contracts", Contract)):
        cards = getattr(tables, name)
        if type(cards) is not tuple or any(type(card) is not kind for card in cards):
            raise TableError(f"tables: {name}: is not a tuple of {kind.__name__}")
        data[name] = [dict(vars(card)) for card in cards]
    for row in data["cargo"]:
        row["flags"] = list(row["flags"]) if type(row["flags"]) is tuple else None  # as a file has them
    if read_tables(data, "tables") != tables:
        raise TableError(f"tables: contracts: need a row for each of {', '.join(CONTRACT_KINDS)}, in this order")


def _read_list(data: dict[str, Any], where: str, name: str, kind: type[Any]) -> list[Any]:
    rows = data.get(name)
    if not isinstance(rows, list):
        raise TableError(f"{where}: {name}: is missing; give a list with one row per card")
    return [_read_row(kind, i, row, f"{where}: {name} row {i}") for i, row in enumerate(rows)]


def _read_row(kind: type[Any], i: int, data: Any, where: str) -> Any:
    """A card from its row, every field checked; cargo cards may say their numbers."""
    row = _check_names(data, where, [*(["id"] if kind is Cargo else []), *(one.name for one in fields(kind))])
    number = row.pop("id", i)
    if type(number) is not int or number != i:
        raise _wrong(where, "id", f"is {in_short(number)}; cargo cards are numbered in their order, so it must be {i}")
    for one in fields(kind):
        value = row.setdefault(one.name, one.default)
        if value is MISSING:
            raise _wrong(where, one.name, "is missing")
        if reason := one.metadata["check"](value):
            raise _wrong(where, one.name, reason)
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()})


def _check_names(data: Any, where: str, known: Sequence[str]) -> dict[str, Any]:
    """A copy of a row whose fields are all known."""
    if not isinstance(data, dict):
        raise TableError(f"{where}: {in_short(data)} is not a row of named fields such as {{ name = ... }}")
    for name in data:
        if name not in known:
            raise _wrong(where, name, f"is not a known field; use {', '.join(known)}")
    return dict(data)


def _wrong(where: str, field_name: str, reason: str) -> TableError:
    return TableError(f"{where}: {on_one_line(field_name, LONGEST_FIELD)}: {reason}")
