"""The independent referee: Borneo in plain Python, written from the rules alone.

It shares no code with the engine: a record that the engine wrote must replay here move by move, with the
same legal moves and the same result. It is slow and plain on purpose; rule ids point into rules.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

COMPANIES = ("red", "yellow", "green", "blue")
SPICES = ("pepper", "cinnamon", "cloves", "nutmeg")
SPICES_OF_KIND = {"each-1": 1, "same-4": 4, "each-2": 2, "same-8": 8, "each-3": 3}  # R0.10
FORMAT = "borneo-record/1"
FIRST_HAND, HAND_LIMIT, CARDS_DRAWN = 3, 6, 2
OPEN_PORTS, LADDER_SLOTS, TOP_ROW = 3, 5, 3
SHIP_PENALTY = 2


class RefereeError(Exception):
    """The referee disagrees: an illegal move, an improper deal or shuffle, a wrong result."""


def require(condition: bool, complaint: str) -> None:
    """Raise the complaint unless the condition holds."""
    if not condition:
        raise RefereeError(complaint)


@dataclass(frozen=True)
class CargoCard:
    flags: tuple[str, ...]  # in reading order: the top row of three, then the bottom row (R0.8)
    spice: str
    count: int  # 2 on a double

    @property
    def payment(self) -> str:
        return f"{self.spice} {'double' if self.count == 2 else 'single'}"


@dataclass(frozen=True)
class Port:
    spice: str  # or "chest": a joker (R0.9)
    limit: int
    monopoly: int

    @property
    def payment(self) -> str:
        return "joker" if self.spice == "chest" else f"{self.spice} port"


@dataclass
class Warehouse:
    cards: list[int] = field(default_factory=list)  # both in order of arrival
    ports: list[int] = field(default_factory=list)


@dataclass
class Contest:
    company: str
    attacking_rank: int
    defending_rank: int
    attacker: int
    defender: int
    attack: list[int] = field(default_factory=list)  # the cards each side has played so far
    defence: list[int] = field(default_factory=list)


# Paying. A card to pay with is written as in the move: "pepper double", "joker".


def price(kind: str, spice: str | None) -> dict[str, int]:
    """How many of each spice a contract asks for (R0.10)."""
    return {s: SPICES_OF_KIND[kind] if spice in (None, s) else 0 for s in SPICES}


def first_owed(owed: Mapping[str, int]) -> str | None:
    """The spice to be paid next, or None when all is paid."""
    return next((spice for spice in SPICES if owed[spice]), None)


def is_pirate_trade(card: str, spice: str) -> bool:
    """Whether the card shows another spice than the one owed; a joker needs no pirates (R9.2)."""
    return card != "joker" and card.split()[0] != spice


def after_paying(owed: Mapping[str, int], spice: str, card: str) -> dict[str, int]:
    """What is owed once the card is given for the spice: no refund (R3.3), pirates count one (R9.2)."""
    worth = 2 if card == f"{spice} double" else 1
    return {**owed, spice: max(0, owed[spice] - worth)}


def can_be_paid(owed: Mapping[str, int], cards: Counter[str], pirates: bool) -> bool:
    """Whether the cards cover everything owed, with one pirate trade where the pirates are free."""
    missing = 0
    for spice in SPICES:
        own = cards[f"{spice} single"] + 2 * cards[f"{spice} double"] + cards[f"{spice} port"]
        missing += max(0, owed[spice] - own)
    if missing <= cards["joker"]:
        return True
    if not pirates or missing > cards["joker"] + 1:
        return False
    return any(
        can_be_paid(after_paying(owed, spice, card), cards - Counter([card]), pirates=False)
        for spice in SPICES
        for card in cards
        if owed[spice] and is_pirate_trade(card, spice)
    )


class Referee:
    """One game: set up from a record's header, then told every move and every shuffle."""

    phase: str
    player: int | None  # who decides; nobody when a shuffle is awaited or the game is over
    _kind: str  # the contract being paid
    _owed: dict[str, int]
    _contest: Contest
    _port_place: int  # where the last card was played

    def __init__(self, header: dict) -> None:
        try:
            self._read_ruleset(header["ruleset"])
            self._read_tables(header)
            self._read_deal(header["deal"])
        except KeyError as missing:
            raise RefereeError(f"the header lacks {missing}") from None
        self.ladders: dict[str, list[int]] = {company: [] for company in COMPANIES}
        self.warehouses = [Warehouse() for _ in range(self.players)]
        self.fulfilled: list[list[str]] = [[] for _ in range(self.players)]
        self.ship_holder: int | None = None
        self.discard_pile: list[int] = []
        self.cards_at_port: list[list[int]] = [[] for _ in range(OPEN_PORTS)]
        self._placing = self._placing_order()
        self._last_contracts: list[int] | None = None  # who is still to be asked; None until the end
        self._takers: list[int] = []
        self._to_draw = 0
        self._ask_for_placing()

    # Setting up (R1)

    def _read_ruleset(self, ruleset: dict) -> None:
        edition = ruleset["edition"]
        require(edition in ("board", "card"), f"there is no edition {edition!r}")
        self.board = edition == "board"
        self.players: int = ruleset["players"]
        self.traders: int = ruleset["traders"]
        self.blackbeard: bool = ruleset["blackbeard"]
        require(self.players in (3, 4, 5), f"{self.players} players: Borneo is for 3 to 5")
        four_allowed = self.board and self.players == 3  # R9.1
        proper = self.traders == 3 or (self.traders == 4 and four_allowed)
        require(proper, f"{self.traders} traders each with {self.players} players, {edition} edition")
        require(self.board or not self.blackbeard, "Blackbeard sails in the board edition only")  # R9

    def _read_tables(self, header: dict) -> None:
        self.cargo = [CargoCard(tuple(c["flags"]), c["spice"], c["count"]) for c in header["cargo"]]
        self.ports = [Port(p["spice"], p["limit"], p["monopoly"]) for p in header["ports"]]
        self.supply: dict[str, int] = dict(header["contracts"])
        self.points: dict[str, int] = dict(header["contract_points"])
        for number, card in enumerate(self.cargo):
            proper = len(card.flags) == 4 and set(card.flags) <= set(COMPANIES)
            proper = proper and card.spice in SPICES and card.count in (1, 2)
            require(proper, f"cargo card {number} is not a proper one: {card}")
        for number, port in enumerate(self.ports):
            proper = port.spice in (*SPICES, "chest") and port.limit >= 1 and port.monopoly >= 1
            require(proper, f"port {number} is not a proper one: {port}")
        for kind, number in self.supply.items():
            require(kind in SPICES_OF_KIND and number >= 0, f"no proper supply: {number} of {kind!r}")
            require(kind in self.points, f"the contract {kind} has no points")

    def _read_deal(self, deal: dict) -> None:
        self.start = self.turn_player = deal["start"]
        self.hands: list[list[int]] = [sorted(hand) for hand in deal["hands"]]
        self.draw_pile: list[int] = list(deal["draw"])  # top card first
        require(self.start in range(self.players), f"there is no player {self.start} to start")
        sizes = [len(hand) for hand in self.hands]
        require(sizes == [FIRST_HAND] * self.players, f"hands of {sizes} cards are dealt")  # R1.1
        dealt = sorted(sum(self.hands, self.draw_pile))
        require(dealt == list(range(len(self.cargo))), f"not each cargo card once is dealt: {dealt}")
        ports = list(deal["ports"])
        require(sorted(ports) == list(range(len(self.ports))), f"not each port once is dealt: {ports}")
        require(len(ports) >= OPEN_PORTS, f"only {len(ports)} ports: three must lie open")
        self.open_ports: list[int | None] = list(ports[:OPEN_PORTS])  # R1.3
        self.port_pile: list[int] = ports[OPEN_PORTS:]

    def _placing_order(self) -> list[int]:
        in_turn = [(self.start + seat) % self.players for seat in range(self.players)]
        rounds = [in_turn if r % 2 == 0 else in_turn[::-1] for r in range(self.traders)]  # R1.6
        return [player for players in rounds for player in players]

    # What anyone may ask

    @property
    def over(self) -> bool:
        return self.phase == "over"

    @property
    def needs_shuffle(self) -> bool:
        return self._to_draw > 0 and not self.draw_pile and bool(self.discard_pile)  # R8.1

    def warehouse_cards(self, player: int) -> list[int]:
        return list(self.warehouses[player].cards)

    def warehouse_ports(self, player: int) -> list[int]:
        return list(self.warehouses[player].ports)

    def port_cards(self, place: int) -> list[int]:
        return list(self.cards_at_port[place])

    def discards(self) -> set[int]:
        return set(self.discard_pile)

    def contracts(self) -> list[int]:
        return [len(kinds) for kinds in self.fulfilled]

    def scores(self) -> list[int]:
        return [self._score(player) for player in range(self.players)]

    def _score(self, player: int) -> int:
        goods = len(self.warehouses[player].cards) + len(self.warehouses[player].ports)
        penalty = SHIP_PENALTY if self.ship_holder == player else 0  # R9.2
        return goods + sum(self.points[kind] for kind in self.fulfilled[player]) - penalty  # R8.6

    def places(self) -> list[int]:
        merits = list(zip(self.scores(), self.contracts(), strict=True))
        return [1 + sum(other > own for other in merits) for own in merits]  # R8.7

    def legal(self) -> set[str]:
        """All legal move texts of the player who decides; none when nobody does."""
        if self.player is None:
            return set()
        choice = self.phase.removeprefix("last ")  # a last contract is chosen like any other
        return set(getattr(self, f"_legal_{choice}")())

    def play(self, move: str) -> None:
        """Carry out a move of the player who decides: `attack red 3 1` is done by `_play_attack`."""
        require(not self.over, f"{move!r}: the game is over")
        require(not self.needs_shuffle, f"{move!r}: the discard pile must be shuffled first")
        legal = self.legal()
        if move not in legal:
            which = f"player {self.player} may not play {move!r} in phase {self.phase}"
            raise RefereeError(f"{which}, only {sorted(legal)}")
        verb, *words = move.split()
        getattr(self, f"_play_{verb}")(*words)

    def _ask(self, phase: str, player: int | None) -> None:
        self.phase, self.player = phase, player

    # Placing traders (R1.6)

    def _ask_for_placing(self) -> None:
        if self._placing:
            self._ask("place", self._placing.pop(0))
        else:
            self._ask("contract", self.start)  # R1.5

    def _has_room(self, company: str) -> bool:
        return not self.board or len(self.ladders[company]) < LADDER_SLOTS  # R0.7

    def _legal_place(self) -> Iterator[str]:
        for company in COMPANIES:
            behind_own = self.ladders[company][-1:] == [self.player]
            if self._has_room(company) and (self.board or not behind_own):  # R1.7
                yield f"place {company}"

    def _play_place(self, company: str) -> None:
        self.ladders[company].append(self.player)
        self._ask_for_placing()

    # Phase 1: contracts (R3), and the last contracts (R8.5)

    def _cards_to_pay_with(self) -> Counter[str]:
        own = self.warehouses[self.player]
        cards = [self.cargo[card].payment for card in own.cards]
        return Counter(cards + [self.ports[port].payment for port in own.ports])

    def _pirates_are_free(self) -> bool:
        in_phase_1 = self._last_contracts is None
        return self.blackbeard and in_phase_1 and self.ship_holder != self.player  # R9.2

    def _legal_contract(self) -> Iterator[str]:
        yield "contract none"
        cards, pirates = self._cards_to_pay_with(), self._pirates_are_free()
        for kind in (kind for kind in self.supply if self.supply[kind]):
            for spice in SPICES if kind.startswith("same") else (None,):
                if can_be_paid(price(kind, spice), cards, pirates):  # R3.1
                    yield f"contract {kind} {spice}" if spice else f"contract {kind}"

    def _play_contract(self, kind: str, spice: str | None = None) -> None:
        if kind == "none":
            self._go_on_after_contract()
        else:
            self._kind, self._owed = kind, price(kind, spice)
            self._ask("pay", self.player)

    def _legal_pay(self) -> Iterator[str]:
        spice, cards, pirates = first_owed(self._owed), self._cards_to_pay_with(), self._pirates_are_free()
        for card in cards:
            trade = is_pirate_trade(card, spice)
            rest, left = after_paying(self._owed, spice, card), cards - Counter([card])
            if (pirates or not trade) and can_be_paid(rest, left, pirates and not trade):
                yield f"pay {card}"

    def _play_pay(self, *card: str) -> None:
        payment, spice = " ".join(card), first_owed(self._owed)
        if is_pirate_trade(payment, spice):
            self.ship_holder = self.player  # R9.2
        self._owed = after_paying(self._owed, spice, payment)
        self._give_up(payment)
        if not first_owed(self._owed):
            self.supply[self._kind] -= 1
            self.fulfilled[self.player].append(self._kind)
            self._go_on_after_contract()

    def _give_up(self, payment: str) -> None:
        """Give the card of this sort that has lain longest (R3.3); a port leaves the game (R3.4)."""
        own = self.warehouses[self.player]
        if payment == "joker" or payment.endswith("port"):
            own.ports.remove(next(p for p in own.ports if self.ports[p].payment == payment))
        else:
            card = next(c for c in own.cards if self.cargo[c].payment == payment)
            own.cards.remove(card)
            self.discard_pile.append(card)

    def _go_on_after_contract(self) -> None:
        if self._last_contracts is None:
            self._ask("traders", self.turn_player)
        else:
            self._ask_for_last_contract()

    # Phase 2: traders (R4)

    def _legal_traders(self) -> Iterator[str]:
        yield "traders none"
        for company, ladder in self.ladders.items():
            can_attack = bool(self._cards_to_add(self.player, company, []))
            for rank in (rank for rank, trader in enumerate(ladder, 1) if trader == self.player):
                for target in COMPANIES:
                    if target != company and self._has_room(target):  # R4.1
                        yield f"transfer {company} {rank} {target}"
                for rank_above in range(1, rank):
                    if can_attack and ladder[rank_above - 1] != self.player:  # R4.2
                        yield f"attack {company} {rank} {rank_above}"

    def _play_traders(self, _none: str) -> None:
        self._ask("ship", self.turn_player)

    def _play_transfer(self, company: str, rank: str, target: str) -> None:
        self.ladders[target].append(self.ladders[company].pop(int(rank) - 1))
        self._ask("ship", self.turn_player)

    def _play_attack(self, company: str, rank: str, rank_above: str) -> None:
        defender = self.ladders[company][int(rank_above) - 1]
        self._contest = Contest(company, int(rank), int(rank_above), self.player, defender)
        self._ask("commit", self.player)

    def _cards_to_add(self, player: int, company: str, played: list[int]) -> list[int]:
        """The hand cards with the company's flag that may follow those played, by ascending id."""
        if len(self.hands[player]) <= 1:
            return []  # R4.5
        later = [card for card in self.hands[player] if not played or card > played[-1]]
        return [card for card in later if company in self.cargo[card].flags]  # R4.3, R4.4

    def _legal_commit(self) -> Iterator[str]:
        contest = self._contest
        for card in self._cards_to_add(contest.attacker, contest.company, contest.attack):
            yield f"commit {card}"
        if contest.attack:
            yield "commit done"

    def _play_commit(self, card: str) -> None:
        if card == "done":
            self._ask("defend", self._contest.defender)
        else:
            self.hands[self._contest.attacker].remove(int(card))
            self._contest.attack.append(int(card))

    def _legal_defend(self) -> Iterator[str]:
        contest = self._contest
        yield "defend done"
        if len(contest.defence) < len(contest.attack):  # R4.4
            for card in self._cards_to_add(contest.defender, contest.company, contest.defence):
                yield f"defend {card}"

    def _play_defend(self, card: str) -> None:
        if card == "done":
            self._decide_contest()
        else:
            self.hands[self._contest.defender].remove(int(card))
            self._contest.defence.append(int(card))

    def _strength(self, cards: list[int]) -> int:
        return sum(self.cargo[card].flags.count(self._contest.company) for card in cards)

    def _decide_contest(self) -> None:
        contest = self._contest
        between = contest.attacking_rank - contest.defending_rank - 1  # R4.6
        attacker_wins = self._strength(contest.attack) >= self._strength(contest.defence) + between
        self.discard_pile += contest.attack  # R4.9
        if attacker_wins:
            self.discard_pile += contest.defence
            ladder = self.ladders[contest.company]
            ladder[contest.defending_rank - 1] = contest.attacker  # R4.7
            ladder[contest.attacking_rank - 1] = contest.defender  # and stays there unless it leaves
            self._ask("yield", contest.defender)
        elif contest.defence:
            self._ask("keep", contest.defender)
        else:
            self._ask("ship", self.turn_player)

    def _legal_keep(self) -> list[str]:
        return ["keep none"] + [f"keep {card}" for card in self._contest.defence]

    def _play_keep(self, card: str) -> None:
        if card != "none":
            self._contest.defence.remove(int(card))
            self.warehouses[self._contest.defender].cards.append(int(card))  # R4.8
        self.discard_pile += self._contest.defence
        self._ask("ship", self.turn_player)

    def _legal_yield(self) -> Iterator[str]:
        yield "yield slot"
        for company in COMPANIES:
            another = company != self._contest.company
            if self._has_room(company) and (another or not self.board):  # R4.7
                yield f"yield {company}"

    def _play_yield(self, where: str) -> None:
        if where != "slot":
            trader = self.ladders[self._contest.company].pop(self._contest.attacking_rank - 1)
            self.ladders[where].append(trader)
        self._ask("ship", self.turn_player)

    # Phase 3: cargo (R5)

    def _legal_ship(self) -> list[str]:
        return [f"ship {card} {place}" for card in self.hands[self.player] for place in range(OPEN_PORTS)]

    def _play_ship(self, card: str, place: str) -> None:
        self.hands[self.player].remove(int(card))
        self._port_place = int(place)
        cards = self.cards_at_port[self._port_place]
        cards.append(int(card))
        port, flags = self.ports[self.open_ports[self._port_place]], self._visible_flags(cards)
        shown = Counter(flags)
        reached = [company for company in COMPANIES if shown[company] >= port.monopoly]
        if reached:  # R5.2
            self._give_monopoly(self._monopolist(reached, shown, self.cargo[int(card)]))
        elif len(cards) >= port.limit:
            self._share_out(sorted(shown, key=lambda c: (-shown[c], flags.index(c))))  # R7.2
        else:
            self._start_drawing()

    def _visible_flags(self, cards: list[int]) -> list[str]:
        """Card by card in the order played: the top rows, and the whole of the last card (R5.1)."""
        top_rows = [flag for card in cards for flag in self.cargo[card].flags[:TOP_ROW]]
        return top_rows + list(self.cargo[cards[-1]].flags[TOP_ROW:])

    def _monopolist(self, reached: list[str], shown: Counter[str], last: CargoCard) -> str:
        if self.board:
            return min(reached, key=last.flags.index)  # R6.1
        return min(reached, key=lambda company: (-shown[company], last.flags.index(company)))

    # The two distributions (R6, R7), at the port place where the last card was played

    def _give_monopoly(self, company: str) -> None:
        ladder = self.ladders[company]
        owner = self.turn_player if self.board else next(iter(ladder), None)  # R6.2
        self._distribute(owner, ladder)  # R6.3

    def _share_out(self, companies: list[str]) -> None:
        ladders = [self.ladders[company] for company in companies]
        ranks = range(max(len(ladder) for ladder in ladders))
        takers = [ladder[rank] for rank in ranks for ladder in ladders if rank < len(ladder)]  # R7.3
        self._distribute(self.turn_player, takers)  # R7.1

    def _distribute(self, owner: int | None, takers: list[int]) -> None:
        """Hand out the port, then the cargo: the takers choose in turn, again and again (R6.3, R7.4)."""
        if owner is not None:
            self.warehouses[owner].ports.append(self.open_ports[self._port_place])
        self.open_ports[self._port_place] = None
        cards = self.cards_at_port[self._port_place]
        if not takers:  # R6.4, R7.4
            self.discard_pile += cards
            cards.clear()
        self._takers = [takers[i % len(takers)] for i in range(len(cards))]
        self._ask_for_taking()

    def _ask_for_taking(self) -> None:
        if self._takers:
            self._ask("take", self._takers.pop(0))
        elif self.port_pile:
            self.open_ports[self._port_place] = self.port_pile.pop(0)  # R7.6
            self._start_drawing()
        else:
            self._end_game()  # R8.3

    def _legal_take(self) -> list[str]:
        return [f"take {card}" for card in self.cards_at_port[self._port_place]]

    def _play_take(self, card: str) -> None:
        self.cards_at_port[self._port_place].remove(int(card))
        self.warehouses[self.player].cards.append(int(card))
        self._ask_for_taking()

    # Phase 4: drawing (R8.1, R8.2)

    def _start_drawing(self) -> None:
        self._to_draw = CARDS_DRAWN
        self._draw()

    def _draw(self) -> None:
        """Draw until all is drawn, a shuffle is needed, or nothing is left to draw."""
        self._ask("drop", None)
        hand = self.hands[self.turn_player]
        while self._to_draw and self.draw_pile:
            hand.append(self.draw_pile.pop(0))
            self._to_draw -= 1
        hand.sort()
        if not self._to_draw:
            self._ask_for_dropping()
        elif not self.needs_shuffle:
            self._end_game()  # R8.3

    def shuffle(self, pile: list[int]) -> None:
        """Make the shuffled discard pile the draw pile, and go on drawing."""
        require(self.needs_shuffle, "a shuffle where none is needed")
        discarded = sorted(self.discard_pile)
        require(sorted(pile) == discarded, f"the new pile {pile} is not the discard pile {discarded}")
        self.draw_pile, self.discard_pile = list(pile), []
        self._draw()

    def _ask_for_dropping(self) -> None:
        if len(self.hands[self.turn_player]) > HAND_LIMIT:  # R8.2
            self._ask("drop", self.turn_player)
        else:
            self.turn_player = (self.turn_player + 1) % self.players  # R2
            self._ask("contract", self.turn_player)

    def _legal_drop(self) -> list[str]:
        return [f"drop {card}" for card in self.hands[self.player]]

    def _play_drop(self, card: str) -> None:
        self.hands[self.player].remove(int(card))
        self.discard_pile.append(int(card))
        self._ask_for_dropping()

    # The end (R8.3 to R8.5)

    def _end_game(self) -> None:
        self._to_draw = 0
        for cards in self.hands + self.cards_at_port:  # R8.4
            self.discard_pile += cards
            cards.clear()
        left_neighbour = self.turn_player + 1
        self._last_contracts = [(left_neighbour + i) % self.players for i in range(self.players)]
        self._ask_for_last_contract()

    def _ask_for_last_contract(self) -> None:
        if self._last_contracts:
            self._ask("last contract", self._last_contracts.pop(0))  # R8.5
        else:
            self._ask("over", None)


def check_record(lines: Iterable[dict]) -> Referee:
    """Replay a whole parsed record; raise RefereeError with the line number where it disagrees."""
    referee: Referee | None = None
    finished = False
    number = 0
    for number, line in enumerate(lines, 1):
        try:
            require(not finished, "nothing may follow the result")
            if referee is None:
                require(line.get("format") == FORMAT, f"the format is not {FORMAT}")
                referee = Referee(line)
            else:
                finished = check_line(referee, line)
        except RefereeError as error:
            raise RefereeError(f"line {number}: {error}") from None
    if referee is None or not finished:
        raise RefereeError(f"line {number + 1}: the record ends without a result")
    return referee


def check_line(referee: Referee, line: dict) -> bool:
    """Carry out a move, a shuffle or the result; say whether it was the result."""
    if "move" in line:
        check_move(referee, line)
    elif "shuffle" in line:
        referee.shuffle(line["shuffle"])
    else:
        require("scores" in line, f"neither a move, a shuffle nor a result: {line}")
        check_result(referee, line)
    return "scores" in line


def check_move(referee: Referee, line: dict) -> None:
    """Check who moves, what was legal and whether it was forced; then play the move."""
    if referee.player is not None:
        mover, legal = line.get("player"), sorted(referee.legal())
        require(mover == referee.player, f"player {mover} moves, but player {referee.player} decides")
        listed = sorted(line.get("legal", legal))
        require(listed == legal, f"the legal moves are {legal}, but the record has {listed}")
        forced = line.get("forced", False)
        require(forced is (len(legal) == 1), f"forced is {forced}, but {len(legal)} moves are legal")
    referee.play(line["move"])


def check_result(referee: Referee, line: dict) -> None:
    """Compare the record's last line with the final scores, places and contracts."""
    require(referee.over, f"a result, but the game goes on in phase {referee.phase}")
    result = {"scores": referee.scores(), "places": referee.places(), "contracts": referee.contracts()}
    for name, ours in result.items():
        require(line.get(name) == ours, f"the {name} are {ours}, but the record has {line.get(name)}")
