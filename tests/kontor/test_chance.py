"""SingleGame: a game whose chance is chosen from outside is the engine's game, and seats know of it what they see."""

from collections import defaultdict

import numpy as np
import pytest

from kontor import CHANCE, LUCK, OVER, Field, Game, Phase, action, below, find_game
from kontor.chance import DrawsInRules, SingleGame, single_game
from kontor.check.replays import check_replays
from kontor.check.report import Trial
from kontor.engine.batch import Batch, IllegalMove
from kontor.engine.games import redact, results
from kontor.exact import grow, values
from kontor.record import record_games, verify

KUHN = find_game("examples/kuhn.py:KUHN")
LEDUC = find_game("examples/leduc.py:LEDUC")
RULESETS = [KUHN.Ruleset(), KUHN.Ruleset(players=3), LEDUC.Ruleset()]
every_ruleset = pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.name)


def walk(table, rng):
    """Random moves and chance to the end; yields at each step before it, and at the end."""
    while not table.is_over:
        yield table
        if table.is_chance:
            table.choose(int(rng.choice(table.outcomes(), p=table.probabilities())))
        else:
            table.play(int(rng.choice(table.options)))
    yield table


@every_ruleset
def test_the_whole_tree_is_that_of_the_engine(ruleset):
    """All histories: as many of each kind as `kontor.exact` finds, each equally likely, with the same points."""
    tree, sizes, worth = grow(ruleset), dict.fromkeys(("chance", "decisions", "ends"), 0), np.zeros(ruleset.players)
    told = defaultdict(set)  # what the player at a decision is told -> views
    waiting = [(single_game(ruleset), 1.0)]
    while waiting:
        table, likely = waiting.pop()
        kind = "ends" if table.is_over else "chance" if table.is_chance else "decisions"
        sizes[kind] += 1
        if table.is_over:
            worth += likely * results(ruleset, table.games).scores[0]
            continue
        if kind == "decisions":
            view = redact(ruleset, table.games, table.player)
            told[table.player, tuple(table.told(table.player))].add(view.tobytes())
        after = dict(zip(table.outcomes(), table.probabilities(), strict=True)) if table.is_chance else {}
        assert not after or sum(after.values()) == pytest.approx(1)
        for code in after or table.options:
            twin = table.copy()
            (twin.choose if table.is_chance else twin.play)(code)
            waiting.append((twin, likely * after.get(code, 1 / len(table.options or after))))
    assert sizes | {"information sets": len(told)} == tree.sizes()
    assert all(len(views) == 1 for views in told.values()), "who is told the same sees the same"
    assert worth == pytest.approx(values(tree, tree.uniform()))


@every_ruleset
def test_a_resampled_game_is_told_the_seat_alike_and_others_not(ruleset):
    others = {"same": 0, "other": 0}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        for table in walk(single_game(ruleset), rng):
            if not table.is_chance:
                for seat in range(ruleset.players):
                    twin = table.resampled(seat, rng)
                    assert twin.told(seat) == table.told(seat)
                    assert redact(ruleset, twin.games, seat).tobytes() == redact(ruleset, table.games, seat).tobytes()
                    same = (twin.games["card"] == table.games["card"]).all()
                    others["same" if same else "other"] += 1
                    if twin.options:
                        again = table.copy()
                        for one in (twin, again):
                            one.play(one.options[0])
                        assert twin.told(seat) == again.told(seat), "and what comes then is told alike"
    assert others["other"] > others["same"] / 2


def test_nobody_is_told_a_card_of_another():
    for seed in range(20):
        for table in walk(single_game(LEDUC.Ruleset()), np.random.default_rng(seed)):
            for seat in (0, 1, -1):
                told = ", ".join(table.told(seat)).split(", ")
                hands = {one.split()[1] for one in told if one.startswith("card") and "hidden" not in one}
                assert hands <= {str(seat)}


def test_what_is_told_reads_as_words():
    table = single_game(KUHN.Ruleset())
    table.choose(table.outcome("deal king"))
    table.choose(table.outcome("deal jack"))
    table.play(1)
    assert table.told(1)[0] == "card 0 hidden"
    assert table.told(1)[1].endswith("card 1 jack")
    assert "bet" in table.told(0)[2].split(", ") and "said 0 bet" in table.told(1)[2]
    assert [step.text for step in table.steps] == ["deal king", "deal jack", "bet"]


def test_a_copy_plays_on_alone():
    table = single_game(LEDUC.Ruleset())
    for _ in walk(table, np.random.default_rng(1)):
        before, told, twin = table.games.tobytes(), table.told(0), table.copy()
        list(walk(twin, np.random.default_rng(2)))
        assert (table.games.tobytes(), table.told(0)) == (before, told)


def test_a_game_goes_on_from_the_middle():
    batch = Batch(1, LEDUC.Ruleset(), seed=4, finished="hold")
    batch.play_random(2)
    table = SingleGame.at(batch.ruleset, batch.games[0])
    assert table.options == np.flatnonzero(batch.mask[0]).tolist()
    assert table.told(0) == [redact(batch.ruleset, batch.games, 0).tobytes().hex()] and not table.steps


def test_what_cannot_be_is_refused_and_changes_nothing():
    table = single_game(KUHN.Ruleset())
    before = table.games.tobytes()
    with pytest.raises(IllegalMove, match="chance is next"):
        table.play(0)
    with pytest.raises(IllegalMove, match="chance cannot bring 3 here"):  # two players take no ace
        table.choose(3)
    with pytest.raises(ValueError, match="cannot bring 'deal ace'"):
        table.outcome("deal ace")
    assert table.games.tobytes() == before
    table.choose(0)
    table.choose(1)
    with pytest.raises(IllegalMove, match="legal are: pass, bet"):
        table.play(2)


# ---------------------------------------------------------------- chance that is unlike, and chance in the rules


def weighted(box, g, outcome):
    return 1 + 2 * outcome


def flip(box, g, outcome):
    g.coin, g.phase, g.player = outcome, 1, 0


def guess(box, g, move):
    g.player = OVER


def draw(box, g, move):
    g.coin, g.player = below(g, LUCK, 2), OVER


def right(box, g, player):
    return g.coin


def begin(box, g):
    g.phase, g.player = 0, CHANCE


def toss(box, g):
    g.coin, g.phase, g.player = below(g, LUCK, 2), 0, 0


def heads_or_tails(box, g, outcomes):
    outcomes[0], outcomes[1] = 0, 1
    return 2


COIN = (Field("coin", (0, 1), (), "the coin"),)
UNFAIR = Game(
    "unfair", fields=COIN, actions=(action("guess"),), setup=begin, points=right,
    outcomes=(action("heads", phases="flip"), action("tails", phases="flip")),
    phases=(Phase("flip", heads_or_tails, flip, weight=weighted), Phase("guess", None, guess)),
)  # fmt: skip
TOSSED = Game(
    "tossed", fields=COIN, actions=(action("guess"),), phases=(Phase("guess", None, guess),), setup=toss, points=right
)
SECRET = Game("secret", fields=COIN, actions=(action("draw"),), phases=(Phase("draw", None, draw),), points=right)


def test_outcomes_are_as_likely_as_their_weights():
    table = single_game(UNFAIR.Ruleset())
    assert (table.outcomes(), table.probabilities()) == ([0, 1], [0.25, 0.75])
    table.choose(1)
    assert (table.outcomes(), table.probabilities(), table.options) == ([], [], [0])


def test_records_of_unlike_outcomes_replay():
    records = record_games(UNFAIR.Ruleset(), 200, seed=1)
    brought = [record[1]["chance"] for record in records]
    assert 100 < brought.count("tails") < 200
    for record in records:
        verify(record, UNFAIR)


def test_a_game_that_draws_in_its_rules_is_refused():
    with pytest.raises(DrawsInRules, match="Secret draws in its rules"):
        single_game(SECRET.Ruleset()).play(0)
    with pytest.raises(DrawsInRules, match="make each draw a phase of chance"):
        record_games(SECRET.Ruleset(), 1, seed=1)
    with pytest.raises(DrawsInRules, match="Tossed draws in its rules"):
        single_game(TOSSED.Ruleset())
    (found,) = check_replays(Trial(SECRET.Ruleset(), 5, 0))
    assert found.verdict == "warned" and "`deals`" in found.sentence
    (found,) = check_replays(Trial(UNFAIR.Ruleset(), 5, 0))
    assert found.verdict == "ok"
