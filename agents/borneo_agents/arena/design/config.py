"""ArenaConfig: the settings of an arena, checked."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import inf
from pathlib import Path
from typing import Any

from borneo_agents.arena.design.lineups import LINEUPS
from borneo_env.ruleset import Ruleset
from kontor.engine.batch_state import LAST_NUMBER
from kontor.files import in_short


class TournamentError(ValueError):
    """Settings that make no tournament."""


@dataclass(frozen=True, kw_only=True)
class ArenaConfig:
    """The settings of an arena, checked.

    Arguments:
        ruleset: the rules of all games.
        games: how many at least: whole blocks are played (see `Tournament`).
        seed: decides all deals. No agent is sent it, but one that guesses it can deal the cards itself: keep it secret
            where strangers' agents play.
        lineups: "round-robin", "one-vs", "challenge" or "mixed"; without it, one that suits the number of agents.
        out: folder for games and results (report.html, results.json, games.csv); a run that was stopped goes on
            there, with `fresh` it begins anew.
        jobs: how many processes play; all cores by default. 0 plays in this process, as agents that are
            objects always do: then one that hangs cannot be stopped.
        cluster: "local", or the address of a cluster of Ray whose machines play (needs the extra `ray`).
        chunk: how many games are played side by side. Agents are made anew for each chunk of them.
        time_limit: seconds for a decision; a call for n games may take n times as long.
        warm_up_limit: seconds for an agent's first call, before the games; by default it follows the time limit.
        isolate: give every agent a process of its own, which is sent what its seat may know and cannot reach the
            games. Agents that are objects play in this process: give names.
        until_decided: (A, B) stops as soon as it is known whether A is placed before B more often than not, by
            `effect` at least; `alpha` is the chance of a wrong yes, `beta` that of a wrong no.
        records: write a record of every game to `out`.
        debug: play in this process, and let the first fault of an agent raise, so that a debugger stops there.
        command: what stands in the report as the command that made it.
    """

    ruleset: Ruleset = field(default_factory=Ruleset)
    games: int = 2000
    seed: int = 0
    lineups: str | None = None
    out: str | Path | None = None
    fresh: bool = False
    jobs: int | None = None
    cluster: str | None = None
    chunk: int | None = None
    time_limit: float = 5.0
    warm_up_limit: float | None = None
    isolate: bool = False
    until_decided: tuple[str, str] | None = None
    effect: float = 0.05
    alpha: float = 0.05
    beta: float = 0.05
    records: bool = False
    debug: bool = False
    command: str | None = None

    @classmethod
    def of(cls, given: ArenaConfig | Ruleset | None, settings: dict[str, Any]) -> ArenaConfig:
        """A config as it is given; or one of a ruleset, or its fields, and settings by name."""
        if isinstance(given, ArenaConfig):
            if settings:
                raise TypeError(f"give either a config or settings, not both (got {', '.join(settings)})")
            return given
        known, of_rules = ([one.name for one in fields(kind)] for kind in (cls, Ruleset))
        for name in settings:
            if name not in (*known, *of_rules):
                names = f"an arena has {', '.join(known)}, and a ruleset {', '.join(of_rules)}"
                raise TypeError(f"there is no argument {in_short(name)}; {names}")
        own = {name: settings.pop(name) for name in known if name in settings}
        if given is not None and own.get("ruleset") is not None:
            raise TypeError("give one ruleset, not two")
        ruleset = own.get("ruleset") if given is None else given
        return cls(**own | {"ruleset": Ruleset.given(ruleset, settings)})

    def __post_init__(self) -> None:
        refusals = {
            f"there are no line-ups {self.lineups!r}; use one of {', '.join(LINEUPS)}": self.lineups is not None
            and self.lineups not in LINEUPS,
            f"the number of games is 1 or more, not {self.games}": not 1 <= self.games < LAST_NUMBER,
            f"a chunk has 1 game or more, not {self.chunk}": self.chunk is not None and self.chunk < 1,
            f"a seed is a whole number from 0 to 2**64 - 1, not {self.seed}": not 0 <= self.seed < 2**64,
            f"the time limit is a number of seconds above 0, not {self.time_limit}": not 0 < self.time_limit < inf,
            f"jobs is a number from 0, not {self.jobs}": self.jobs is not None and self.jobs < 0,
            f"what counts as better is a share between 0 and 0.5, not {self.effect}": not 0 < self.effect < 0.5,
            f"the chance of a wrong decision lies between 0 and 1, not at {self.alpha} and {self.beta}": not (
                0 < self.alpha < 1 and 0 < self.beta < 1
            ),
            "records need a folder: give `out`": self.records and self.out is None,
            "a run with `debug` keeps no games: leave `out` away": self.debug and self.out is not None,
        }
        for complaint, wrong in refusals.items():
            if wrong:
                raise TournamentError(complaint)
