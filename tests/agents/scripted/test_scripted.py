"""The scripted bots: legal play of every ruleset, by what a seat may know, the same everywhere; telling positions."""

from itertools import combinations, product

import numpy as np
import pytest
from borneo_agents.scripted.agents import Climber, Contractor, Merchant
from borneo_agents.scripted.dispatch import CLIMBER, CONTRACTOR, MERCHANT, NO_BOT, RANDOM, Bots
from borneo_agents.scripted.scratch import CACHE_SLOTS
from borneo_agents.scripted.valuation.goods import COUNT
from bot_games import EVERY_RULESET, decisions, play
from playing import pick
from positions import card, position

from borneo_env import Batch, Ruleset, resample
from borneo_env.agent import Agent, Random, Views, ask
from borneo_env.engine.state import CHOICES, N_KINDS, PHASES, SHIP, TAKE, TRADERS, copy_games

BOTS = (Contractor, Climber, Merchant)

every_bot = pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.__name__.lower())
every = pytest.mark.parametrize("ruleset", EVERY_RULESET)


# Whole games


@every_bot
@every
def test_bots_play_every_ruleset_to_the_end(bot, ruleset):
    agent = bot()
    assert isinstance(agent, Agent)
    batch = play([agent, Random()], ruleset)
    assert (batch.places().min(1) == 1).all()


@every_bot
def test_the_same_seed_gives_the_same_games(bot):
    first, again = play([bot()]), play([bot()])
    assert first.games.tobytes() == again.games.tobytes()
    assert first.games.tobytes() != play([bot()], seed=6).games.tobytes()


@every_bot
def test_what_else_a_bot_is_asked_does_not_matter(bot):
    """What it found out for one decision is no burden to the next: asked again after another, it answers the same."""
    games, _, masks, dice = decisions(Ruleset())
    rows = np.arange(len(games))
    for seed in range(8):
        others = np.random.default_rng(seed).permutation(rows)
        order = np.stack([rows, others, rows], 1).ravel()
        first, _, again = bot().act(Views(Ruleset(), games[order], masks[order], dice[order])).reshape(-1, 3).T
        np.testing.assert_array_equal(again, first)


def supplies_of_one_slot():
    """Numbers of contracts left that the cache keeps in the same slot, one after the other."""
    weights = [int(COUNT) ** (N_KINDS - 1 - kind) for kind in range(N_KINDS)]
    supplies = [np.array(left) for left in product((0, 1, 3), repeat=N_KINDS)]
    return [pair for pair in combinations(supplies, 2) if (pair[0] - pair[1]) @ weights % CACHE_SLOTS == 0]


def test_a_slot_of_the_cache_is_not_taken_for_another():
    games, _, masks, dice = decisions(Ruleset())
    rows = np.flatnonzero(np.isin(games["phase"], (TRADERS, SHIP, TAKE)))
    pairs, differing = supplies_of_one_slot()[:10], 0
    for left in pairs:
        asked = copy_games(games, np.repeat(rows, 2))
        asked["supply"] = np.tile(left, (len(rows), 1))
        views = Views(Ruleset(), asked, np.repeat(masks[rows], 2, 0), np.repeat(dice[rows], 2))
        together = Merchant().act(views)
        for first in range(2):
            own = Views(Ruleset(), asked[first::2], views.mask[first::2], views.dice[first::2])
            np.testing.assert_array_equal(Merchant().act(own), together[first::2])
        differing += (together[::2] != together[1::2]).sum()
    assert pairs and differing > 100


# Bots that play on by themselves

KIND_OF = {RANDOM: Random(), CONTRACTOR: Contractor(), CLIMBER: Climber(), MERCHANT: Merchant()}
in_threads = pytest.mark.parametrize(
    ("ruleset", "threads"), [(Ruleset(), 1), (Ruleset(players=5), 2), (Ruleset("card", 3), 2)],
    ids=["board-4", "board-5 in threads", "card-3 in threads"],
)  # fmt: skip


def seat_bots(games, ruleset):
    """(games, players): all sorts of bots at every table, and one seat that is left to the test."""
    kinds = np.random.default_rng(3).integers(len(KIND_OF), size=(games, ruleset.players)).astype(np.int8)
    kinds[np.arange(games), np.arange(games) % ruleset.players] = NO_BOT
    return kinds


def ask_on(batch, kinds, rows):
    """What `Bots.play` does, asking the bots for one decision of each game after the other."""
    agents = [KIND_OF[kind] for kind in range(len(KIND_OF))]
    while len(rows := rows[batch.player[rows] >= 0]):
        rows = rows[kinds[rows, batch.player[rows]] != NO_BOT]
        batch.step(ask(batch, rows, agents, kinds), rows)


def play_seats(batch, rows):
    """Play the decisions that are left to the test."""
    rows = rows[batch.player[rows] >= 0]
    batch.step(np.array([pick(mask) for mask in batch.mask[rows]], np.int64), rows)


def same(left, right):
    return left.games.tobytes() == right.games.tobytes() and (left.mask == right.mask).all()


@in_threads
def test_bots_that_play_on_play_what_they_would_if_asked(ruleset, threads):
    """To the ends of all games, and with them dice, masks and results."""
    games = 70  # enough for two threads
    kinds, rows = seat_bots(games, ruleset), np.arange(games)
    playing, asked = (Batch(games, ruleset, seed=4, finished="hold", threads=threads) for _ in range(2))
    bots = Bots(playing)
    while True:
        bots.play(kinds, rows)
        ask_on(asked, kinds, rows)
        assert same(playing, asked)
        waiting = playing.player >= 0
        assert (kinds[waiting, playing.player[waiting]] == NO_BOT).all()
        if not waiting.any():
            break
        for batch in (playing, asked):
            play_seats(batch, rows)
    for name in ("scores", "places", "contracts"):
        assert (playing.result[name] == asked.result[name]).all()


@in_threads
def test_bots_that_play_on_in_some_games_leave_the_others_alone(ruleset, threads):
    games, rng = 150, np.random.default_rng(1)
    kinds = seat_bots(games, ruleset)
    playing, asked = (Batch(games, ruleset, seed=4, finished="hold", threads=threads) for _ in range(2))
    bots = Bots(playing)
    for share in (0.5, 0.02, 0.0, 0.9, 0.3, 1.0):
        rows = np.flatnonzero(rng.random(games) < share)
        others, before = np.setdiff1d(np.arange(games), rows), playing.copy()
        bots.play(kinds, rows)
        ask_on(asked, kinds, rows)
        assert same(playing, asked)
        assert playing.games[others].tobytes() == before.games[others].tobytes()
        assert (playing.mask[others] == before.mask[others]).all()
        ready = rows[kinds[rows, playing.player[rows]] == NO_BOT]
        for batch in (playing, asked):
            play_seats(batch, ready)


@in_threads
def test_bots_choose_what_they_would_play_if_asked(ruleset, threads):
    """In all sorts of games and in some of them; nothing is touched, not even the dice."""
    games, rng, agents = 90, np.random.default_rng(1), [KIND_OF[kind] for kind in range(len(KIND_OF))]
    kinds = rng.integers(len(KIND_OF), size=(games, ruleset.players)).astype(np.int8)
    choosing, asked = (Batch(games, ruleset, seed=4, finished="hold", threads=threads) for _ in range(2))
    bots = Bots(choosing)
    shares = iter([1.0, 0.8, 0.01, 0.0] * 1000)
    while len(waiting := np.flatnonzero(choosing.player >= 0)):
        rows = waiting[rng.random(len(waiting)) < next(shares)]
        before = choosing.copy()
        chosen = bots.choose(kinds, rows)
        assert same(choosing, before)
        assert chosen.tolist() == ask(asked, rows, agents, kinds).tolist()
        choosing.games["rng"][rows, CHOICES] = asked.games["rng"][rows, CHOICES]  # who is asked has rolled the dice
        for batch in (choosing, asked):
            batch.step(chosen, rows)
    assert same(choosing, asked)


# What a bot may know


@every_bot
@every
def test_what_a_player_cannot_know_does_not_matter(bot, ruleset):
    games, views, masks, dice = decisions(ruleset)
    twins = resample(games, games["player"], np.random.default_rng(1))
    on_views = bot().act(Views(ruleset, views, masks, dice))
    on_twins = bot().act(Views(ruleset, twins, masks, dice))
    np.testing.assert_array_equal(on_twins, on_views)


def test_the_decisions_are_of_all_sorts():
    games, *_ = decisions(Ruleset())
    assert {PHASES[phase] for phase in games["phase"]} >= set(PHASES) - {"over", "keep"}


# Strength, roughly: figures with intervals come from the arena


@pytest.mark.parametrize(("bot", "share"), [(Contractor, 0.8), (Climber, 0.8), (Merchant, 0.9)])
def test_bots_beat_random_players(bot, share):
    batch = play([bot(), Random(), Random(), Random()], games=100)
    seats = (-np.arange(100)) % 4
    assert (batch.places()[np.arange(100), seats] == 1).mean() > share


# Positions


def move(bot, game):
    """What a bot plays in a position, in words."""
    batch = game.batch
    (action,) = bot().act(Views(batch.ruleset, *batch.view(np.array([0]))))
    return batch.actions.text(int(action), game.phase)


ONLY_ONE_SAME_4 = {"each-1": 0, "same-4": 1, "each-2": 0, "same-8": 0, "each-3": 0}
LADDERS = {"red": [1, 0, 2], "yellow": [2, 1, 3], "green": [3, 2, 0], "blue": [0, 3, 1]}


@pytest.mark.parametrize("bot", [Contractor, Merchant])
def test_takes_the_most_profitable_of_the_last_contracts(bot):
    """Two doubles pay same-4 for 8 points; each-1 would cost four cards for 6."""
    goods = ["pepper double", "pepper double", "cinnamon single", "cloves single", "nutmeg single"]
    game = position(phase="last contract", turn=3, ladders=LADDERS, warehouses={0: goods})
    assert {"contract each-1", "contract same-4 pepper"} <= game.legal()
    assert move(bot, game) == "contract same-4 pepper"


@every_bot
def test_pays_with_what_it_needs_least(bot):
    """Two doubles pay same-4 as well as four singles do, and cost two cards less."""
    goods = ["pepper double"] * 2 + ["pepper single"] * 4
    game = position(ladders=LADDERS, warehouses={0: goods}, supply=ONLY_ONE_SAME_4)
    game.play("contract same-4 pepper")
    assert move(bot, game) == "pay pepper double"


@every_bot
def test_takes_what_its_contract_lacks(bot):
    """With three nutmeg, the fourth completes same-4."""
    last, nutmeg = card("red", "yellow", flags="rrr/y"), card("red", "blue", spice="nutmeg", double=False)
    game = position(
        phase="ship",
        ladders={"red": [0, 1, 2], "yellow": [2, 1, 3], "green": [3, 2, 0], "blue": [0, 3, 1]},
        hands={0: [last], 1: ["any cargo"]},
        warehouses={0: ["nutmeg port", "nutmeg port", "nutmeg single"], 1: ["any cargo"]},
        ports={0: ["Ternate", nutmeg, card("red", "green", spice="pepper", double=False)]},
        supply=ONLY_ONE_SAME_4,
    )
    game.play(f"ship {last} 0")
    assert game.player == 0
    assert move(bot, game) in (f"take {nutmeg}", f"take {last}")  # both are nutmeg


@pytest.mark.parametrize("bot", [Climber, Merchant])
def test_attacks_when_it_cannot_lose(bot):
    """No single card beats one with three flags, and red is about to pay."""
    reds = [card("red", flags="rrr/y"), card("red", flags="rrr/g"), card("red", flags="rrr/b")]
    game = position(
        phase="traders",
        ladders=LADDERS,
        hands={0: [*reds, "any cargo", "any cargo"], 1: ["any cargo"] * 5, 2: ["any cargo"], 3: ["any cargo"]},
        ports={0: ["Ternate", "rry/r"]},
    )
    assert move(bot, game) == "attack red 2 1"


@pytest.mark.parametrize("bot", [Climber, Merchant])
def test_does_not_attack_when_it_surely_loses(bot):
    """The unseen cards are all red: whoever stands above has a stronger answer to a card with one red flag."""
    reds = list(range(15))
    weak = card("blue", "red")
    others = [number for number in range(15, 60) if number != weak]
    game = position(
        phase="traders",
        ladders=LADDERS,
        hands={0: [weak, others[0]], 1: reds[:6], 2: reds[6:9], 3: reds[9:12]},
        draw=reds[12:],
        discards=others[1:],
        rest="discards",
    )
    assert game.legal("attack red 2 1")
    assert not move(bot, game).startswith("attack red")


@pytest.mark.parametrize("bot", [Climber, Merchant])
def test_does_not_waste_cards_on_a_defence_that_cannot_win(bot):
    """Two cards with three flags each: one strong card of the defender is not enough."""
    reds = [card("red", flags="rrr/y"), card("red", flags="rrr/g"), card("red", flags="rrr/b")]
    game = position(
        phase="traders", ladders=LADDERS, hands={0: [*reds[:2], "any cargo"], 1: [reds[2], "yyy/b", "yyy/g"]}
    )
    game.play("attack red 2 1", f"commit {reds[0]}", f"commit {reds[1]}", "commit done")
    assert move(bot, game) == "defend done"


def test_merchant_does_not_open_a_monopoly_to_a_rival():
    """Three empty ports: a red card on any of them would let player 1 have red's monopoly, a blue one nobody."""
    red, blue = card(flags="rrr/y"), card(flags="bbb/y")
    game = position(
        phase="ship",
        ladders={
            "red": [1, 1, 1],
            "yellow": [2, 2, 2],
            "green": [3, 3, 3, 0, 0],
        },
        hands={0: [red, blue], 1: ["any cargo"] * 6, 2: ["any cargo"] * 6, 3: ["any cargo"] * 6},
        ports={0: ["Makassar"], 1: ["Tidore"], 2: ["Malacca"]},
    )
    assert move(Merchant, game).startswith(f"ship {blue} ")


@pytest.mark.parametrize(
    ("owner", "pays"), [(None, True), (0, True), (1, False)], ids=["in the middle", "wins", "would lose"]
)
def test_merchant_shares_out_a_port_that_pays_but_ends_no_game_it_would_lose(owner, pays):
    """A second red card at Ternate brings the port and both cards. Without a port pile it ends the game."""
    red, blue = card(flags="rrr/y"), card(flags="bbb/y")
    last = {} if owner is None else {"warehouses": {owner: ["any cargo"] * 12}, "port_pile": []}
    game = position(
        phase="ship",
        ladders={"red": [0], "yellow": [2, 1, 3], "green": [3, 2, 0, 1], "blue": [0, 3, 1, 2]},
        hands={0: [red, blue], 1: ["any cargo"] * 4, 2: ["any cargo"] * 4, 3: ["any cargo"] * 4},
        ports={0: ["Banda"], 1: ["Ternate", "rrg/r"], 2: ["Malacca"]},
        **last,
    )
    assert (move(Merchant, game) == f"ship {red} 1") == pays
