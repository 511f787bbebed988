"""What a seat may know (R11): redacted games, and resampled games that the seat cannot tell apart."""

import random
from collections import Counter
from functools import cache
from itertools import chain, combinations, permutations
from math import comb

import numpy as np
import pytest
from chi_square import FAR, deviation
from playing import RULESETS

from borneo_env import GAME, SPECTATOR, Batch, Ruleset, redact, resample
from borneo_env.cards import COMPANIES
from borneo_env.engine.state import (
    CARDS,
    CHOICES,
    COMMIT,
    DISCARD,
    HAND,
    HAND_ROOM,
    OVER,
    PILE,
    SEATS,
    SHUFFLES,
    UNSEEN,
)
from kontor.engine.check import check_games

SECRET = ("rng", "number", "draw", "port_pile")  # whole fields; `place` is secret in part
TINY = Ruleset(tables="tiny")

every = pytest.mark.parametrize("ruleset", [*RULESETS, pytest.param(TINY, id=TINY.name)])
shipped = pytest.mark.parametrize("ruleset", RULESETS)


# Games to look at


@cache
def number_of_long_game(ruleset):
    """Of a hundred random games the one with the most reshuffles."""
    batch = Batch(100, ruleset, seed=5, finished="hold", skip_forced=False)
    reshuffles = np.zeros(100, int)
    while (batch.player >= 0).any():
        pile = batch.games["pile_since"].copy()
        batch.step(batch.sample())
        reshuffles += batch.games["pile_since"] != pile
    return int(reshuffles.argmax())


@cache
def history(ruleset):
    """A random game move by move: the record at every decision and at the end, and the moves in words."""
    batch = Batch(1, ruleset, seed=5, first=number_of_long_game(ruleset), finished="hold", skip_forced=False)
    games, moves = [batch.games.copy()], []
    while batch.player[0] >= 0:
        action = batch.sample()
        moves.append(batch.actions.text(int(action[0]), batch.phase_name()))
        batch.step(action)
        games.append(batch.games.copy())
    return np.concatenate(games), moves


def seats_of(ruleset):
    return [SPECTATOR, *range(ruleset.players)]


def hand_of(game, player):
    return np.flatnonzero(game["place"] == HAND + player).tolist()


def draw_pile(game):
    return game["draw"][: game["draw_left"]].tolist()


def unseen_cards(game):
    """All cards in hands and in the draw pile, each as often as it is there."""
    return sorted(chain(draw_pile(game), *(hand_of(game, player) for player in range(SEATS))))


# Redacted games


@every
def test_redact_hides_other_hands_and_both_piles_and_nothing_public(ruleset):
    games, _ = history(ruleset)
    for seat in seats_of(ruleset):
        views = redact(games, seat)
        assert (views["draw"] == -1).all()
        assert (views["port_pile"] == -1).all()
        assert not views["rng"].any()
        assert not views["number"].any()
        own = games["place"] == HAND + seat if seat != SPECTATOR else np.zeros_like(games["place"], bool)
        in_hands = (games["place"] >= HAND) & (games["place"] < HAND + SEATS)
        secret = (in_hands & ~own) | (games["place"] == PILE)
        assert (views["place"][secret] == UNSEEN).all()
        assert np.array_equal(views["place"][~secret], games["place"][~secret])
        for name in set(GAME.names) - {*SECRET, "place"}:
            assert np.array_equal(views[name], games[name]), name


def test_redact_leaves_its_argument_alone_and_has_nothing_more_to_hide_in_a_redacted_game():
    games, _ = history(Ruleset())
    before = games.tobytes()
    views = redact(games, 1)
    assert games.tobytes() == before
    assert redact(views, 1).tobytes() == views.tobytes()


@pytest.mark.parametrize("look", [redact, lambda games, seats: resample(games, seats, np.random.default_rng(0))])
def test_one_game_or_many_and_a_seat_for_each(look):
    games, _ = history(Ruleset())
    games = games[100:104]
    seats = np.array([2, SPECTATOR, 0, 1])
    seen = look(games, seats)
    assert seen.shape == games.shape
    for game, seat, view in zip(games, seats, seen, strict=True):
        assert redact(view, seat).tobytes() == redact(game, seat).tobytes()
    assert look(games[0], 2).shape == ()
    assert look(games[:1], 2).shape == (1,)


# Resampled games


@every
def test_a_resampled_game_looks_the_same_to_the_seat_and_is_a_possible_game(ruleset):
    """At every decision, for every seat, deciding or not, and for a spectator."""
    games, _ = history(ruleset)
    rng = np.random.default_rng(0)
    for seat in seats_of(ruleset):
        others = resample(games, seat, rng)
        assert redact(others, seat).tobytes() == redact(games, seat).tobytes()
        check_games(ruleset, others)
        for game, other in zip(games, others, strict=True):
            assert unseen_cards(other) == unseen_cards(game)
        assert (others["place"] != games["place"]).any()


@every
def test_a_redacted_game_gives_the_same_resamples(ruleset):
    """So nothing hidden has a part in them."""
    games, _ = history(ruleset)
    for seat in seats_of(ruleset):
        whole = resample(games, seat, np.random.default_rng(3))
        redacted = resample(redact(games, seat), seat, np.random.default_rng(3))
        assert whole.tobytes() == redacted.tobytes()


@every
def test_whoever_decides_has_the_same_options_in_a_resampled_game(ruleset):
    games = history(ruleset)[0][:-1]
    batch = Batch(len(games), ruleset, finished="hold", skip_forced=False)
    masks = []
    for positions in (games, resample(games, games["player"], np.random.default_rng(0))):
        batch.games[:] = positions
        batch.refresh()
        assert batch.games.tobytes() == positions.tobytes()
        masks.append(batch.mask.copy())
    assert np.array_equal(*masks)


@every
def test_a_resampled_game_can_be_played_to_the_end(ruleset):
    games, _ = history(ruleset)
    batch = Batch(len(games), ruleset, finished="hold")
    for seat in (SPECTATOR, 1):
        batch.games[:] = resample(games, seat, np.random.default_rng(seat + 1))
        batch.refresh()
        batch.play_random()
        assert (batch.phase == OVER).all()
        check_games(ruleset, batch.games)


def test_the_same_generator_gives_the_same_resamples_and_they_leave_the_original_alone():
    games, _ = history(Ruleset())
    before = games.tobytes()
    one, same, other = (resample(games, 0, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.tobytes() == same.tobytes() != other.tobytes()
    assert games.tobytes() == before


def test_random_streams_are_fresh():
    games, _ = history(Ruleset())
    rng = np.random.default_rng(0)
    streams = np.concatenate([games["rng"], resample(games, 0, rng)["rng"], resample(games, 0, rng)["rng"]])
    shuffles, choices = streams[:, SHUFFLES], streams[len(games) :, CHOICES]
    assert len(np.unique(choices)) == 2 * len(games)
    assert len(np.unique(shuffles)) == 2 * len(games) + len(np.unique(games["rng"][:, SHUFFLES]))


def shuffled_next(game, ruleset):
    """The next draw pile if everyone always does the first thing possible."""
    batch = Batch(1, ruleset, finished="hold")
    batch.games[0] = game
    batch.refresh()
    while batch.games["pile_since"][0] == game["pile_since"]:
        batch.step(batch.mask.argmax(1))
    return batch.games[0]["draw"][: batch.games[0]["draw_size"]].tolist()


def test_later_reshuffles_are_different_ones():
    """Even if all cards lie as they did: only the random streams are taken from the resampled games."""
    ruleset = Ruleset()
    game = history(ruleset)[0][20]
    original = shuffled_next(game, ruleset)
    piles = [original]
    for other in resample(np.repeat(game, 3), 0, np.random.default_rng(0)):
        twin = game.copy()
        twin["rng"] = other["rng"]
        piles.append(shuffled_next(twin, ruleset))
        assert sorted(piles[-1]) == sorted(original)
    assert len({tuple(pile) for pile in piles}) == 4


# Piles (R11.3), followed move by move


class Onlooker:
    """Someone who sees no hand and never forgets: which pile each unseen card is of, how many of each every hand holds.

    Knows only what is public: the moves, the cards that lie open, and the sizes of the hands.
    """

    def __init__(self, ruleset):
        self.pile_of = dict.fromkeys(range(CARDS), 0)
        self.newest = 0
        self.left = CARDS - 3 * ruleset.players
        self.hands = [Counter({0: 3}) for _ in range(ruleset.players)]
        self.lying_open = set()

    def follow(self, before, move, after):
        """See a move: the table before and after it as a spectator sees it."""
        word, _, card = move.partition(" ")
        shown = set(self.lying_open)
        if word in ("ship", "commit", "defend", "drop") and card != "done":
            played = int(card.split()[0])
            self.hands[before["player"]][self.pile_of[played]] -= 1
            shown.add(played)
        self.lying_open = set(np.flatnonzero(after["place"][:CARDS] != UNSEEN).tolist())
        if after["ended"]:
            self.hands = [Counter() for _ in self.hands]
        else:
            drawer = before["turn"]
            drawn = int(after["hand_size"][drawer]) - self.hands[drawer].total()
            self.see_drawing(drawer, drawn, shown - self.lying_open)

    def see_drawing(self, drawer, drawn, shuffled):
        """Cards that lay open and do so no more have been shuffled: they are the new pile."""
        for _ in range(drawn):
            if self.left == 0:
                self.newest += 1
                self.left = len(shuffled)
                self.pile_of |= dict.fromkeys(shuffled, self.newest)
            self.left -= 1
            self.hands[drawer][self.newest] += 1

    def believes(self, game):
        """Whether a complete game can be the one that was seen: each hand and the draw pile have their piles' cards."""
        for player, known in enumerate(self.hands):
            if Counter(self.pile_of[card] for card in hand_of(game, player)) != +known:
                return False
        return len(draw_pile(game)) == self.left and {self.pile_of[card] for card in draw_pile(game)} <= {self.newest}

    def unseen(self, game, seat):
        """The cards of each pile that a seat cannot see."""
        piles = {}
        for card in np.flatnonzero(redact(game, seat)["place"][:CARDS] == UNSEEN).tolist():
            piles.setdefault(self.pile_of[card], []).append(card)
        return piles


def followed(ruleset):
    """Every position of the long game, with an onlooker who has seen all that led to it."""
    games, moves = history(ruleset)
    views = redact(games, SPECTATOR)
    onlooker = Onlooker(ruleset)
    yield games[0], onlooker
    for before, move, after, game in zip(views[:-1], moves, views[1:], games[1:], strict=True):
        onlooker.follow(before, move, after)
        yield game, onlooker


@shipped
def test_the_record_knows_the_piles_as_an_onlooker_does(ruleset):
    for game, onlooker in followed(ruleset):
        assert onlooker.believes(game)
        clocks = {}  # of each pile's shuffle
        for pile, cards in onlooker.unseen(game, SPECTATOR).items():
            (clocks[pile],) = set(game["since"][cards].tolist())
        assert len(set(clocks.values())) == len(clocks)
        assert sorted(clocks) == sorted(clocks, key=clocks.get)
        if onlooker.left:
            assert game["pile_since"] == clocks[onlooker.newest]
        for player, hand in enumerate(onlooker.hands):
            known = sorted(clocks[pile] for pile in hand.elements())
            assert game["hand_since"][player].tolist() == known + [-1] * (HAND_ROOM - len(known))
    assert onlooker.newest >= 2, "a game with several reshuffles is wanted"


@shipped
def test_an_onlooker_believes_every_resampled_game(ruleset):
    rng = np.random.default_rng(0)
    for game, onlooker in followed(ruleset):
        seats = np.array(seats_of(ruleset))
        for other in resample(np.repeat(game, len(seats)), seats, rng):
            assert onlooker.believes(other)


# Statistics: is every game that looks the same equally likely?


def late_position():
    """A position after two reshuffles or more, a seat, and the onlooker, such that there is something to exchange.

    The draw pile has some cards, one of the other hands has exactly two cards of the newest pile, and at least two of
    the other hands have cards of one older pile.
    """
    for game, onlooker in followed(Ruleset("card", 5)):
        if onlooker.newest < 2 or game["ended"] or game["draw_left"] < 4:
            continue
        for seat in range(5):
            others = [hand for player, hand in enumerate(onlooker.hands) if player != seat]
            shared = [pile for pile in range(onlooker.newest) if sum(hand[pile] > 0 for hand in others) >= 2]
            if shared and any(hand[onlooker.newest] == 2 for hand in others):
                return game, seat, onlooker
    raise AssertionError("no such position in this game")


def equally_likely(outcomes, possible):
    """The deviation of outcomes from all possible ones being equally likely."""
    counts = Counter(outcomes)
    assert set(counts) <= set(possible)
    expected = len(outcomes) / len(possible)
    return deviation([counts[outcome] for outcome in possible], expected)


def where_cards_sit(samples, cards, seat):
    """Cards of one pile against the hands and the places of the draw pile that hold them.

    A card sits in a spot with its share of the pile's places. As every sample is a permutation, chi-square counts each
    degree of freedom m / (m - 1) times, for m cards.
    """
    spots = [samples["place"][:, cards] == HAND + player for player in range(SEATS) if player != seat]
    spots += [samples["draw"][:, [place]] == cards for place in range(samples["draw_left"][0])]
    counts = np.array([spot.sum(0) for spot in spots])
    counts = counts[counts.any(1)]
    expected = counts.mean(1, keepdims=True) * np.ones(len(cards))
    degrees = (len(cards) - 1) * (len(counts) - 1)
    return deviation(counts, expected, degrees, scale=(len(cards) - 1) / len(cards))


def pairs_in_a_hand(samples, cards, player):
    """The two cards of a pile in one hand."""
    hands = [tuple(np.array(cards)[held]) for held in samples["place"][:, cards] == HAND + player]
    return equally_likely(hands, list(combinations(cards, 2)))


def order_of_draw_pile(samples):
    """How the lowest four cards of the draw pile are ordered."""
    orders = [tuple(order) for order in samples["draw"][:, :4].argsort(1).tolist()]
    return equally_likely(orders, list(permutations(range(4))))


def order_of_port_pile(samples):
    """How the whole port pile is ordered."""
    ports = samples["port_pile"][:, : samples["ports_left"][0]]
    return equally_likely([tuple(row) for row in ports.tolist()], list(permutations(sorted(ports[0].tolist()))))


def statistics(samples, seat, onlooker):
    """All deviations of resamples of one position, by name."""
    piles = {pile: cards for pile, cards in onlooker.unseen(samples[0], seat).items() if len(cards) > 1}
    newest = onlooker.newest
    (player, *_) = (p for p, hand in enumerate(onlooker.hands) if p != seat and hand[newest] == 2)
    newest_where = where_cards_sit(samples, np.array(piles.pop(newest)), seat)
    older = [where_cards_sit(samples, np.array(cards), seat) for cards in piles.values() if in_several(cards, samples)]
    return {
        "cards of the newest pile": newest_where,
        "cards of older piles": max(older, key=abs),
        "pairs in a hand": pairs_in_a_hand(samples, onlooker.unseen(samples[0], seat)[newest], player),
        "order of the draw pile": order_of_draw_pile(samples),
    }


def in_several(cards, samples):
    return len(set(samples[0]["place"][cards])) > 1


def resample_in_python(game, seat, shuffle, mind_piles=True):
    """A resampler for comparison: shuffles the unseen cards, of each pile or of all together, and deals them."""
    other = redact(game, seat)
    piles = {}
    for card in np.flatnonzero(other["place"][:CARDS] == UNSEEN).tolist():
        piles.setdefault(int(other["since"][card]) if mind_piles else "all", []).append(card)
    ports = (CARDS + np.flatnonzero(other["place"][CARDS:] == UNSEEN)).tolist()
    for things in (*piles.values(), ports):
        shuffle(things)
    for player in range(SEATS):
        if player != seat:
            for since in other["hand_since"][player, : other["hand_size"][player]].tolist():
                other["place"][piles[since if mind_piles else "all"].pop()] = HAND + player
    for name, things in (("draw", list(chain(*piles.values()))), ("port_pile", ports)):
        other["place"][things] = PILE
        other[name][: len(things)] = things
    return other


def naive_shuffle(rng):
    """The well-known mistake: each thing changes places with any thing."""

    def shuffle(things):
        for i in range(len(things)):
            j = rng.randrange(len(things))
            things[i], things[j] = things[j], things[i]

    return shuffle


SAMPLES = 4000


def samples_in_python(game, seat, shuffle):
    return np.array([resample_in_python(game, seat, shuffle) for _ in range(SAMPLES)])


def test_every_game_that_looks_the_same_is_equally_likely():
    game, seat, onlooker = late_position()
    samples = resample(np.repeat(game, 5 * SAMPLES), seat, np.random.default_rng(0))
    for name, far in statistics(samples, seat, onlooker).items():
        assert abs(far) < FAR, name


def test_the_statistics_accept_a_fair_shuffle():
    game, seat, onlooker = late_position()
    samples = samples_in_python(game, seat, random.Random(0).shuffle)
    assert all(map(onlooker.believes, samples[:100]))
    for name, far in statistics(samples, seat, onlooker).items():
        assert abs(far) < FAR, name


def test_the_statistics_reject_a_naive_shuffle():
    game, seat, onlooker = late_position()
    samples = samples_in_python(game, seat, naive_shuffle(random.Random(0)))
    assert all(map(onlooker.believes, samples[:100]))
    for name, far in statistics(samples, seat, onlooker).items():
        assert far > FAR, name


def port_piles_in_python(game, shuffle):
    samples = np.repeat(game, SAMPLES)
    for pile in samples["port_pile"]:
        ports = pile[: game["ports_left"]].tolist()
        shuffle(ports)
        pile[: len(ports)] = ports
    return samples


def test_every_order_of_the_port_pile_is_equally_likely():
    games, _ = history(Ruleset())
    game = games[games["ports_left"] == 4][0]
    samples = resample(np.repeat(game, 5 * SAMPLES), 0, np.random.default_rng(0))
    assert abs(order_of_port_pile(samples)) < FAR
    assert abs(order_of_port_pile(port_piles_in_python(game, random.Random(0).shuffle))) < FAR
    assert order_of_port_pile(port_piles_in_python(game, naive_shuffle(random.Random(0)))) > 2 * FAR


def test_an_onlooker_rejects_resamples_that_ignore_the_piles():
    """R11.3: exchanging all unseen cards freely gives games that cannot be, though they look the same."""
    game, seat, onlooker = late_position()
    shuffle = random.Random(0).shuffle
    samples = [resample_in_python(game, seat, shuffle, mind_piles=False) for _ in range(200)]
    for other in samples:
        assert redact(other, seat).tobytes() == redact(game, seat).tobytes()
    assert sum(map(onlooker.believes, samples)) < 20


# An attack that has been declared


def declared_attack():
    """A position where a player with two cards, both of one pile, has declared an attack and not yet played a card."""
    batch = Batch(500, seed=5, finished="hold", skip_forced=False)
    while (batch.player >= 0).any():
        batch.step(batch.sample())
        for game in batch.games[(batch.phase == COMMIT) & (batch.games["attack_cards"] == 0)]:
            if game["hand_size"][game["player"]] == 2 and len(set(game["hand_since"][game["player"], :2])) == 1:
                return batch.ruleset, game.copy()
    raise AssertionError("no such position in these games")


def fits(ruleset, game, hand):
    """Whether a hand has a card with a flag of the contested company (R4.3)."""
    return any(COMPANIES[game["company"]] in ruleset.tables.cargo[card].flags for card in hand)


@every
def test_who_declared_an_attack_holds_a_card_for_it(ruleset):
    games, _ = history(ruleset)
    declared = games[(games["phase"] == COMMIT) & (games["attack_cards"] == 0)]
    for game in declared:
        for seat in seats_of(ruleset):
            for other in resample(np.repeat(game, 40), seat, np.random.default_rng(0)):
                assert fits(ruleset, other, hand_of(other, other["player"]))


def test_all_hands_an_attacker_can_hold_are_equally_likely():
    ruleset, game = declared_attack()
    attacker = int(game["player"])
    seat = (attacker + 1) % ruleset.players
    samples = resample(np.repeat(game, 40_000), seat, np.random.default_rng(0))
    assert redact(samples, seat).tobytes() == np.repeat(redact(game, seat), len(samples)).tobytes()
    hands = [tuple(np.flatnonzero(held)) for held in samples["place"] == HAND + attacker]
    unseen = redact(game, seat)["place"][:CARDS] == UNSEEN
    cards = np.flatnonzero(unseen & (game["since"][:CARDS] == game["hand_since"][attacker, 0])).tolist()
    possible = [hand for hand in combinations(cards, 2) if fits(ruleset, game, hand)]
    assert 0 < len(possible) < comb(len(cards), 2), "some hands should be ruled out"
    assert abs(equally_likely(hands, possible)) < FAR


# Wrong use


def generator():
    return np.random.default_rng(0)


def resampled(games, seats):
    return resample(games, seats, generator())


NOT_GAMES = [np.zeros(3), np.zeros((2, 2), GAME), 5, None, np.zeros(2, [("place", "i1", 76)])]
NO_GENERATORS = [None, 0, np.random, random, np.random.RandomState(0), random.Random(0)]
NO_SEATS = [-2, 5, 1.0, "0"]

# What is called with three games and a wrong value; the wrong values; words of the message; the error if no ValueError.
REFUSALS = [
    (lambda _, games: redact(games, 0), NOT_GAMES, "a record of Borneo or a row of them", TypeError),
    (lambda _, games: resampled(games, 0), NOT_GAMES, "a record of Borneo or a row of them", TypeError),
    (redact, NO_SEATS, "seat is a number from 0 to 4, or -1"),
    (resampled, NO_SEATS, "seat is a number from 0 to 4, or -1"),
    (redact, [[0, 1], [[0, 1, 2]], [0, 1, 2, 3]], "one for each of the 3 games"),
    (lambda games, rng: resample(games, 0, rng), NO_GENERATORS, r"np.random.default_rng\(seed\), not from", TypeError),
    (lambda games, seat: resampled(redact(games, 0), seat), [1], "no deal of what seat 1 has not seen"),
]


@pytest.mark.parametrize(
    ("call", "wrong", "words", "error"),
    [
        pytest.param(call, value, words, *(error or [ValueError]), id=f"{words} {number}")
        for call, wrong, words, *error in REFUSALS
        for number, value in enumerate(wrong)
    ],
)
def test_wrong_use_is_refused_in_words(call, wrong, words, error):
    with pytest.raises(error, match=words):
        call(history(Ruleset())[0][:3], wrong)


def unlike_any_pile(game):
    """A hand holds a card of a pile that no unseen card is of."""
    game["hand_since"][1, 0] = 77


def too_many_in_a_hand(game):
    game["hand_size"][1] += 1
    game["hand_since"][1, : game["hand_size"][1]] = 0


@pytest.mark.parametrize(
    "change",
    [
        unlike_any_pile,
        too_many_in_a_hand,
        lambda game: game["hand_size"].__setitem__(1, 100),
        lambda game: game["hand_size"].__setitem__(4, -1),
        lambda game: game.__setitem__("draw_left", game["draw_left"] + 1),
        lambda game: game.__setitem__("draw_left", -1),
        lambda game: game.__setitem__("ports_left", game["ports_left"] - 1),
        lambda game: game["place"].__setitem__(slice(CARDS), UNSEEN),
    ],
)
@pytest.mark.parametrize("seat", [0, SPECTATOR])
def test_a_record_that_no_deal_leads_to_cannot_be_resampled(change, seat):
    """It would be searched for for ever, or beyond the end of the list of unseen cards."""
    games = history(Ruleset())[0][20:23].copy()
    change(games[1])
    for views in (games, redact(games, seat)):
        with pytest.raises(ValueError, match=r"game 1: no deal of what (seat 0|a spectator) has not seen"):
            resample(views, seat, generator())


def discarded_only(game):
    """All cards with a flag of the company lie open in the discard pile."""
    game["fighters"] = np.uint64(1) << np.uint64(np.flatnonzero(game["place"][:CARDS] == DISCARD)[0])


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(
    "change",
    [lambda game: game.__setitem__("fighters", 0), discarded_only, lambda game: game.__setitem__("player", -1)],
    ids=["no such card", "discarded", "nobody"],
)
def test_an_attack_that_nobody_can_have_declared_cannot_be_resampled(own, change):
    _, game = declared_attack()
    seat = int(game["player"]) if own else (int(game["player"]) + 1) % 4
    assert resample(game, seat, generator())["phase"] == COMMIT
    change(game)
    with pytest.raises(ValueError, match=f"no deal of what seat {seat} has not seen"):
        resample(game, seat, generator())
