"""ChanceGame: a game whose chance is chosen from outside is the engine's game with the same deal."""

import copy
import pickle

import numpy as np
import pytest

from borneo_env import PHASES, Batch, IllegalMove, Ruleset, every_ruleset
from borneo_env.chance import EVERYBODY, ChanceGame
from borneo_env.engine.state import CARDS, FIRST_HAND, HAND, PILE
from borneo_env.rewards import REWARDS

RULESETS = every_ruleset()
HIDDEN = ("rng", "number", "draw", "port_pile")  # streams that a table does not use, and piles in another order


def dealt(ruleset, seed):
    return Batch(1, ruleset, seed=seed, finished="hold", skip_forced=False, threads=1)


def follow(table, game):
    """Let chance bring what the engine has dealt, drawn and turned up."""
    while table.is_chance:
        outcomes, now = table.outcomes(), table.position()[0]
        if table.outcome_text(0).startswith("start"):
            table.choose(int(game["start"]))
        else:
            moved = [one for one in outcomes if game["place"][one] != now["place"][one]]
            table.choose(min(moved or outcomes, key=lambda one: game["place"][one]))


def assert_same(table, batch):
    table_game, game = table.games[0], batch.games[0]
    for name in game.dtype.names:
        if name not in HIDDEN:
            assert np.array_equal(table_game[name], game[name]), name
    for pile, left in (("draw", "draw_left"), ("port_pile", "ports_left")):
        assert set(table_game[pile][: game[left]]) == set(game[pile][: game[left]])
    assert table.options == np.flatnonzero(batch.mask[0]).tolist()
    assert (table.player, table.phase) == (batch.player[0], batch.phase_name())


def walk(table, rng):
    """Random moves and chance to the end; yields before each."""
    while not table.is_over:
        yield
        if table.is_chance:
            table.choose(int(rng.choice(table.outcomes())))
        else:
            table.play(int(rng.choice(table.options)))


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.name)
def test_the_same_deal_gives_the_same_game(ruleset):
    shuffles = 0
    for seed in range(3):
        batch, table = dealt(ruleset, seed), ChanceGame(ruleset)
        follow(table, batch.games[0])
        while batch.player[0] >= 0:
            assert_same(table, batch)
            action, pile = int(batch.sample()[0]), int(batch.games["pile_since"][0])
            batch.step([action])
            table.play(action)
            follow(table, batch.games[0])
            shuffles += int(batch.games["pile_since"][0]) != pile
        assert_same(table, batch)
        assert table.is_over
        assert np.array_equal(REWARDS["win"](ruleset, *ends(table)), REWARDS["win"](ruleset, *ends(batch)))
    assert shuffles, "no game had its discards shuffled: take more seeds"


def ends(played):
    before = played.games.copy()
    before["phase"] = 0
    return before, played.games


def test_chance_brings_any_card_of_the_pile_and_no_other():
    nodes = 0
    for seed in range(8):
        table, rng = ChanceGame(Ruleset(players=5)), np.random.default_rng(seed)
        for _ in walk(table, rng):
            if table.is_chance and not table.outcome_text(0).startswith("start"):
                nodes += 1
                outcomes, places = table.outcomes(), table.position()[0]["place"]
                things = range(CARDS) if outcomes[0] < CARDS else range(CARDS, len(places))
                on_the_pile = [thing for thing in things if places[thing] == PILE]
                assert outcomes == on_the_pile or len(outcomes) == 1  # the last card, when the discards were shuffled
                assert table.options == []
    assert nodes > 500


def test_a_player_sees_every_card_come_the_last_of_a_pile_too():
    last_cards = 0
    for seed in range(15):
        table, rng = ChanceGame(Ruleset(players=5)), np.random.default_rng(seed)
        for _ in walk(table, rng):
            if not table.is_chance:
                for seat in range(5):
                    came = {event.text for event in table.events if event.seen_by == seat}
                    assert {f"draw {card}" for card in hand(table.games[0], seat)} <= came
            elif table.outcomes()[0] < CARDS:
                (thing, *_), game = table.outcomes(), table.games[0]
                last_cards += game["since"][thing] < game["pile_since"]  # the discards were shuffled after it
    assert last_cards


def chosen(ruleset, start, cards):
    """A table after the deal: these cards, then whatever comes first."""
    table = ChanceGame(ruleset)
    for outcome in (start, *cards):
        table.choose(outcome)
    while table.is_chance:
        table.choose(table.outcomes()[0])
    return table


def known(table, seat):
    out = np.zeros(969, np.float32)
    table.observe(seat, out)
    return table.seen(seat), out.tobytes()


def test_a_player_sees_all_moves_and_the_own_cards_only():
    ruleset = Ruleset(players=4)
    one, other = (chosen(ruleset, 2, [*range(9), *last]) for last in ([10, 11, 12], [20, 21, 22]))
    for table in (one, other):
        table.play(table.options[0])
    for seat in range(3):
        assert known(one, seat) == known(other, seat)
    assert known(one, 3) != known(other, 3)
    before = known(one, 0)
    one.play(one.options[0])
    other.play(other.options[1])
    assert before != known(one, 0) != known(other, 0) != before


def test_cards_that_come_together_are_a_set():
    ruleset = Ruleset(players=3)
    one, other = chosen(ruleset, 0, [5, 9, 7]), chosen(ruleset, 0, [9, 7, 5])
    assert known(one, 0) == known(other, 0)
    assert [event.text for event in one.seen(0) if event.seen_by == 0] == ["draw 5", "draw 7", "draw 9"]
    assert known(one, 0) != known(chosen(ruleset, 0, [5, 9, 8]), 0)


def test_nobody_sees_a_card_before_chance_has_brought_it():
    table = ChanceGame(Ruleset(players=3))
    place = table.position()[0]["place"]
    assert (place[:CARDS] == PILE).all()
    table.choose(0)
    for n, card in enumerate((30, 40, 50), start=1):
        table.choose(card)
        position = table.position()[0]
        assert position["place"][card] == HAND
        assert position["hand_size"].tolist() == [n, 0, 0, 0, 0]
        assert position["draw_left"] == CARDS - n
    assert FIRST_HAND == 3


def test_exchanged_cards_are_of_the_same_pile_and_never_the_own():
    for seed in range(3):
        table, rng = ChanceGame(Ruleset(players=4)), np.random.default_rng(seed)
        for step, _ in enumerate(walk(table, rng)):
            if step % 20 == 0 and not table.is_chance:
                game = table.games[0]
                for seat in range(4):
                    hidden = [card for other in range(4) if other != seat for card in hand(game, other)]
                    exchanged = table.exchanged(seat, rng)
                    assert sorted(exchanged) == sorted(hidden)
                    assert len(set(exchanged.values())) == len(exchanged)
                    for card, instead in exchanged.items():
                        assert game["since"][card] == game["since"][instead]
                        assert game["place"][instead] == PILE or instead in hidden


def hand(game, seat):
    return np.flatnonzero(game["place"][:CARDS] == HAND + seat).tolist()


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_a_twin_in_every_phase_plays_the_same_game_and_changes_nothing(twin_of):
    phases = set()
    for seed in range(4):
        table = ChanceGame(Ruleset(players=3, blackbeard=True))
        for _ in walk(table, np.random.default_rng(seed)):
            name = "chance" if table.is_chance else table.phase
            if name not in phases:
                phases.add(name)
                before, twin, again = table.games.tobytes(), twin_of(table), twin_of(table)
                for played in (twin, again):
                    list(walk(played, np.random.default_rng(7)))
                assert twin.events == again.events
                assert twin.games.tobytes() == again.games.tobytes() != before == table.games.tobytes()
    assert phases == {"chance", *PHASES} - {"over"}


def test_a_table_in_the_middle_of_a_game():
    batch = dealt(Ruleset(players=4), 5)
    batch.play_random(60)
    table = ChanceGame.at(batch.ruleset, batch.games[0])
    assert_same(table, batch)
    assert table.events == []
    assert table.begun_with(0) == batch.observe([0])[0].astype(np.int8).tobytes()
    assert ChanceGame(batch.ruleset).begun_with(0) == b""


def test_what_cannot_be_is_refused_and_changes_nothing():
    table = ChanceGame(Ruleset(players=4))
    with pytest.raises(IllegalMove, match="chance cannot bring 4"):
        table.choose(4)
    with pytest.raises(IllegalMove, match="chance is next"):
        table.play(0)
    table = chosen(Ruleset(players=4), 0, [])
    before = table.games.tobytes()
    with pytest.raises(IllegalMove, match="is not legal; legal are: place red, "):
        table.play(0)
    with pytest.raises(IllegalMove, match="chance cannot bring"):
        table.choose(0)
    assert table.games.tobytes() == before
    assert all(event.seen_by == EVERYBODY or event.text.startswith("draw") for event in table.events)
