"""Table: one game in which somebody else is chance: what is dealt, drawn and turned up is chosen from outside.

The engine draws from piles in an order of its own. Whatever it has drawn waits here until chance has said what it is:
then the two cards change places. Nothing in the rules depends on a drawn card before the next decision, so the game is
the one that the engine would have played with piles in that order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.actions import action_table
from borneo_env.engine.batch import Batch, IllegalMove
from borneo_env.engine.game import MAX_OPTIONS, apply, legal
from borneo_env.engine.hidden import resample
from borneo_env.engine.jit import attributes, entry, machine_code
from borneo_env.engine.loops import observe_game
from borneo_env.engine.observe import length
from borneo_env.engine.state import (
    AT_PORT,
    BOX,
    CARDS,
    FIRST_HAND,
    GAME,
    HAND,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    OVER,
    PHASES,
    PILE,
    SEATS,
    copy_games,
    make_box,
    slots_of,
)
from borneo_env.ruleset import Ruleset

START = -1  # among what chance has yet to bring, in place of a thing: the start player
EVERYBODY = -1  # who sees an event; or it is one seat, that of the player who draws


class Event(NamedTuple):
    """A move, or what chance has brought."""

    seen_by: int
    code: int  # an action, or behind them the thing that came; unlike for every event
    text: str


@entry
def play_move(boxes, games, options, action):  # type: ignore[no-untyped-def]  # compiled
    """Carry out a legal action; returns how many are legal after it."""
    apply(boxes[0], games[0], action)
    return legal(boxes[0], games[0], options)


@entry
def list_moves(boxes, games, options):  # type: ignore[no-untyped-def]  # compiled
    """Write the legal actions into `options`; returns how many there are."""
    return legal(boxes[0], games[0], options)


@cache
def _compiled() -> tuple[Callable[..., int], Callable[..., int], Callable[..., None]]:
    """The machine code of what is done with one game, for the arrays of a table."""
    box, games, options = np.zeros(1, BOX), np.zeros(1, GAME), np.zeros(MAX_OPTIONS, np.int16)
    return (
        machine_code(play_move, box, games, options, 0),
        machine_code(list_moves, box, games, options),
        machine_code(observe_game, box, games, 0, 0, np.zeros(1, np.float32)),
    )


class Table:
    """One game of a ruleset with the moves made and the things drawn so far.

    `Table(ruleset)` begins with the deal. `Table.at(ruleset, game)` begins in the middle of a game, with a complete
    record and nothing known of what came before.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        batch = Batch(1, ruleset, finished="hold", skip_forced=False, threads=1)
        ports = int(make_box(ruleset)["ports"][0])
        batch.deal_stacked(0, 0, range(CARDS), range(ports))
        dealt = range(FIRST_HAND * ruleset.players)
        self._set_up(ruleset, batch.games, [START, *dealt, *range(CARDS, CARDS + OPEN_PORTS)], None)

    @classmethod
    def at(cls, ruleset: Ruleset, game: np.void) -> Table:
        """A table at which a game goes on from a complete record."""
        table = object.__new__(cls)
        games = np.array([game])
        table._set_up(ruleset, games, [], games)
        return table

    def _set_up(
        self, ruleset: Ruleset, games: NDArray[np.void], pending: list[int], begun_at: NDArray[np.void] | None
    ) -> None:
        self.ruleset = ruleset
        self.events: list[Event] = []
        self.begun_at = begun_at  # the position with which the events begin, if not with the deal
        self._games = copy_games(games)
        self._pending = pending
        self._room = np.zeros(MAX_OPTIONS, np.int16)
        self._box = attributes(make_box(ruleset))
        self._list_options()

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        """A table that shares nothing which changes: what OpenSpiel asks for when it clones a state."""
        twin = object.__new__(Table)
        twin.__dict__.update(self.__dict__)
        twin._games = copy_games(self._games)
        twin._pending, twin.events = self._pending.copy(), self.events.copy()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Without the cards as the compiled rules want them: the ruleset has them."""
        return {name: value for name, value in self.__dict__.items() if name != "_box"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._box = attributes(make_box(self.ruleset))

    @property
    def games(self) -> NDArray[np.void]:
        """The game as an array of one record. What chance has yet to bring is drawn already: see `position`."""
        return self._games

    @property
    def is_over(self) -> bool:
        return not self._pending and self.phase == PHASES[OVER]

    @property
    def phase(self) -> str:
        return PHASES[self._games["phase"][0]]

    @property
    def is_chance(self) -> bool:
        """Whether chance is next."""
        return bool(self._pending)

    @property
    def player(self) -> int:
        """Who decides next, once chance has done its part; NOBODY when the game is over."""
        return int(self._games["player"][0])

    def text(self, action: int) -> str:
        """A move in words."""
        return action_table(slots_of(self.ruleset)).text(action, self.phase)

    # ------------------------------------------------------------ moves

    def play(self, action: int) -> None:
        """Make a legal move. What is drawn after it is chance."""
        if action not in self.options:
            moves = ", ".join(map(self.text, self.options)) or "none, since chance is next or the game is over"
            raise IllegalMove(f"phase {self.phase}: {self.text(action)!r} is not legal; legal are: {moves}")
        before = copy_games(self._games)
        self.events.append(Event(EVERYBODY, action, f"{self.player} {self.text(action)}"))
        count = _compiled()[0](self._box, attributes(self._games), self._room, action)
        self._pending = _drawn(before[0], self._games[0])
        self.options = [] if self._pending else self._room[:count].tolist()

    def _list_options(self) -> None:
        """Work out the legal moves; there are none before chance has done its part."""
        count = 0 if self._pending else _compiled()[1](self._box, attributes(self._games), self._room)
        self.options: list[int] = self._room[:count].tolist()

    # ------------------------------------------------------------ chance

    def outcomes(self) -> list[int]:
        """What chance can bring next, each as likely as the other: start players, or things of a pile."""
        thing = self._pending[0]
        if thing == START:
            return list(range(self.ruleset.players))
        game = self._games[0]
        pile = game["draw"][: game["draw_left"]] if thing < CARDS else game["port_pile"][: game["ports_left"]]
        if not self._is_of_newest_pile(thing):
            return [thing]  # the last card of a pile, after which the discards were shuffled
        return sorted([*pile.tolist(), *filter(self._is_of_newest_pile, self._kin(thing))])

    def choose(self, outcome: int) -> None:
        """Let chance bring one of the outcomes."""
        if not self._pending or outcome not in self.outcomes():
            raise IllegalMove(f"chance cannot bring {outcome} here")
        thing = self._pending.pop(0)
        if thing == START:
            for name in ("start", "turn", "player"):
                self._games[name] = outcome
        else:
            _exchange(self._games[0], thing, outcome)
            self._pending = [thing if other == outcome else other for other in self._pending]
        self._note(thing == START, outcome)
        if not self._pending:
            self._list_options()

    def outcome_text(self, outcome: int) -> str:
        """What chance can bring next, in words."""
        return _chance_text(bool(self._pending) and self._pending[0] == START, outcome)

    def _is_of_newest_pile(self, thing: int) -> bool:
        return thing >= CARDS or bool(self._games["since"][0, thing] == self._games["pile_since"][0])

    def _kin(self, thing: int) -> list[int]:
        """The things drawn and yet to be chosen: cards for a card, ports for a port."""
        return [other for other in self._pending if other != START and (other < CARDS) == (thing < CARDS)]

    def _note(self, is_start: bool, outcome: int) -> None:
        """Add an event. Cards that a player draws together stand in ascending order: they come as a set."""
        place = self._games["place"][0, outcome]
        seen_by = int(place) - HAND if not is_start and HAND <= place < HAND + SEATS else EVERYBODY
        code = len(action_table(slots_of(self.ruleset))) + outcome
        at = len(self.events)
        while at and seen_by != EVERYBODY and self.events[at - 1].seen_by == seen_by and self.events[at - 1].code > code:
            at -= 1
        self.events.insert(at, Event(seen_by, code, _chance_text(is_start, outcome)))

    # ------------------------------------------------------------ what seats know

    def position(self) -> NDArray[np.void]:
        """The game as an array of one record, with what chance has yet to bring back on its pile."""
        if not self._pending:
            return self._games
        games = copy_games(self._games)
        for thing in filter(lambda one: one == START or self._is_of_newest_pile(one), self._pending):
            _put_back(games[0], thing)
        return games

    def observe(self, seat: int, out: NDArray[np.float32]) -> None:
        """Write what a seat knows."""
        _compiled()[2](self._box, attributes(self.position()), 0, seat, out)

    def seen(self, seat: int) -> list[Event]:
        """The events that a seat has seen, of all since the beginning."""
        return [event for event in self.events if event.seen_by in (EVERYBODY, seat)]

    def begun_with(self, seat: int) -> bytes:
        """What a seat knew when the events began: nothing before the deal, else the observation."""
        if self.begun_at is None:
            return b""
        out = np.zeros(length(slots_of(self.ruleset)), np.float32)
        _compiled()[2](self._box, attributes(self.begun_at), 0, seat, out)
        return out.astype(np.int8).tobytes()

    def exchanged(self, seat: int, rng: np.random.Generator) -> dict[int, int]:
        """For each card in another hand, the one that lies there in a random game which the seat cannot tell apart."""
        other = resample(self._games, seat, rng)
        places, ages = self._games["place"][0, :CARDS], self._games["since"][0, :CARDS]
        exchanged: dict[int, int] = {}
        for player in range(self.ruleset.players):
            if player != seat:
                held = _by_age(np.flatnonzero(places == HAND + player), ages)
                holds = _by_age(np.flatnonzero(other["place"][0, :CARDS] == HAND + player), ages)
                exchanged |= zip(held, holds, strict=True)
        return exchanged


def _by_age(cards: NDArray[np.intp], ages: NDArray[np.int16]) -> list[int]:
    """Cards in the order of their piles: a hand has as many of each pile in both games."""
    found: list[int] = cards[np.argsort(ages[cards], kind="stable")].tolist()
    return found


def _chance_text(is_start: bool, outcome: int) -> str:
    if is_start:
        return f"start {outcome}"
    return f"draw {outcome}" if outcome < CARDS else f"port {outcome - CARDS}"


def _drawn(before: np.void, after: np.void) -> list[int]:
    """The things that a move has turned up and drawn, in their order: a port (R7.6), then cards (R8.1)."""
    left = int(after["ports_left"])
    drawn: list[int] = before["port_pile"][left : int(before["ports_left"])].tolist()
    if after["ended"]:  # the last card of all is no chance, and lies with the discards now
        return drawn
    old, new = int(before["draw_left"]), int(after["draw_left"])
    if before["pile_since"] == after["pile_since"]:
        return drawn + before["draw"][new:old][::-1].tolist()
    size = int(after["draw_size"])
    return drawn + before["draw"][:old][::-1].tolist() + after["draw"][new:size][::-1].tolist()


def _exchange(game: np.void, thing: int, other: int) -> None:
    """Let two things of a pile change places, wherever they lie."""
    places = game["place"]
    places[thing], places[other] = places[other], places[thing]
    rows = [game["draw"][: game["draw_size"]]] if thing < CARDS else [game["port_pile"], game["open"]]
    for row in rows:
        here, there = row == thing, row == other
        row[here], row[there] = other, thing


def _put_back(game: np.void, thing: int) -> None:
    """Undo a draw; nobody is the start player before one is chosen."""
    if thing == START:
        game["start"] = game["turn"] = game["player"] = NOBODY
        return
    place = int(game["place"][thing])
    game["place"][thing] = PILE
    if thing < CARDS:
        player = place - HAND
        game["hand_size"][player] -= 1
        game["hand_since"][player, game["hand_size"][player]] = -1
        game["draw_left"] += 1
    else:
        game["open"][place - AT_PORT] = NO_CARD
        game["ports_left"] += 1
