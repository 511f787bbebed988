"""The engine and the independent referee agree: who decides, every legal move, where every card lies, every score.

Random play rarely pays a contract or defends, so half of the games are played by eager players, who do both whenever
they can. The soak test (`make soak`) compares more than 20,000 games on all cores.
"""

from __future__ import annotations

import copy
import multiprocessing
import os
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import playing
import pytest
import referee
from referee import Referee, RefereeError, check_record

from borneo_env.cards import CHEST, COMPANIES, CONTRACT_KINDS, SPICES, Tables, read_tables
from borneo_env.engine.actions import PASS
from borneo_env.engine.batch import Batch
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import AT_PORT, CARDS, DISCARD, HAND, OPEN_PORTS, WAREHOUSE
from borneo_env.record import Line, header, record_games, result_line, step_and_record
from borneo_env.ruleset import Ruleset, every_ruleset

RULESETS = every_ruleset()
VERBS = [name.removeprefix("_play_") for name in vars(Referee) if name.startswith("_play_")]  # the first words of moves
OWN_CARDS_SEEDS = range(14)
Choose = Callable[[Batch], np.ndarray]
Watch = Callable[[Batch, list[list[Line]]], None]


# ---------------------------------------------------------------- players

# How often eager players do what they came for, where it is legal.
EAGERNESS = {"contract": 0.9, "traders": 0.7, "commit": 0.6, "defend": 0.85, "keep": 0.8, "last contract": 0.95}
SAVERS = 3  # every third game is played by savers, who leave most contracts and fights for later: full hands and stores
SAVING = {**EAGERNESS, "contract": 0.15, "traders": 0.15}


class Eager:
    """Chooses contracts, attacks, defences and kept cards with high probability, and among equals at random."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, batch: Batch) -> np.ndarray:
        actions = np.full(len(batch), NO_ACTION)
        for game in np.flatnonzero(batch.player >= 0):
            actions[game] = self.choose(batch, int(game))
        return actions

    def choose(self, batch: Batch, game: int) -> int:
        legal, phase = np.flatnonzero(batch.mask[game]), batch.phase_name(game)
        eagerness = EAGERNESS if game % SAVERS else SAVING
        if self.rng.random() < eagerness.get(phase, 0):
            contests = legal[legal >= batch.actions.block("contest").start]
            wanted = contests if phase == "traders" else legal[legal != PASS]
            legal = wanted if len(wanted) else legal
        return int(self.rng.choice(legal))


def random_players(seed: int) -> Choose:
    return Batch.sample  # the games' own streams of choices


def eager_players(seed: int) -> Choose:
    return Eager(seed)


PLAYERS = {"random": random_players, "eager": eager_players}


def play(
    ruleset: Ruleset, games: int, seed: int, players: str, first: int = 0, watch: Watch | None = None
) -> list[list[Line]]:
    """Play games to their end and return their records; `watch` sees the batch and the records after every step."""
    batch = Batch(games, ruleset, seed=seed, first=first, finished="hold", skip_forced=False)
    choose = PLAYERS[players](seed)
    records = [[header(ruleset, game, [players] * ruleset.players, seed)] for game in batch.games]
    while (batch.player >= 0).any():
        actions = choose(batch)
        assert (actions != NO_ACTION).any(), "games that are not over have no legal move"
        step_and_record(batch, actions, records, legal=True)
        if watch:
            watch(batch, records)
    for i, record in enumerate(records):
        record.append(result_line(batch, i))
    return records


# ---------------------------------------------------------------- card tables nobody would print


def random_tables(seed: int) -> Tables:
    """A card table with odd ports, flags and contracts, through the loader that users' files go through."""
    rng = np.random.default_rng([seed, 60])
    spices = rng.choice(SPICES, size=rng.integers(1, 9))  # some spices are common, others may be missing
    doubles, fours = rng.random(2) * 0.6
    return read_tables(
        {
            "cargo": [_random_cargo(rng, spices, doubles, fours) for _ in range(CARDS)],
            "ports": _random_ports(rng),
            "contracts": [_random_contract(rng, kind) for kind in CONTRACT_KINDS if rng.random() < 0.9],
        },
        f"random table {seed}",
    )


def _random_cargo(rng: np.random.Generator, spices: np.ndarray, doubles: float, fours: float) -> dict[str, Any]:
    flags = rng.choice(COMPANIES, size=4)
    if rng.random() < fours:
        flags[:] = flags[0]
    return {"flags": flags.tolist(), "spice": str(rng.choice(spices)), "count": 1 + int(rng.random() < doubles)}


def _random_ports(rng: np.random.Generator) -> list[dict[str, Any]]:
    """3 to 16 in play, whatever the number of players: as many are marked "3/4" as are marked "5"."""
    total = int(rng.integers(3, 17))
    marked = int(rng.integers(0, total + 1)) if rng.random() < 0.5 else 0
    marks = [""] * (total - marked) + ["3/4", "5"] * marked
    largest = int(rng.choice([3, 5, 8, 20, 60], p=[0.3, 0.3, 0.25, 0.1, 0.05]))
    return [
        {
            "name": f"Port {number}",
            "spice": str(rng.choice([*SPICES, CHEST])),
            "limit": int(rng.integers(1, largest + 1)),
            "monopoly": int(rng.integers(1, 13)),
            "mark": mark,
        }
        for number, mark in enumerate(marks)
    ]


def _random_contract(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    supply, marked = rng.choice([0, 1, 2, 5, 50], size=2).tolist()
    return {"kind": kind, "points": int(rng.integers(0, 31)), "supply": supply, "marked_5": marked}


def random_ruleset(seed: int) -> Ruleset:
    box = RULESETS[seed % len(RULESETS)]
    return Ruleset(box.edition, box.players, box.traders, box.blackbeard, random_tables(seed))


# ---------------------------------------------------------------- records: who decides, what is legal, who wins


@pytest.mark.parametrize("ruleset", playing.RULESETS)
def test_the_referee_agrees_with_random_games(ruleset):
    records = play(ruleset, 3, 2024, "random")
    for record in records:
        assert check_record(record).scores() == record[-1]["scores"]
    assert records == record_games(ruleset, 3, seed=2024, agents=["random"] * ruleset.players, legal=True)


@cache
def eager_games(ruleset: Ruleset) -> list[list[Line]]:
    return play(ruleset, 6, 2041, "eager")


@cache
def checked_eager_games(ruleset: Ruleset) -> list[Referee]:
    return [check_record(record) for record in eager_games(ruleset)]


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda r: r.name)
def test_the_referee_agrees_with_eager_games(ruleset):
    for record, game in zip(eager_games(ruleset), checked_eager_games(ruleset), strict=True):
        assert game.scores() == record[-1]["scores"]


@cache
def own_cards_game(seed: int, players: str) -> tuple[list[Line], Referee]:
    """The record of a game, and the referee that has checked it."""
    record = play(random_ruleset(seed), 1, seed, players)[0]
    return record, check_record(record)


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("seed", OWN_CARDS_SEEDS)
def test_the_referee_agrees_with_any_card_table(seed, players):
    record, game = own_cards_game(seed, players)
    assert game.scores() == record[-1]["scores"]


def test_eager_games_show_all_there_is_to_compare():
    """A comparison is worth what its games contain: every verb, every contract, and what is rare in random play."""
    records = [record for ruleset in RULESETS for record in eager_games(ruleset)]
    moves = [line["move"] for record in records for line in record if "move" in line]
    verbs = Counter(move.split()[0] for move in moves)
    assert {verb for verb in VERBS if verbs[verb] < 100} == set(), f"hardly ever seen: {verbs}"
    assert {move for move in moves if move.startswith("contract")} == {
        "contract none",
        *(f"contract {kind}" for kind in CONTRACT_KINDS if kind.startswith("each")),
        *(f"contract {kind} {spice}" for kind in CONTRACT_KINDS if kind.startswith("same") for spice in SPICES),
    }
    assert moves.count("pay joker") > 50
    assert sum(move.startswith("keep ") and move != "keep none" for move in moves) > 100
    finished = [game for ruleset in RULESETS for game in checked_eager_games(ruleset)]
    assert sum(game.ship_holder is not None for game in finished) > 10
    assert sum("shuffle" in line for record in records for line in record) > 60


def test_games_with_own_cards_end_in_both_ways():
    """R8.3: in the box's games the ports nearly always run out first, here sometimes the cards do."""
    finished = [own_cards_game(seed, players)[1] for seed in OWN_CARDS_SEEDS for players in PLAYERS]
    without_a_port = sum(None in game.open_ports for game in finished)
    assert without_a_port >= 18
    assert len(finished) - without_a_port >= 3


# ---------------------------------------------------------------- positions: where everything lies after every move


def engine_position(batch: Batch, game: int) -> dict[str, Any]:
    """What lies where in one game of the engine."""
    g = batch.games[game]
    players = range(batch.ruleset.players)
    here = [_in_order(g, AT_PORT + place) for place in range(OPEN_PORTS)]
    stored = [_in_order(g, WAREHOUSE + player) for player in players]
    return {
        "phase": batch.phase_name(game),
        "player": int(g["player"]) if g["player"] >= 0 else None,
        "turn": int(g["turn"]),
        "ladders": {c: ladder[ladder >= 0].tolist() for c, ladder in zip(COMPANIES, g["ladder"], strict=True)},
        "hands": [np.flatnonzero(g["place"] == HAND + player).tolist() for player in players],
        "warehouse cards": [[thing for thing in things if thing < CARDS] for things in stored],
        "warehouse ports": [[thing - CARDS for thing in things if thing >= CARDS] for things in stored],
        "port cards": [[thing for thing in things if thing < CARDS] for things in here],
        "open ports": [int(port) - CARDS if port >= 0 else None for port in g["open"]],
        "draw pile": g["draw"][: g["draw_left"]][::-1].tolist(),
        "port pile": (g["port_pile"][: g["ports_left"]][::-1] - CARDS).tolist(),
        "discards": set(np.flatnonzero(g["place"] == DISCARD).tolist()),
        "supply": {kind: int(n) for kind, n in zip(CONTRACT_KINDS, g["supply"], strict=True)},
        "fulfilled": [dict(zip(CONTRACT_KINDS, g["fulfilled"][player].tolist(), strict=True)) for player in players],
        "ship holder": int(g["pirates"]) if g["pirates"] >= 0 else None,
        "scores": batch.scores()[game].tolist(),
        "places": batch.places()[game].tolist(),
    }


def _in_order(g: np.void, place: int) -> list[int]:
    """The things in a place in the order of their arrival."""
    things = np.flatnonzero(g["place"] == place)
    return things[np.argsort(g["since"][things], kind="stable")].tolist()


def referee_position(game: Referee) -> dict[str, Any]:
    """The same of the referee's game."""
    players = range(game.players)
    return {
        "phase": game.phase,
        "player": game.player,
        "turn": game.turn_player,
        "ladders": game.ladders,
        "hands": [sorted(hand) for hand in game.hands],
        "warehouse cards": [game.warehouse_cards(player) for player in players],
        "warehouse ports": [game.warehouse_ports(player) for player in players],
        "port cards": [game.port_cards(place) for place in range(OPEN_PORTS)],
        "open ports": game.open_ports,
        "draw pile": game.draw_pile,
        "port pile": game.port_pile,
        "discards": game.discards(),
        "supply": game.supply,
        "fulfilled": [{kind: kinds.count(kind) for kind in CONTRACT_KINDS} for kinds in game.fulfilled],
        "ship holder": game.ship_holder,
        "scores": game.scores(),
        "places": game.places(),
    }


class RefereeWatch:
    """Watches a batch with one referee per game beside it and compares the positions after every move."""

    def __init__(self) -> None:
        self.referees: list[Referee] = []
        self.read: list[int] = []  # lines each referee has been told
        self.compared = 0

    def __call__(self, batch: Batch, records: list[list[Line]]) -> None:
        if not self.referees:
            self.referees, self.read = [Referee(record[0]) for record in records], [1] * len(records)
        for i, record in enumerate(records):
            if self.read[i] < len(record):
                for line in record[self.read[i] :]:
                    referee.check_line(self.referees[i], line)
                self.read[i] = len(record)
                self.compared += 1
                assert engine_position(batch, i) == referee_position(self.referees[i]), record[-1]


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("ruleset", playing.RULESETS)
def test_the_positions_agree_after_every_move(ruleset, players):
    watch = RefereeWatch()
    records = play(ruleset, 1, 77, players, watch=watch)
    assert watch.compared == sum("move" in line for record in records for line in record)


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("seed", range(100, 104))
def test_the_positions_agree_with_any_card_table(seed, players):
    watch = RefereeWatch()
    play(random_ruleset(seed), 1, seed, players, watch=watch)
    assert watch.compared > 0


# ---------------------------------------------------------------- the comparison can fail


@cache
def whole_game() -> list[Line]:
    """A game with every verb and a shuffle."""
    return play(Ruleset(players=3), 1, 5, "eager")[0]


def a_record() -> list[Line]:
    """The record of that game, a fresh copy for every test to spoil."""
    return copy.deepcopy(whole_game())


def line_of(record: list[Line], verb: str, **marks: Any) -> int:
    """Index of the first line with a move of this verb and these marks."""
    return next(
        i
        for i, line in enumerate(record)
        if line.get("move", "").split(" ")[0] == verb and all(line.get(key) == value for key, value in marks.items())
    )


def objection(record: list[Line]) -> str:
    with pytest.raises(RefereeError) as caught:
        check_record(record)
    return str(caught.value)


def list_too_many(line: Line) -> None:
    line["legal"].append("place red" if not line["move"].startswith("place") else "traders none")


SPOILT_LINES = [  # what is spoilt in the line of a move, and what the referee says
    (lambda line: line["legal"].pop(), "the legal moves are"),
    (list_too_many, "the legal moves are"),
    (lambda line: line.update(player=(line["player"] + 1) % 3), "player [012] moves"),
]


@pytest.mark.parametrize(("spoil", "words"), SPOILT_LINES, ids=["a move not listed", "one too many", "who decides"])
@pytest.mark.parametrize("verb", VERBS)
def test_the_referee_sees_a_spoilt_line(verb, spoil, words):
    record = a_record()
    i = line_of(record, verb)
    spoil(record[i])
    assert re.match(f"line {i + 1}: {words}", objection(record))


@pytest.mark.parametrize("result", ["scores", "places", "contracts"])
@pytest.mark.parametrize("player", range(3))
def test_the_referee_counts_for_itself(result, player):
    record = a_record()
    record[-1][result][player] += 1
    assert objection(record).startswith(f"line {len(record)}: the {result} are")


def test_the_referee_knows_what_was_forced():
    record = a_record()
    i = line_of(record, "contract", forced=True)
    del record[i]["forced"]
    assert "forced is False, but 1 moves are legal" in objection(record)
    record = a_record()
    i = line_of(record, "ship", forced=None)
    record[i]["forced"] = True
    assert objection(record).startswith(f"line {i + 1}: forced is True")


def test_the_referee_knows_the_discard_pile():
    record = a_record()
    i = next(i for i, line in enumerate(record) if "shuffle" in line)
    record[i]["shuffle"].pop()
    assert "is not the discard pile" in objection(record)


SPOILS = [  # what the comparison should see, the field of the engine's record that is spoilt, and its new value
    ("phase", "phase", lambda g: g["phase"] - 1),
    ("player", "player", lambda g: (g["player"] + 1) % 3),
    ("turn", "turn", lambda g: (g["turn"] + 1) % 3),
    ("ladders", "ladder", lambda g: g["ladder"][::-1]),
    ("hands", "place", lambda g: np.where(g["place"] == HAND, DISCARD, g["place"])),
    ("discards", "place", lambda g: np.where(g["place"] == DISCARD, HAND, g["place"])),
    ("warehouse cards", "since", lambda g: -g["since"]),
    ("warehouse ports", "place", lambda g: np.where(g["place"] == WAREHOUSE, WAREHOUSE + 1, g["place"])),
    ("port cards", "since", lambda g: -g["since"]),
    ("open ports", "open", lambda g: g["open"][::-1]),
    ("draw pile", "draw_left", lambda g: g["draw_left"] - 1),
    ("port pile", "ports_left", lambda g: g["ports_left"] - 1),
    ("supply", "supply", lambda g: g["supply"] + 1),
    ("fulfilled", "fulfilled", lambda g: g["fulfilled"] + 1),
    ("scores", "fulfilled", lambda g: g["fulfilled"] + 1),
    ("ship holder", "pirates", lambda g: 0),
]


@pytest.mark.parametrize(("seen", "field", "value"), SPOILS, ids=[spoil[0] for spoil in SPOILS])
def test_a_position_that_differs_is_seen(seen, field, value):
    batch, game = halfway()
    batch = batch.copy()
    assert engine_position(batch, 0) == referee_position(game)
    batch.games[0][field] = value(batch.games[0])
    engine, slow = engine_position(batch, 0), referee_position(game)
    assert engine[seen] != slow[seen]


@cache
def halfway() -> tuple[Batch, Referee]:
    """A game in which player 0 has cards in hand and in the warehouse, and the referee beside it."""
    batch = Batch(1, Ruleset(players=3), seed=4, finished="hold", skip_forced=False)
    records = [[header(batch.ruleset, batch.games[0], ["random"] * 3, 4)]]
    watch = RefereeWatch()
    while (batch.games["stock"][0, 0].sum() < 6) or batch.phase_name() != "ship":
        step_and_record(batch, batch.sample(), records)
        watch(batch, records)
    return batch, watch.referees[0]


# ---------------------------------------------------------------- soak

GAMES_PER_TASK = 50
SOAK_TASKS = 400  # of the rulesets of the box, half of them eager
TABLE_TASKS = 500  # of random card tables
GAMES_PER_TABLE = 4


def soak_task(task: tuple[str, int]) -> tuple[int, int]:
    """Play and compare some games; returns how many games and decisions. Runs in a process of its own."""
    kind, number = task
    players = list(PLAYERS)[number % 2]
    if kind == "box":
        ruleset, games = RULESETS[number // 2 % len(RULESETS)], GAMES_PER_TASK
    else:
        ruleset, games = random_ruleset(1_000 + number), GAMES_PER_TABLE
    records = play(ruleset, games, 10_000 + number, players, watch=RefereeWatch() if number % 10 < 2 else None)
    for record in records:
        try:
            check_record(record)
        except RefereeError as error:
            raise AssertionError(f"{ruleset.name}, task {task}: {error}") from None
    return games, sum("move" in line for record in records for line in record)


@pytest.mark.soak
def test_the_referee_agrees_with_22000_games(capsys):
    tasks = [("box", i) for i in range(SOAK_TASKS)] + [("own cards", i) for i in range(TABLE_TASKS)]
    soak_task(tasks[0])  # compiles once, so that the processes find machine code on disk
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=spawn) as pool:
        counted = np.array(list(pool.map(soak_task, tasks, chunksize=4)))
    games, decisions = counted.sum(0).tolist()
    with capsys.disabled():
        print(f"\n{games:,} games with {decisions:,} decisions compared with the referee")
    assert games == SOAK_TASKS * GAMES_PER_TASK + TABLE_TASKS * GAMES_PER_TABLE
