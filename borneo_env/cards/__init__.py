"""The cards of both editions as data, and the loader that checks a user's own."""

from borneo_env.cards.tables import (
    CARGO_CARDS,
    CHEST,
    COMPANIES,
    CONTRACT_KINDS,
    MAX_PORTS,
    MIN_PORTS,
    SPICES,
    Cargo,
    Contract,
    Port,
    TableError,
    Tables,
    check_tables,
    load_tables,
    read_tables,
)

__all__ = [
    "CARGO_CARDS",
    "CHEST",
    "COMPANIES",
    "CONTRACT_KINDS",
    "MAX_PORTS",
    "MIN_PORTS",
    "SPICES",
    "Cargo",
    "Contract",
    "Port",
    "TableError",
    "Tables",
    "check_tables",
    "load_tables",
    "read_tables",
]
