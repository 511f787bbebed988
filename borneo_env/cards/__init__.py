"""Card tables: what is printed on every cargo card, port and contract (R0.8 to R0.11).

A table file is TOML with three lists, `cargo`, `ports` and `contracts`, one row per card; `board.toml` beside
this file is the model. A file may name a shipped edition as its `base` and give only the lists that differ.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from borneo_env.files import FileError, in_short, on_one_line, read_text

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


@dataclass(frozen=True)
class Cargo:
    flags: tuple[str, str, str, str]  # reading order: three in the top row, one in the bottom row
    spice: str
    count: int  # 2 for a double


@dataclass(frozen=True)
class Port:
    name: str
    spice: str  # or CHEST
    limit: int
    monopoly: int
    mark: str = ""  # the numbers of players it is used with; "" is always


@dataclass(frozen=True)
class Contract:
    kind: str
    points: int
    supply: int
    marked_5: int = 0  # how many more lie out with five players


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
    row = _Row(data, where)
    row.allow("base", "cargo", "ports", "contracts")
    if "base" in data:
        base = row.choice("base", _shipped_names())
        inherited = _parse(SHIPPED / f"{base}.toml")
        data = {**inherited, **data, "base": inherited.get("base")}
        if data["base"] is None:
            del data["base"]
        return read_tables(data, where)
    cargo = _read_list(data, where, "cargo", _read_cargo)
    if len(cargo) != CARGO_CARDS:
        raise TableError(f"{where}: cargo: has {len(cargo)} rows; the game has {CARGO_CARDS} cargo cards")
    ports = _read_list(data, where, "ports", _read_port)
    contracts: dict[str, Contract] = {}
    for i, contract in enumerate(_read_list(data, where, "contracts", _read_contract)):
        if contract.kind in contracts:
            raise TableError(f"{where}: contracts row {i}: kind: {contract.kind} has a row already; give each kind one")
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


def _read_list(data: dict[str, Any], where: str, name: str, read_row: Any) -> list[Any]:
    rows = data.get(name)
    if not isinstance(rows, list):
        raise TableError(f"{where}: {name}: is missing; give a list with one row per card")
    return [read_row(_Row(row, f"{where}: {name} row {i}"), i) for i, row in enumerate(rows)]


def _read_cargo(row: _Row, i: int) -> Cargo:
    row.allow("id", "flags", "spice", "count")
    if type(row.data.get("id", i)) is not int or row.data.get("id", i) != i:
        raise row.error(
            "id", f"is {in_short(row.data['id'])}; cargo cards are numbered in their order, so it must be {i}"
        )
    flags = row.get("flags")
    if not isinstance(flags, list) or len(flags) != 4 or any(flag not in COMPANIES for flag in flags):
        raise row.error("flags", f"{in_short(flags)} is not a list of four companies; use {', '.join(COMPANIES)}")
    return Cargo(tuple(flags), row.choice("spice", SPICES), row.integer("count", 1, 2, default=1))


def _read_port(row: _Row, i: int) -> Port:
    row.allow("name", "spice", "limit", "monopoly", "mark")
    name = row.get("name")
    if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name) <= 24:
        raise row.error("name", f"{in_short(name)} is not a name of 1 to 24 letters")
    return Port(
        name,
        row.choice("spice", (*SPICES, CHEST)),
        row.integer("limit", 1, CARGO_CARDS),
        row.integer("monopoly", 1, 4 * CARGO_CARDS),
        row.choice("mark", MARKS, default=""),
    )


def _read_contract(row: _Row, i: int) -> Contract:
    row.allow("kind", "points", "supply", "marked_5")
    return Contract(
        row.choice("kind", CONTRACT_KINDS),
        row.integer("points", 0, 1000),
        row.integer("supply", 0, MOST_CONTRACTS),
        row.integer("marked_5", 0, MOST_CONTRACTS - row.integer("supply", 0, MOST_CONTRACTS), default=0),
    )


class _Row:
    """One row of a table file with checked access to its fields."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, dict):
            raise TableError(f"{where}: {in_short(data)} is not a row of named fields such as {{ name = ... }}")
        self.data = data
        self.where = where

    def error(self, field: str, reason: str) -> TableError:
        return TableError(f"{self.where}: {on_one_line(field, LONGEST_FIELD)}: {reason}")

    def allow(self, *fields: str) -> None:
        for field in self.data:
            if field not in fields:
                raise self.error(field, f"is not a known field; use {', '.join(fields)}")

    def get(self, field: str) -> Any:
        if field not in self.data:
            raise self.error(field, "is missing")
        return self.data[field]

    def choice(self, field: str, allowed: Any, default: str | None = None) -> str:
        value = self.get(field) if default is None else self.data.get(field, default)
        if value not in allowed:
            raise self.error(field, f"{in_short(value)} is not allowed; use {', '.join(a or repr(a) for a in allowed)}")
        return str(value)

    def integer(self, field: str, low: int, high: int, default: int | None = None) -> int:
        value = self.get(field) if default is None else self.data.get(field, default)
        if type(value) is not int or not low <= value <= high:
            raise self.error(field, f"{in_short(value)} is not a whole number from {low} to {high}")
        return value
