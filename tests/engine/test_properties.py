"""Whatever is played, with whatever cards: the table stays in order, the mask tells the truth, and every game ends."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from borneo_env import NO_ACTION, PHASES, Batch, IllegalMove, Ruleset, every_ruleset, load_tables
from borneo_env.cards import CHEST, COMPANIES, CONTRACT_KINDS, SPICES, read_tables
from borneo_env.engine.state import AT_PORT, ATTACK, CARDS, DEFENCE, DISCARD, HAND, OUT, PILE, WAREHOUSE
from kontor.engine.check import check_games

ALL = 1000
REPRODUCIBLE = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
MOST_DECISIONS = 5_000  # far more than any game has had: 3,000 are not reached with the largest ports


# Card tables of all sorts


@st.composite
def ports(draw, mark=""):
    return {
        "name": draw(st.sampled_from(["Makassar", "Banda", "Aceh"])),
        "spice": draw(st.sampled_from([*SPICES, CHEST])),
        "limit": draw(st.integers(1, 8) | st.integers(1, CARDS)),
        "monopoly": draw(st.integers(1, 12)),
        "mark": mark,
    }


@st.composite
def cargo(draw):
    """Sixty cards, drawn as a few sorts that are repeated: any four flags, any spice, single or double."""
    card = st.fixed_dictionaries(
        {
            "flags": st.lists(st.sampled_from(COMPANIES), min_size=4, max_size=4),
            "spice": st.sampled_from(SPICES),
            "count": st.integers(1, 2),
        }
    )
    sorts = draw(st.lists(card, min_size=1, max_size=12))
    return [sorts[i % len(sorts)] for i in range(CARDS)]


@st.composite
def tables(draw):
    contracts = [
        {
            "kind": kind,
            "points": draw(st.integers(0, 30) | st.integers(0, ALL)),
            "supply": draw(st.integers(0, 3) | st.integers(0, 50)),
            "marked_5": draw(st.integers(0, 2)),
        }
        for kind in draw(st.lists(st.sampled_from(CONTRACT_KINDS), unique=True, max_size=5))
    ]
    data = {
        "cargo": draw(cargo()),
        "ports": draw(st.lists(ports(), min_size=3, max_size=16)),
        "contracts": contracts,
    }
    return read_tables(data, "drawn")


@st.composite
def own_rulesets(draw):
    ruleset = draw(st.sampled_from(every_ruleset()))
    return Ruleset(ruleset.edition, ruleset.players, ruleset.traders, ruleset.blackbeard, draw(tables()))


rulesets = st.sampled_from([*every_ruleset(), Ruleset(tables="tiny")]) | own_rulesets()


# Counting again


def recounted_scores(ruleset, game):
    """Points from what lies in the warehouses and the contracts fulfilled (R8.6, R9.2)."""
    points = []
    for player in range(ruleset.players):
        things = int((game["place"] == WAREHOUSE + player).sum())
        contracts = zip(game["fulfilled"][player].tolist(), ruleset.tables.contracts, strict=True)
        paid = sum(made * contract.points for made, contract in contracts)
        points.append(things + paid - 2 * (game["pirates"] == player))
    return points


def spots_of_cards(ruleset, game):
    """Every spot of the table with the cards it says to hold, from its own list or count."""
    place = game["place"][:CARDS]
    spots = {"draw pile": game["draw"][: game["draw_left"]].tolist()}
    for name, number in (("discard pile", DISCARD), ("attack", ATTACK), ("defence", DEFENCE)):
        spots[name] = np.flatnonzero(place == number).tolist()
    for k in range(3):
        spots[f"port {k}"] = np.flatnonzero(place == AT_PORT + k).tolist()
        assert len(spots[f"port {k}"]) == game["laid"][k]
    for player in range(ruleset.players):
        spots[f"hand {player}"] = np.flatnonzero(place == HAND + player).tolist()
        assert len(spots[f"hand {player}"]) == game["hand_size"][player]
        spots[f"warehouse {player}"] = np.flatnonzero(place == WAREHOUSE + player).tolist()
        assert (game["place"] == WAREHOUSE + player).sum() == game["stock"][player].sum()
    return spots


def assert_every_card_lies_in_one_spot(ruleset, game):
    spots = spots_of_cards(ruleset, game)
    lying = [card for cards in spots.values() for card in cards]
    assert sorted(lying) == list(range(CARDS)), spots


def assert_every_port_lies_in_one_spot(ruleset, game):
    in_play = len(ruleset.tables.ports_in_play(ruleset.players))
    place = game["place"][CARDS : CARDS + in_play]
    pile = game["port_pile"][: game["ports_left"]].tolist()
    opened = [port for port in game["open"].tolist() if port >= 0]
    away = (CARDS + np.flatnonzero((place >= WAREHOUSE) | (place == OUT))).tolist()
    assert sorted(pile + opened + away) == list(range(CARDS, CARDS + in_play))
    assert sorted(pile) == (CARDS + np.flatnonzero(place == PILE)).tolist()
    assert (game["place"][CARDS + in_play :] == OUT).all()


def assert_ladders_are_in_order(ruleset, game):
    """No gaps (R1.8), not too long (R0.7), and everyone's traders are there."""
    slots = 5 if ruleset.edition == "board" else 15
    standing = []
    for ladder in game["ladder"].tolist():
        traders = [player for player in ladder if player >= 0]
        assert ladder == traders + [-1] * (len(ladder) - len(traders))
        assert len(traders) <= slots
        standing += traders
    most = [standing.count(player) for player in range(ruleset.players)]
    assert sum(most) == len(standing) == game["placed"]
    if PHASES[game["phase"]] != "place":
        assert most == [ruleset.traders] * ruleset.players


def assert_the_right_player_decides(ruleset, game):
    phase, player, turn = PHASES[game["phase"]], int(game["player"]), int(game["turn"])
    assert (player == -1) == (phase == "over")
    assert player < ruleset.players
    if phase in ("contract", "pay", "traders", "commit", "ship", "drop") and not game["ended"]:
        assert player == turn
    if phase in ("defend", "keep", "yield"):
        assert player != turn
    if phase == "ship":
        assert game["hand_size"][player] >= 1
    if phase == "drop":
        assert game["hand_size"][player] > 6
    if game["ended"]:
        assert phase in ("last contract", "pay", "over")
        assert player == -1 or (player - turn - 1) % ruleset.players == game["finished"]
    elif phase not in ("place", "take", "drop"):
        assert all(1 <= size <= 6 for size in game["hand_size"][: ruleset.players])


def assert_in_order(ruleset, game):
    """What check_games checks and more, written independently of it."""
    assert_every_card_lies_in_one_spot(ruleset, game)
    assert_every_port_lies_in_one_spot(ruleset, game)
    assert_ladders_are_in_order(ruleset, game)
    assert_the_right_player_decides(ruleset, game)
    contracts = game["fulfilled"].sum(0) + game["supply"]
    assert contracts.tolist() == list(ruleset.tables.supply_in_play(ruleset.players))
    assert (game["supply"] >= 0).all()


def preferred(batch, taste, number):
    """A legal action by its number, of those of the favoured sort if there are any."""
    options = batch.mask[0].nonzero()[0]
    phase = batch.phase_name()
    favoured = [a for a in options if batch.actions.text(int(a), phase).startswith(taste)]
    options = favoured or options
    return int(options[number % len(options)])


# What players may like to do; "" is anything.
tastes = st.sampled_from(
    [
        ("",),
        ("contract each", "contract same"),
        ("attack", "commit", "defend", "keep"),
        ("transfer", "yield red", "yield yellow", "yield green", "yield blue"),
        ("contract each", "contract same", "attack", "pay joker"),
        ("contract none", "traders none", "commit done", "defend done", "keep none"),
        ("place red", "ship 0", "ship 1", "ship 2"),
    ]
)


@REPRODUCIBLE
class OneGame(RuleBasedStateMachine):
    """One game, played by legal moves of any taste and attacked by illegal ones."""

    @initialize(ruleset=rulesets, seed=st.integers(0, 2**64 - 1), skip_forced=st.booleans())
    def deal(self, ruleset, seed, skip_forced):
        self.ruleset = ruleset
        self.batch = Batch(1, ruleset, seed=seed, finished="hold", skip_forced=skip_forced)

    @property
    def over(self):
        return self.batch.phase_name() == "over"

    def state(self):
        return self.batch.games.tobytes(), self.batch.mask.tobytes()

    @precondition(lambda self: not self.over)
    @rule(taste=tastes, numbers=st.lists(st.integers(0, ALL), min_size=5, max_size=60))
    def play(self, taste, numbers):
        """Any legal action is accepted, and does something."""
        positions = []
        for number in numbers:
            if not self.over:
                before = self.state()
                self.batch.step([preferred(self.batch, taste, number)])
                assert self.state() != before
                self.everything_is_in_order()
                positions.append(self.batch.games.copy())
        check_games(self.ruleset, np.concatenate(positions))

    @rule(number=st.integers(-5, ALL))
    def play_illegally(self, number):
        """Any other one is refused, without effect."""
        number = min(number, len(self.batch.actions) + 5)
        inside = 0 <= number < len(self.batch.actions)
        if inside and self.batch.mask[0, number]:
            return
        before = self.state()
        if number == NO_ACTION:
            self.batch.step([number])
            assert self.state() == before
            return
        try:
            self.batch.step([number])
        except IllegalMove:
            assert self.state() == before
        else:
            raise AssertionError(f"action {number} was accepted")

    @invariant()
    def everything_is_in_order(self):
        assert_in_order(self.ruleset, self.batch.games[0])

    @invariant()
    def the_mask_is_empty_only_at_the_end(self):
        assert self.batch.mask[0].any() != self.over

    @invariant()
    def the_points_are_right(self):
        assert self.batch.scores()[0].tolist() == recounted_scores(self.ruleset, self.batch.games[0])


class TestOneGame(OneGame.TestCase):
    settings = settings(REPRODUCIBLE, max_examples=12, stateful_step_count=25)


@pytest.mark.soak
class TestManyGames(OneGame.TestCase):
    settings = settings(REPRODUCIBLE, max_examples=500, stateful_step_count=25)


drawn_games = given(ruleset=rulesets, seed=st.integers(0, 2**64 - 1), taste=tastes)


@settings(REPRODUCIBLE, max_examples=15)
@drawn_games
def test_every_game_ends(ruleset, seed, taste):
    assert_it_ends(ruleset, seed, taste)


@pytest.mark.soak
@settings(REPRODUCIBLE, max_examples=500)
@drawn_games
def test_every_game_of_many_ends(ruleset, seed, taste):
    assert_it_ends(ruleset, seed, taste)


def assert_it_ends(ruleset, seed, taste):
    """By players of one taste, then by players at random; the table is in order at the end."""
    batch = Batch(1, ruleset, seed=seed, finished="hold", skip_forced=False)
    rng = np.random.default_rng(seed)
    decisions = 0
    while batch.player[0] >= 0:
        batch.step([preferred(batch, taste, int(rng.integers(ALL)))])
        decisions += 1
        assert decisions < MOST_DECISIONS
    assert_in_order(ruleset, batch.games[0])
    check_games(ruleset, batch.games)
    crowd = Batch(50, ruleset, seed=seed, finished="hold", skip_forced=False)
    assert crowd.play_random(MOST_DECISIONS) < 50 * MOST_DECISIONS
    assert (crowd.player == -1).all()
    check_games(ruleset, crowd.games)


def test_the_drawn_tables_are_not_the_shipped_ones():
    """The strategy reaches what it is meant to: few ports and many, large ports, contracts without supply."""
    seen = set()

    @settings(REPRODUCIBLE, max_examples=60)
    @given(tables())
    def look(drawn):
        assert drawn != load_tables("board")
        seen.add(("ports", len(drawn.ports)))
        seen.update(("large", port.limit > 8) for port in drawn.ports)
        seen.update(("supply", contract.supply == 0) for contract in drawn.contracts)

    look()
    assert {("ports", 3), ("ports", 16), ("large", True), ("large", False), ("supply", True), ("supply", False)} <= seen
