"""A view tells in words what the record holds, and what the rules make of it."""

import numpy as np
import pytest
from playing import SEVERAL_RULESETS, pick

from borneo_env import Batch, Ruleset
from borneo_env.agent import Views
from borneo_env.cards import COMPANIES, SPICES
from borneo_env.engine.state import CARDS, HAND, PHASES
from borneo_env.view import View


def view_of(batch, row=0):
    views = Views(batch.ruleset, *batch.view(np.array([row])))
    return View(views.ruleset, views.games[0], views.mask[0], int(views.dice[0]))


def positions(ruleset, seed=3):
    """A game, and at each decision what its player sees; whoever asks may step it."""
    batch = Batch(1, ruleset, seed=seed, finished="hold", skip_forced=False)
    while batch.player[0] >= 0:
        yield batch, view_of(batch)
        if not batch.done[0]:
            batch.step([pick(batch.mask[0])])


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_what_lies_on_the_table(ruleset):
    for batch, view in positions(ruleset):
        game = batch.games[0]
        assert (view.me, view.phase, view.turn) == (game["player"], PHASES[game["phase"]], game["turn"])
        assert [card.number for card in view.hand] == np.flatnonzero(game["place"][:CARDS] == HAND + view.me).tolist()
        assert view.hand_sizes == tuple(game["hand_size"][: ruleset.players])
        assert view.scores == tuple(batch.scores()[0])
        for company, name in enumerate(COMPANIES):
            traders = game["ladder"][company][: game["height"][company]].tolist()
            assert view.ladders[name] == tuple(traders)
            assert view.rank(name) == (traders.index(view.me) + 1 if view.me in traders else None)
        for port in view.ports:
            assert len(port.cards) == game["laid"][port.place]
            assert list(port.flags.values()) == game["shown"][port.place].tolist()
            assert not port.cards or port.cards[-1].number == game["lowest"][port.place]
        assert sum(warehouse.cards for warehouse in view.warehouses) == game["stock"][: ruleset.players].sum()


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_options_are_the_legal_moves(ruleset):
    for batch, view in positions(ruleset):
        assert [option.text for option in view.options] == batch.legal_moves(0)
        assert [option.action for option in view.options] == np.flatnonzero(batch.mask[0]).tolist()
        assert all(option.card in view.hand for option in view.options if option.verb in ("ship", "drop"))
        assert all(option.port in view.ports for option in view.options if option.verb == "ship")


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_a_shipment_does_what_the_port_says(ruleset):
    """R5.1, R5.2."""
    told = set()
    for batch, view in positions(ruleset):
        if view.phase == "ship":
            option = view.random.choice(view.options)
            flags, result = option.port.flags_after(option.card), option.port.result_of(option.card)
            ahead = batch.copy()
            ahead.step([option.action])
            opened = ahead.games["open"][0, option.port.place] == batch.games["open"][0, option.port.place]
            assert opened == (result == "nothing")
            if opened:
                assert list(flags.values()) == ahead.games["shown"][0, option.port.place].tolist()
            else:
                assert (ahead.games["monopoly"][0] >= 0) == (result == "monopoly")
            told.add(result)
    assert "nothing" in told and len(told) > 1


@pytest.mark.parametrize("edition", ["board", "card"])
def test_payable_contracts_are_those_on_offer(edition):
    """R3.1, R3.2."""
    offered = 0
    for _, view in positions(Ruleset(edition, 3)):
        if view.phase in ("contract", "last contract"):
            offers = {option.contract for option in view.options if not option.declines}
            assert offers == set(view.payable)
            for option in view.options:
                assert not option.declines or option.contract is None
                if option.spice:
                    assert option.contract.missing(view.warehouse, option.spice) == 0
            offered += len(offers)
    assert offered


def test_what_a_warehouse_lacks():
    view = next(view for _, view in positions(Ruleset()))
    each_2, same_4 = view.contracts[2], view.contracts[1]
    assert (each_2.kind, each_2.amount, same_4.kind, same_4.amount) == ("each-2", 2, "same-4", 4)
    game = view.game.copy()
    game["stock"][view.me] = [[1, 1, 0], [0, 0, 0], [2, 0, 0], [0, 0, 1], [0, 0, 1]]  # pepper 3, cloves 2, nutmeg 1
    view = View(view.ruleset, game, np.zeros(0, bool), 0)
    assert view.warehouse.spices == dict(zip(SPICES, (3, 0, 2, 1), strict=True))
    assert (view.warehouse.jokers, view.warehouse.cards, view.warehouse.doubles["pepper"]) == (1, 6, 1)
    assert each_2.missing(view.warehouse) == 2  # two cinnamon, one nutmeg, a joker
    assert same_4.missing(view.warehouse) == 0
    assert same_4.missing(view.warehouse, "cloves") == 1


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_a_contest(ruleset):
    """R4.2 to R4.7: who fights, with how many flags, and who wins."""
    seen = set()
    for batch, view in positions(ruleset, seed=5):
        contest, game = view.contest, batch.games[0]
        assert (contest is None) == (view.phase not in ("commit", "defend", "keep", "yield"))
        if contest is None:
            continue
        seen.add(view.phase)
        assert contest.attacker == game["turn"]
        assert view.me == (contest.attacker if view.phase == "commit" else contest.defender)
        assert contest.attack == game["strength"][0]
        if view.phase in ("keep", "yield"):
            assert (contest.attack >= contest.defence) == (view.phase == "yield")
        for option in view.options:
            if option.card and view.phase == "commit":
                assert option.card.strength(contest.company) > 0
    assert {"commit", "defend", "yield"} <= seen


def test_other_hands_are_in_nothing_that_a_view_tells():
    """R11: whatever a view tells comes from the redacted record."""
    batch = Batch(1, Ruleset(), seed=4)
    batch.play_random(60)
    view = view_of(batch)
    others = [HAND + seat for seat in range(4) if seat != view.me]
    hidden = set(np.flatnonzero(np.isin(batch.games["place"][0, :CARDS], others)).tolist())
    assert hidden
    seen = (*view.hand, *view.discards, *(card for port in view.ports for card in port.cards))
    assert not hidden & {card.number for card in seen}
    assert not any(view.cards_at(place) for place in others)


def test_the_same_decision_has_the_same_luck():
    batch = Batch(1, Ruleset(), seed=4)
    views = Views(batch.ruleset, *batch.view(np.array([0])))
    drawn = {View(views.ruleset, views.games[0], views.mask[0], int(views.dice[0])).random.random() for _ in range(2)}
    assert len(drawn) == 1
