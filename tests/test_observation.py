"""The observation: its blocks, its words, and that it tells a seat nothing it may not know."""

from itertools import pairwise

import numpy as np
import pytest
from playing import RULESETS, pick

import borneo_env
from borneo_env import PHASES, every_ruleset
from borneo_env.cards import CHEST, SPICES
from borneo_env.engine.games import observe, results
from borneo_env.engine.observe import LAYOUT, explain, join, layout, length, split
from borneo_env.engine.state import (
    AT_PORT,
    ATTACK,
    CARDS,
    DEFENCE,
    DISCARD,
    HAND,
    TAKE,
    TRADERS,
    UNSEEN,
    WAREHOUSE,
    slots_of,
)

# ---------------------------------------------------------------- no leak


def compare_twins(ruleset, games, seed, seats_at_once=1, decisions_apart=1):
    """Play random games, and compare what a seat observes, and its mask if it decides, with a game resampled for that
    seat; another seat each time, or several. Returns how many decisions were compared."""
    rng = np.random.default_rng(seed)
    batch = borneo_env.Batch(games, ruleset, seed=seed, finished="hold", skip_forced=False)
    twins = batch.copy()
    decisions = seat = 0
    while (playing := batch.player >= 0).any():
        decisions += int(playing.sum())
        for _ in range(seats_at_once):
            seat = (seat + 1) % ruleset.players
            twins.games[:] = borneo_env.resample(batch.games, seat, rng)
            twins.refresh()
            assert (twins.observe(seat) == batch.observe(seat)).all()
            mine = batch.player == seat
            assert (twins.mask[mine] == batch.mask[mine]).all()
        batch.play_random(decisions_apart)
    return decisions


@pytest.mark.parametrize("ruleset", RULESETS)
def test_twins_a_seat_cannot_tell_apart_look_the_same(ruleset):
    """No leak, in at least 1,500 decisions of each ruleset."""
    assert compare_twins(ruleset, games=100, seed=3, decisions_apart=11) >= 1_500


def test_twins_do_differ():
    """The comparison above would be empty if resampled games were the same games."""
    batch = borneo_env.Batch(50, seed=3)
    batch.play_random(60)
    twins = borneo_env.resample(batch.games, 0, np.random.default_rng(1))
    hidden = twins["place"] != batch.games["place"]
    assert hidden.any(axis=1).all() and hidden.sum() > 500


@pytest.mark.soak
def test_twins_look_the_same_in_100000_decisions(capsys):
    decisions = sum(
        compare_twins(ruleset, games=60, seed=100 + i, seats_at_once=ruleset.players)
        for i, ruleset in enumerate(every_ruleset())
    )
    with capsys.disabled():
        print(f"\n{decisions:,} decisions in {len(every_ruleset())} rulesets: twins look the same to every seat")
    assert decisions >= 100_000


# ---------------------------------------------------------------- blocks


@pytest.mark.parametrize("slots", [5, 15])
def test_the_layout_covers_the_observation_without_gaps(slots):
    blocks = layout(slots)
    assert [block.slice.start for block in blocks] == [0, *(block.slice.stop for block in blocks[:-1])]
    assert len({block.name for block in blocks}) == len(blocks)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_observations_split_into_blocks_and_back(ruleset):
    batch = borneo_env.Batch(8, ruleset, seed=3)
    batch.play_random(120)
    seen = batch.observe()
    blocks = split(seen)
    assert (join(blocks) == seen).all()
    assert (blocks["hand"].sum(1) == blocks["hand_size"][:, 0]).all()
    assert (blocks["hand_ages"].sum(2) == blocks["hand_size"]).all()
    assert (blocks["unseen"].sum((1, 2)) == blocks["hand_size"][:, 1:].sum(1) + blocks["draw_left"]).all()
    assert (blocks["ladders"].sum((1, 2, 3)) == blocks["placed"]).all()
    assert (blocks["player"][:, 0] == 1).all()


def pick_games(ruleset, seed):
    """Every position of a game in which all play as `pick` does, as an array of records."""
    batch = borneo_env.Batch(1, ruleset, seed=seed, finished="hold", skip_forced=False)
    positions = [batch.games[0].copy()]
    while batch.player[0] >= 0:
        batch.step([pick(batch.mask[0])])
        positions.append(batch.games[0].copy())
    return np.array(positions)


def defenders(positions):
    """Who defends in each position: who stood on the attacked rank when the contest began; -1 without one."""
    found = [-1]
    for before, g in pairwise(positions):
        begins = g["company"] >= 0 and (before["company"] < 0 or before["phase"] == TRADERS)
        here = found[-1] if g["company"] >= 0 else -1
        found.append(int(g["ladder"][g["company"], g["defender_rank"]]) if begins else here)
    return found


def blocks_by_hand(ruleset, positions, at, seat, defender):
    """What a seat observes in a position, put together from what it may see of the record and from the cards."""
    g = borneo_env.redact(positions[at], seat)
    cargo = ruleset.tables.cargo
    ports = dict(enumerate(ruleset.tables.ports_in_play(ruleset.players), start=CARDS))
    goods = (*SPICES, CHEST)
    blocks = {name: np.zeros(values.shape, int) for name, values in split(np.zeros(length(slots_of(ruleset)))).items()}

    def away(player):
        return (player - seat) % ruleset.players

    where = [int(place) for place in g["place"]]
    older = g["hand_since"][(g["hand_since"] >= 0) & (g["hand_since"] < g["pile_since"])]
    ages = [int(g["pile_since"]), int(older.max()) if len(older) else None]

    def age(since):
        return ages.index(since) if since in ages else 2

    for card in range(CARDS):
        blocks["hand"][card] = where[card] == HAND + seat
        blocks["discards"][card] = where[card] == DISCARD
        blocks["attack"][card] = where[card] == ATTACK
        blocks["defence"][card] = where[card] == DEFENCE
        if where[card] == UNSEEN:
            blocks["unseen"][age(int(g["since"][card])), card] = 1
    for spot in range(3):
        here = [card for card in range(CARDS) if where[card] == AT_PORT + spot]
        for order, card in enumerate(sorted(here, key=lambda card: g["order"][card]), start=1):
            blocks["port_cards"][spot, card] = order if g["phase"] != TAKE else g["order"][card]
        blocks["port_laid"][spot] = len(here)
        blocks["port_flags"][spot] = g["shown"][spot]
        if g["open"][spot] >= 0:
            port = ports[int(g["open"][spot])]
            blocks["port_limit"][spot], blocks["port_monopoly"][spot] = port.limit, port.monopoly
            blocks["port_spice"][spot, goods.index(port.spice)] = 1
    points = results(ruleset, positions[at : at + 1]).scores[0]
    for player in range(ruleset.players):
        mine = away(player)
        for since in g["hand_since"][player][: g["hand_size"][player]]:
            blocks["hand_ages"][mine, age(int(since))] += 1
        blocks["hand_size"][mine] = (positions[at]["place"][:CARDS] == HAND + player).sum()
        for thing in np.flatnonzero(g["place"] == WAREHOUSE + player).tolist():
            card = ports[thing] if thing >= CARDS else cargo[thing]
            size = 2 if thing >= CARDS else card.count - 1
            blocks["warehouse"][mine, goods.index(card.spice), size] += 1
        blocks["fulfilled"][mine] = g["fulfilled"][player]
        blocks["scores"][mine] = points[player]
        for name in ("pirates", "player", "turn", "start"):
            blocks[name][mine] = g[name] == player
    for company, ladder in enumerate(g["ladder"]):
        for rank, player in enumerate(ladder):
            if player >= 0:
                blocks["ladders"][company, rank, away(player)] = 1
    for name in ("draw_left", "ports_left", "placed", "supply", "owed"):
        blocks[name][...] = g[name]
    blocks["phase"][g["phase"]] = 1
    if g["contract"] >= 0:
        blocks["contract"][g["contract"]] = 1
    if g["company"] >= 0:
        blocks["contest"][g["company"]] = 1
        blocks["attacker"][away(g["turn"])] = blocks["defender"][away(defender)] = 1
        blocks["ranks"][:] = g["attacker_rank"] + 1, g["defender_rank"] + 1
        blocks["strength"][:] = g["strength"]
        blocks["bonus"][...] = g["attacker_rank"] - g["defender_rank"] - 1
    if g["phase"] == TAKE:
        blocks["sharing"][g["sharing_port"]] = 1
        left = min(6, int(g["laid"][g["sharing_port"]]))
        for i, later in enumerate(positions[at : at + left]):
            blocks["takers"][i, away(later["player"])] = 1
    blocks["players"][ruleset.players - 3] = 1
    blocks["traders"][...], blocks["blackbeard"][...] = ruleset.traders, ruleset.blackbeard
    blocks["card_edition"][...] = ruleset.edition == "card"
    return blocks


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_block_holds_what_it_says(ruleset):
    """A game that has contests, contracts and distributions, seen by who decides and by each seat in turn."""
    positions = pick_games(ruleset, seed=5)
    defending = defenders(positions)
    filled = set()
    for at in range(0, len(positions), 2):
        decides = int(positions["player"][at])
        seat = decides if at % 4 and decides >= 0 else at // 4 % ruleset.players
        seen = split(observe(ruleset, positions[at : at + 1], seat)[0])
        expected = blocks_by_hand(ruleset, positions, at, seat, defending[at])
        wrong = [name for name in seen if not (seen[name] == expected[name]).all()]
        assert not wrong, f"position {at}, phase {PHASES[positions['phase'][at]]}, seat {seat}: {wrong}"
        filled |= {name for name, values in seen.items() if values.any()}
    never = {block.name for block in LAYOUT} - filled
    assert never <= {"pirates", "blackbeard", "card_edition", "defence"}, f"the game never shows {never}"


def test_an_observation_is_explained_in_words():
    batch = borneo_env.Batch(1, seed=2)
    batch.play_random(30)
    hand = np.flatnonzero(split(batch.observe())["hand"][0])
    told = explain(batch.observe()[0])
    assert "hand: " + ", ".join(f"card {card}" for card in hand) in told
    assert "player: you" in told
    assert all(block.name in told for block in LAYOUT)
    with pytest.raises(ValueError, match="969"):
        explain(np.zeros(5))
