"""A game: what its author gives, and what follows from it.

Everything in the library that plays, shows, searches or learns takes what it knows of a game from here.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kontor.actions import Action, ActionTable, action
from kontor.bots import SearchBots
from kontor.compile import machine_code
from kontor.compile.binding import Binder, one_of
from kontor.derived import Derived
from kontor.fields import NONE, Axis, Field, all_fields, record_type
from kontor.layout import Layout
from kontor.ruleset import Option, ruleset_class
from kontor.ruleset import Ruleset as AnyRuleset
from kontor.templates import dispatch, loops, rewards, scoring

GROUP = "kontor.games"  # entry points of installed games
Rule = Callable[..., Any]
Rows = Sequence[Action | tuple[Action, ...]]


class Phase(NamedTuple):
    """What can be decided at a time: the functions that list it and do it, and the question in words.

    A phase is a draw of chance while `g.player` is CHANCE: then `legal` lists outcomes, and `weight(box, g, outcome)`
    says how likely each is beside the others; without it they are equally likely. Without `legal` all actions that the
    table has for the phase are legal.
    """

    name: str
    legal: Rule | None
    apply: Rule
    question: str = ""
    weight: Rule | None = None


class Dealing(NamedTuple):
    """A phase in which chance deals: members of a deck that lie nowhere yet, one by one, into a field until it is full.

    The field's values are members of an axis with copies; if it has an entry for each seat, each player gets one.
    `then(box, g)` says what follows.
    """

    name: str
    into: str
    then: Rule
    question: str = ""


class Result(NamedTuple):
    """What a game keeps of each player at its end beside points and place."""

    name: str
    dtype: str
    rule: Rule  # of (box, g, player)


class Bounds(NamedTuple):
    """What no game of a ruleset goes beyond, for libraries that ask for it."""

    decisions: int = 20_000
    draws: int = 20_000  # of chance
    least: int = -(2**31)  # points of a player at the end
    most: int = 2**31 - 1
    total: int | None = None  # what the points of all players add up to at the end, if that is always the same


@dataclass(frozen=True, eq=False, repr=False)
class Game:
    """A game, as its author gives it.

    Rules are plain functions of `box`, the constants of a ruleset, and `g`, the record of one game.

    What must be given:
        name: short, for files and commands; a title for people is made of it.
        fields: what a record is made of.
        actions: the action table's rows, or a function of the ruleset that returns them.
        phases: in the order of their numbers, from 0; after them comes "over".
        points: (box, g, player): points as they are now, a whole number.

    What may be given, and what happens otherwise:
        players: how many can play; 2.
        setup: (box, g): bring a blank record to the first decision or draw; the first phase, of chance if it deals,
            else of player 0.
        options: of the ruleset; none. Or `ruleset`, a class of its own.
        outcomes: rows of a table like that of the actions, for draws; what phases deal.
        constants: a function of the ruleset that returns the fields of `box` beside players and options; or `box_of`,
            one that returns the whole record, as an array of one.
        streams: of random numbers beside the general two; 0.
        most_options: the most actions or outcomes that can be legal at once; as many as there are.
        bounds: a function of the ruleset: what no game goes beyond; far away.
        places, wins: (box, g, player); by points, and who is first.
        results: what is kept of a finished game beside points and places; nothing.
        rewards: by name further rules (box, before, after, player); only the general ones.
        rules: any of the functions that follow from the fields (observe, write_state, blank_secrets, fill_secrets,
            can_be_filled, is_possible), and `layout`, `state_layout` as functions of the ruleset with the first two.
        wrongs, unreadable: functions of a ruleset and records: statements that hold for all, each with where it does
            not; the second for redacted records too, so that who looks at them reads nothing outside. Ranges alone.
        telltale: phases of which it tells of a hand that they are asked for, because forced decisions are not; each
            with whether one can always decline there, so that any other move was free; none.
        bots: what its own bots lend to searches (`kontor.bots`), or where that stands, as `package.module:NAME`: bots
            are made of the game's rules; they play at random.
        counts_turns: whether the rules set `turn` and `turns` themselves; a turn begins when another player decides.
        blank: a function of the ruleset that returns the record before the deal; -1 where there are members of an
            axis, else 0.
        instead: by name the classes that stand in place of general ones, as `package.module:NAME`: `view` for
            `kontor.view.View`, `env` for `kontor.env`; for games whose rules draw by themselves, `single_game` for
            `kontor.chance.SingleGame`, `deals` for `kontor.record.Deals`.
    """

    name: str
    fields: Sequence[Field]
    actions: Rows | Callable[[Any], Rows]
    phases: Sequence[Phase | Dealing]
    points: Rule
    setup: Rule | None = None
    title: str = ""
    players: Sequence[int] = (2,)
    options: Sequence[Option] = ()
    ruleset: type[AnyRuleset] | None = None
    outcomes: Rows = ()
    constants: Callable[[Any], Mapping[str, Any]] | None = None
    box_of: Callable[[Any], NDArray[np.void]] | None = None
    streams: int = 0
    most_options: int = 0
    bounds: Callable[[Any], Bounds] | None = None
    places: Rule | None = None
    wins: Rule | None = None
    results: Sequence[Result] = ()
    rewards: Mapping[str, Rule] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    blank: Callable[[Any], NDArray[np.void]] | None = None
    wrongs: Callable[[Any, NDArray[np.void]], Any] | None = None
    unreadable: Callable[[Any, NDArray[np.void]], Any] | None = None
    telltale: Mapping[str, bool] = field(default_factory=dict)
    bots: SearchBots | str = field(default_factory=SearchBots)
    counts_turns: bool = False
    instead: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.name.replace("_", " ").title())
        if self.ruleset:
            self.ruleset.game = self

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    # ------------------------------------------------------------ what it is made of

    @property
    def seats(self) -> int:
        """The most players: records have room for them, whatever the ruleset."""
        return max(self.players)

    @cached_property
    def phase_names(self) -> tuple[str, ...]:
        return (*(phase.name for phase in self.phases), "over")

    @cached_property
    def all_fields(self) -> tuple[Field, ...]:
        """The fields of a record, general ones included."""
        return all_fields(self.fields, self.phase_names, self.streams)

    @cached_property
    def record(self) -> np.dtype[np.void]:
        """The type of a record."""
        return record_type(self.all_fields, self.seats)

    @cached_property
    def desk(self) -> np.dtype[np.void]:
        """What a batch knows about each game beside its record: what can be decided, and the last result."""
        return np.dtype(
            [
                ("options", "i2", (self.most_options_of_all,)),  # the legal actions, ascending
                ("count", "i2"),  # how many there are; 0 for a finished game that is held
                ("done", "?"),  # the last step finished a game
                ("scores", "i4", (self.seats,)),  # of the game finished last
                ("places", "i1", (self.seats,)),
                *((result.name, result.dtype, (self.seats,)) for result in self.results),
            ],
            align=True,
        )

    @property
    def result_names(self) -> tuple[str, ...]:
        """What is kept of a finished game."""
        return ("scores", "places", *(result.name for result in self.results))

    @cached_property
    def most_options_of_all(self) -> int:
        every = [len(self.action_table(ruleset)) for ruleset in self.Ruleset.every()]
        return self.most_options or max(*every, len(self.outcome_table), 1)

    def bounds_of(self, ruleset: AnyRuleset) -> Bounds:
        """What no game of a ruleset goes beyond."""
        return self.bounds(ruleset) if self.bounds else Bounds()

    @property
    def always_won(self) -> bool:
        """Whether each game has a winner: whoever is first, if the game does not say otherwise."""
        return self.wins is None

    @cached_property
    def Ruleset(self) -> type[AnyRuleset]:
        """The class of its rulesets."""
        return self.ruleset or ruleset_class(self, self.players, self.options)

    @cached_property
    def _tables(self) -> dict[Any, Any]:
        return {}

    def action_table(self, ruleset: AnyRuleset) -> ActionTable:
        """The actions of a ruleset: ids, blocks, moves and texts."""
        rows = self.actions
        table: ActionTable = self._once(
            "actions", ruleset, lambda: ActionTable(rows(ruleset) if callable(rows) else rows)
        )
        return table

    def _once(self, what: str, ruleset: AnyRuleset, make: Callable[[], Any]) -> Any:
        if (what, ruleset) not in self._tables:
            self._tables[what, ruleset] = make()
        return self._tables[what, ruleset]

    @cached_property
    def outcome_table(self) -> ActionTable:
        """What chance can bring: ids, blocks and texts, as of the actions."""
        dealt = [action(phase.name, phases=phase.name, card=self._deck(phase)) for phase in self._dealings]
        return ActionTable([*self.outcomes, *dealt])

    @property
    def _dealings(self) -> list[Dealing]:
        return [phase for phase in self.phases if isinstance(phase, Dealing)]

    def _deck(self, phase: Dealing) -> Axis:
        """What a phase deals."""
        into = next((one for one in self.fields if one.name == phase.into), None)
        if into is None or not into.is_things:
            raise ValueError(f"{self.title}: the phase {phase.name} deals into a field of members that have copies")
        return into.of  # type: ignore[return-value]

    def box(self, ruleset: AnyRuleset) -> NDArray[np.void]:
        """The constants of a ruleset, as an array of one record."""
        make = self.box_of or (lambda ruleset: _box(self._constants(ruleset)))
        return self._once("box", ruleset, lambda: make(ruleset))  # type: ignore[no-any-return]

    def _constants(self, ruleset: AnyRuleset) -> dict[str, Any]:
        given = dict(self.constants(ruleset)) if self.constants else {}
        numbers = {name: value for name, value in ruleset.as_dict().items() if isinstance(value, int)}
        return numbers | given

    def blank_record(self, ruleset: AnyRuleset) -> NDArray[np.void]:
        """The record before the deal, as an array of one."""
        return self._once("blank", ruleset, lambda: self.blank(ruleset) if self.blank else self._blank())  # type: ignore[no-any-return]

    def _blank(self) -> NDArray[np.void]:
        blank = np.zeros(1, self.record)
        for one in self.all_fields:
            if isinstance(one.of, Axis):
                blank[one.name] = NONE
            elif one.of[0] > 0:
                blank[one.name] = one.of[0]
        return blank

    # ------------------------------------------------------------ what follows from it

    @cached_property
    def derived(self) -> Derived:
        """The functions that follow from the fields."""
        return Derived(self.name, self.all_fields, self.phase_names, self.seats)

    def layout(self, ruleset: AnyRuleset) -> Layout:
        """The blocks of an observation."""
        return self.rules["layout"](ruleset) if "layout" in self.rules else self.derived.layout

    def state_layout(self, ruleset: AnyRuleset) -> Layout:
        """The blocks of the whole table: an observation, and the secrets behind it."""
        return self.rules["state_layout"](ruleset) if "state_layout" in self.rules else self.derived.state_layout

    @property
    def room(self) -> int:
        """How many things can be unseen at once: what `resample` has to work with."""
        return int(self.rules.get("room", self.derived.room()))

    @property
    def all_rewards(self) -> dict[str, Rule]:
        """Its rewards by name."""
        return {**rewards.GENERAL, **self.rewards}

    @cached_property
    def own_bots(self) -> SearchBots:
        """What its own bots lend to searches."""
        if isinstance(self.bots, SearchBots):
            return self.bots
        place, _, name = self.bots.rpartition(":")
        bots: SearchBots = getattr(_module(place), name)
        return bots

    @cached_property
    def bind(self) -> Binder:
        """Fills in the open names of a function of the library with this game's: machine code of its own."""
        names: dict[str, Any] = _Names(lambda: self.own_bots.open_names(binder))
        binder = Binder(names, self.name)
        phases = {number: self._functions(phase, binder) for number, phase in enumerate(self.phases)}
        legal, apply, weights = (
            {number: functions[what] for number, functions in phases.items() if functions[what] is not None}
            for what in ("legal", "apply", "weight")
        )
        names |= {
            "legal_in": one_of("legal_in", "box, g, options", legal, dispatch.no_options),
            "apply_in": one_of("apply_in", "box, g, action", apply, dispatch.nothing_to_do),
            "weight_in": one_of("weight_in", "box, g, outcome", weights, dispatch.equally_likely),
            "note_turn": dispatch.turn_by_the_rules if self.counts_turns else dispatch.turn_of_who_decides,
            "over_phase": len(phases),
            "deal": self._deal(binder),
            "score": binder(self.points),
            "is_possible": scoring.always,
            "note_results": scoring.noting([(result.name, binder(result.rule)) for result in self.results]),
            "has_chance": len(self.outcome_table) > 0,
            "has_weights": bool(weights),
            "most_room": self.room,
            "idle": len(self.phase_names),
            "keys": len(self.phase_names) + 1,
        }  # fmt: skip
        names |= {name: binder(getattr(dispatch, name)) for name in ("legal", "apply")}
        names["weight"] = binder(dispatch.weight)
        names["place_of"] = binder(self.places or scoring.place_by_points)
        names["wins"] = binder(self.wins or scoring.first_place)
        given = {number: binder(reward) for number, reward in enumerate(self.all_rewards.values())}
        names["reward_of"] = one_of("reward_of", "box, before, after, player", given, rewards.no_reward)
        for name in ("observe", "write_state", "blank_secrets", "fill_secrets", "can_be_filled"):
            if name not in self.rules:
                names[name] = self.derived.function(name, binder)
        names |= {
            name: binder(own) for name, own in self.rules.items() if name not in ("layout", "state_layout", "room")
        }
        return binder

    def _functions(self, phase: Phase | Dealing, binder: Binder) -> dict[str, Any]:
        """The functions of a phase."""
        if isinstance(phase, Phase):
            legal = phase.legal or scoring.all_of(self._ids_of(phase))
            given = {"legal": legal, "apply": phase.apply, "weight": phase.weight}
            return {name: function and binder(function) for name, function in given.items()}
        deck, start = self._deck(phase), self.outcome_table.block(phase.name).start
        made: dict[str, Any] = self.derived.dealing(phase.into, start, phase.then, binder)
        return made if deck.copies > 1 or deck.there else made | {"weight": None}

    def _ids_of(self, phase: Phase) -> tuple[int, ...]:
        """The actions that have a meaning in a phase, in all rulesets."""
        ids = {tuple(self.action_table(ruleset).moves_in(phase.name)) for ruleset in self.Ruleset.every()}
        if len(ids) > 1:
            raise ValueError(
                f"{self.title}: the actions of {phase.name} depend on the ruleset, so it needs its own `legal`"
            )
        return ids.pop()

    def _deal(self, binder: Binder) -> Rule:
        """What brings a blank record to the first decision or draw."""
        begin = scoring.chance_begins if isinstance(self.phases[0], Dealing) else scoring.first_player_begins
        setup = binder(self.setup or begin)
        made: Rule = setup if self.counts_turns else binder(dispatch.with_a_first_turn(setup))
        return made

    def __getattr__(self, name: str) -> Any:
        """A compiled function of the game by its open name: `game.legal(box, g, options)`."""
        if name.startswith("_") or name not in self.bind.names:
            raise AttributeError(f"a game has no {name!r}")
        return self.bind.names[name]

    def own_kind(self, name: str, general: type) -> Any:
        """The class that stands in place of a general one, or this one."""
        module, _, variable = self.instead.get(name, "").partition(":")
        return getattr(importlib.import_module(module), variable) if module else general

    def cannot_resample(self) -> list[str]:
        """The hidden fields that nobody says how to deal anew."""
        return [] if "fill_secrets" in self.rules else self.derived.cannot_be_filled()

    @cached_property
    def play_game(self) -> Callable[..., None]:
        """The machine code of `loops.play_game`, for the arrays of a batch: Numba does not look at their types anew."""
        types = (self.box(next(iter(self.Ruleset.every()))).dtype, self.record, loops.RUN, self.record, self.desk)
        arrays = (np.zeros(1, dtype) for dtype in types)
        return machine_code(self.of(loops).play_game, *arrays, np.zeros((1, 1), np.bool_), 0, 0)  # type: ignore[no-any-return]

    def of(self, module: ModuleType) -> BoundModule:
        """The functions of a module of templates, bound to this game."""
        return self._tables.setdefault(module, BoundModule(self, module))  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return find_game, (self.place,)

    @cached_property
    def place(self) -> str:
        """Where it was found, so that other processes find it too: `package.module:NAME`, or `file.py:NAME`."""
        for name, module in list(sys.modules.items()):
            for variable, value in list(getattr(module, "__dict__", {}).items()):
                if value is self and not name.startswith("__"):
                    file = getattr(module, "__file__", "") or ""
                    return f"{file if name in _FROM_FILES else name}:{variable}"
        raise TypeError(f"{self.title} stands in no module: other processes cannot find it")


class _Names(dict[str, Any]):
    """What the open names stand for. Those of bots are looked up when they are first asked for: bots need the rules."""

    def __init__(self, bots: Callable[[], dict[str, Any]]) -> None:
        self._bots = bots

    def __missing__(self, name: str) -> Any:
        self.update(self._bots())
        return dict(self)[name]


class BoundModule:
    """The functions of a module, each bound to a game when it is first asked for."""

    def __init__(self, game: Game, module: ModuleType) -> None:
        self._game, self._module = game, module

    def __getattr__(self, name: str) -> Any:
        bound = self._game.bind(getattr(self._module, name))
        setattr(self, name, bound)
        return bound


def _box(constants: Mapping[str, Any]) -> NDArray[np.void]:
    arrays = {name: np.asarray(value) for name, value in constants.items()}
    box = np.zeros(1, np.dtype([(name, array.dtype, array.shape) for name, array in arrays.items()], align=True))
    for name, array in arrays.items():
        box[name] = array
    return box


_FROM_FILES: set[str] = set()  # modules that were loaded by their path


class UnknownGame(ValueError):
    """A name that no game has."""


@cache
def find_game(name: str) -> Game:
    """A game by the name of its entry point, or as `file.py:NAME` or `package.module:NAME`."""
    if ":" in name:
        return _checked(name, getattr(_module(name.rpartition(":")[0]), name.rpartition(":")[2], None))
    found = entry_points(group=GROUP, name=name)
    if not found:
        known = ", ".join(sorted(game_names()))
        raise UnknownGame(f"there is no game {name!r}; there are {known}; or give yours as my_game.py:MY_GAME")
    return _checked(name, next(iter(found)).load())


def game_names() -> list[str]:
    """The games that are installed."""
    return [point.name for point in entry_points(group=GROUP)]


def _checked(name: str, found: Any) -> Game:
    if not isinstance(found, Game):
        raise UnknownGame(f"{name} is not a game: {found!r} is no kontor.Game")
    return found


def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        return importlib.import_module(place)
    path = Path(place).resolve()
    if not path.is_file():
        raise UnknownGame(f"there is no file {place}")
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(path):
            return module
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    _FROM_FILES.add(path.stem)
    spec.loader.exec_module(module)
    return module
