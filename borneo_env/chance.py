"""ChanceGame: one game in which somebody else is chance: what is dealt, drawn and turned up is chosen from outside.

The engine draws from piles in an order of its own. Whatever it has drawn waits here until chance has said what it is:
then the two cards change places. Nothing in the rules depends on a drawn card before the next decision, so the game is
the one that the engine would have played with piles in that order.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.batch import Batch, IllegalMove
from borneo_env.engine.game import BORNEO
from borneo_env.engine.hiding import resample
from borneo_env.engine.observe import length
from borneo_env.engine.state import (
    AT_PORT,
    CARDS,
    FIRST_HAND,
    GAME,
    HAND,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    PILE,
    copy_games,
    make_box,
    slots_of,
)
from borneo_env.ruleset import Ruleset
from kontor.chance import SingleGame, compiled
from kontor.compile import attributes, entry, machine_code

START = -1  # among what chance has yet to bring, in place of a thing: the start player
DRAWING = ("ship", "take")  # phases whose moves may end with something turned up or drawn
EVERYBODY = -1  # who sees an event; or it is one seat, that of the player who draws


class Event(NamedTuple):
    """A move, or what chance has brought."""

    seen_by: int
    code: int  # an action, or behind them the thing that came; unlike for every event
    text: str


@entry
def put_back(games, things):
    """Undo draws of the newest pile; nobody is the start player before one is chosen.

    Of an older pile chance has no choice: its last card is known to be the one that was drawn.
    """
    g = games[0]
    for thing in things:
        if thing == START:
            g.start = g.turn = g.player = NOBODY
        elif thing >= CARDS:
            g.open[g.place[thing] - AT_PORT] = NO_CARD
            g.place[thing] = PILE
            g.ports_left += 1
        elif g.since[thing] == g.pile_since:
            player = g.place[thing] - HAND
            g.place[thing] = PILE
            g.draw_left += 1
            g.hand_size[player] -= 1
            g.hand_since[player, g.hand_size[player]] = -1


@cache
def _put_back() -> Any:
    return machine_code(put_back, np.zeros(1, GAME), np.zeros(1, np.int64))


class ChanceGame(SingleGame):
    """One game of a ruleset with the moves made and the things drawn so far.

    `ChanceGame(ruleset)` begins with the deal. `ChanceGame.at(ruleset, game)` begins in the middle of a game, with a
    complete record and nothing known of what came before.
    """

    ruleset: Ruleset
    has_codes = True

    def __init__(self, ruleset: Ruleset) -> None:
        batch = Batch(1, ruleset, finished="hold", skip_forced=False, threads=1)
        ports = int(make_box(ruleset)["ports"][0])
        batch.deal_stacked(0, 0, range(CARDS), range(ports))
        dealt = range(FIRST_HAND * ruleset.players)
        self._set_up(ruleset, batch.games, None, [START, *dealt, *range(CARDS, CARDS + OPEN_PORTS)])

    def _set_up(
        self, ruleset: Any, games: NDArray[np.void], begun_at: NDArray[np.void] | None, pending: list[int] | None = None
    ) -> None:
        self.events: list[Event] = []
        self._pending = pending or []
        super()._set_up(ruleset, games, begun_at)

    def copy(self) -> Self:
        twin = super().copy()
        twin._pending, twin.events = self._pending.copy(), self.events.copy()
        return twin

    @property
    def games(self) -> NDArray[np.void]:
        """The game as an array of one record. What chance has yet to bring is drawn already: see `position`."""
        return self._games

    @property
    def is_chance(self) -> bool:
        return bool(self._pending)

    # ------------------------------------------------------------ moves

    def play(self, action: int) -> None:
        """Make a legal move. What is drawn after it is chance."""
        self.check_move(action)
        before = copy_games(self._games) if self.phase in DRAWING else None
        self.events.append(Event(EVERYBODY, action, f"{self.player} {self.text(action)}"))
        count = compiled(BORNEO).play_move(*self._arrays(), self._room, action)
        if before is not None:
            self._pending = _drawn(before[0], self._games[0])
        self._ask(count)

    # ------------------------------------------------------------ chance

    def outcomes(self) -> list[int]:
        """What chance can bring next, each as likely as the other: start players, or things of a pile."""
        if not self._pending:
            return []
        thing = self._pending[0]
        if thing == START:
            return list(range(self.ruleset.players))
        if not self._is_of_newest_pile(thing):
            return [thing]  # the last card of a pile, after which the discards were shuffled
        game, is_card = self._games[0], thing < CARDS
        pile = game["draw"][: game["draw_left"]] if is_card else game["port_pile"][: game["ports_left"]]
        drawn = [one for one in self._pending if (one < CARDS) == is_card and self._is_of_newest_pile(one)]
        return sorted(pile.tolist() + drawn)

    def probabilities(self) -> list[float]:
        outcomes = self.outcomes()
        return [1 / len(outcomes)] * len(outcomes)

    def choose(self, outcome: int) -> None:
        """Let chance bring one of the outcomes."""
        if outcome not in self.outcomes():
            raise IllegalMove(f"chance cannot bring {outcome} here")
        text = self.outcome_text(outcome)
        thing = self._pending.pop(0)
        if thing == START:
            self._games["start"] = self._games["turn"] = self._games["player"] = outcome
        elif thing != outcome:
            _exchange(self._games[0], thing, outcome)
            self._pending = [thing if other == outcome else other for other in self._pending]
        self._note(EVERYBODY if thing == START else self._drawer(outcome), outcome, text)
        self._list_moves()

    def outcome_text(self, outcome: int) -> str:
        """What chance can bring next, in words."""
        if self._pending and self._pending[0] == START:
            return f"start {outcome}"
        return f"draw {outcome}" if outcome < CARDS else f"port {outcome - CARDS}"

    def _is_of_newest_pile(self, thing: int) -> bool:
        return thing >= CARDS or bool(self._games["since"][0, thing] == self._games["pile_since"][0])

    def _drawer(self, thing: int) -> int:
        """Who has drawn a card; a port that is turned up is for everybody."""
        return int(self._games["place"][0, thing]) - HAND if thing < CARDS else EVERYBODY

    def _note(self, seen_by: int, outcome: int, text: str) -> None:
        """Add what chance has brought. Cards that are drawn together stand in ascending order: they come as a set."""
        event = Event(seen_by, len(self.game.action_table(self.ruleset)) + outcome, text)
        at = len(self.events)
        if seen_by != EVERYBODY:
            while at and self.events[at - 1].seen_by == seen_by and self.events[at - 1].code > event.code:
                at -= 1
        self.events.insert(at, event)

    # ------------------------------------------------------------ what seats know

    def position(self) -> NDArray[np.void]:
        """The game as an array of one record, with what chance has yet to bring back on its pile."""
        if not self._pending:
            return self._games
        games = copy_games(self._games)
        _put_back()(attributes(games), np.array(self._pending, np.int64))
        return games

    def seen(self, seat: int) -> list[Event]:
        """The events that a seat has seen, of all since the beginning."""
        return [event for event in self.events if event.seen_by in (EVERYBODY, seat)]

    def begun_with(self, seat: int) -> bytes:
        """What a seat knew when the events began: nothing before the deal, else the observation."""
        if self.begun_at is None:
            return b""
        out = np.zeros(length(slots_of(self.ruleset)), np.float32)
        box = attributes(make_box(self.ruleset))
        compiled(BORNEO).observe_game(box, attributes(self.begun_at), 0, seat, out)
        return out.astype(np.int8).tobytes()

    def told(self, seat: int) -> list[str]:
        begun = [] if self.begun_at is None else [self.begun_with(seat).hex()]
        return begun + [event.text for event in self.seen(seat)]

    def codes(self, seat: int) -> list[int]:
        return [event.code for event in self.seen(seat)]

    def history(self) -> list[str]:
        return [event.text for event in self.events]

    @classmethod
    def number_of_outcomes(cls, ruleset: Any) -> int:
        return CARDS + len(ruleset.tables.ports_in_play(ruleset.players))

    def resampled(self, seat: int, rng: np.random.Generator) -> Self:
        """A random game that the seat cannot tell from this one, as it stands: nobody remembers what came before."""
        return self.at(self.ruleset, resample(self._games[0], seat, rng))

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


def _drawn(before: np.void, after: np.void) -> list[int]:
    """The things that a move has turned up and drawn, in their order: a port (R7.6), then cards (R8.1)."""
    drawn = _top_first(before["port_pile"], after["ports_left"], before["ports_left"])
    if after["ended"]:  # the last card of all is no chance, and lies with the discards now
        return drawn
    if before["pile_since"] == after["pile_since"]:
        return drawn + _top_first(before["draw"], after["draw_left"], before["draw_left"])
    last_of_old_pile = _top_first(before["draw"], 0, before["draw_left"])
    return drawn + last_of_old_pile + _top_first(after["draw"], after["draw_left"], after["draw_size"])


def _top_first(pile: NDArray[np.int8], low: int, high: int) -> list[int]:
    """Part of a pile, whose top is its end."""
    things: list[int] = pile[low:high][::-1].tolist()
    return things


def _exchange(game: np.void, thing: int, other: int) -> None:
    """Let two things of a pile change places, wherever they lie."""
    places = game["place"]
    places[thing], places[other] = places[other], places[thing]
    rows = [game["draw"][: game["draw_size"]]] if thing < CARDS else [game["port_pile"], game["open"]]
    for row in rows:
        here, there = row == thing, row == other
        row[here], row[there] = other, thing
