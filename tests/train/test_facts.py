"""Facts of actions: what the cards show, what the texts say, and nothing else."""

import numpy as np
import pytest
from borneo_train.facts import action_facts, card_facts

from borneo_env import Ruleset
from borneo_env.cards import COMPANIES, SPICES
from borneo_env.engine.actions import action_table
from borneo_env.engine.state import slots_of

editions = pytest.mark.parametrize("edition", ["board", "card"])


def table_of(edition):
    return action_table(slots_of(Ruleset(edition)))


def told(edition, text):
    """The facts of the action with this text."""
    table = table_of(edition)
    (action,) = (action for action in range(len(table)) if text in table.texts(action))
    return action_facts(edition)[action]


def sayings(edition, card):
    """What is to be said of a card, in words."""
    cargo = Ruleset(edition).tables.cargo[card]
    most, least = sorted(set(cargo.flags), key=cargo.flags.count, reverse=True)
    assert (cargo.flags.count(most), cargo.flags.count(least)) == (3, 1)
    said = {f"three {most}", f"one {least}", f"bottom {cargo.flags[3]}", cargo.spice}
    return said | ({f"double {cargo.spice}", "double"} if cargo.count == 2 else set())


@editions
def test_facts_of_cards_are_those_of_the_card_tables(edition):
    columns = [
        *(f"{what} {company}" for what in ("three", "one", "bottom") for company in COMPANIES),
        *SPICES,
        *(f"double {spice}" for spice in SPICES),
        "double",
    ]
    facts = card_facts(edition)
    assert facts.shape == (60, len(columns)) and facts.dtype == np.float32
    for card, row in enumerate(facts.tolist()):
        assert row == [float(column in sayings(edition, card)) for column in columns]


def test_facts_of_a_card_by_hand():
    """Card 4 of the board edition shows yellow, red, red over red, and cinnamon twice."""
    red_thrice, yellow_once, red_below = [1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]
    cinnamon = [0, 1, 0, 0]
    assert card_facts("board")[4].tolist() == [*red_thrice, *yellow_once, *red_below, *cinnamon, *cinnamon, 1]


@pytest.mark.parametrize(("edition", "slots"), [("board", 5), ("card", 15)])
def test_there_is_a_fact_for_every_word_and_every_fact_of_a_card(edition, slots):
    kinds, passing, company, slot, contract, pay = 9, 1, 4, 1, 5 + 4, 5 + 3
    transfer, contest = 4 + slots + 4, 4 + 2 * (slots - 1)
    ship, card = 21 * (1 + 3), 21  # at any port, and at each
    facts = action_facts(edition)
    wide = kinds + passing + company + slot + contract + pay + transfer + contest + ship + card
    assert facts.shape == (len(table_of(edition)), wide) and facts.dtype == np.float32
    assert set(np.unique(facts)) == {0, 1}
    assert facts.any(0).all(), "each is a fact of some action"


@editions
def test_no_two_actions_have_the_same_facts(edition):
    """There is no exception: texts that have the same facts, such as take 17 and drop 17, are one action."""
    facts = action_facts(edition)
    assert len(np.unique(facts, axis=0)) == len(facts)


@editions
def test_actions_have_in_common_what_their_texts_and_cards_have(edition):
    """Of every two actions, the number of facts that both have, counted from texts and card tables."""
    table = table_of(edition)
    blocks = [table.block_of(action).name for action in range(len(table))]
    words = [table.texts(action)[0].split()[1:] for action in range(len(table))]
    said = [sayings(edition, card) for card in range(60)]

    def in_common(one, other):
        if blocks[one] != blocks[other]:
            return 0
        if blocks[one] not in ("ship", "card"):
            return 1 + sum(mine == yours for mine, yours in zip(words[one], words[other], strict=False))
        (card, *port), (also_card, *also_port) = words[one], words[other]
        same = len(said[int(card)] & said[int(also_card)])
        return 1 + same * (2 if port and port == also_port else 1)

    wanted = [[in_common(one, other) for other in range(len(table))] for one in range(len(table))]
    facts = action_facts(edition)
    assert (facts @ facts.T).tolist() == wanted


@editions
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("contract none", 2),  # that it declines, twice
        ("commit done", 2),
        ("place red", 2),
        ("yield red", 2),
        ("contract each-1", 2),
        ("contract same-4 pepper", 3),
        ("pay joker", 2),
        ("pay nutmeg port", 3),
        ("transfer red 1 yellow", 4),
        ("attack blue 5 2", 4),
    ],
)
def test_as_many_facts_as_words(edition, text, count):
    assert told(edition, text).sum() == count


@editions
def test_facts_of_cards_at_ports(edition):
    single, double = (len(sayings(edition, card)) for card in (0, 4))
    assert (single, double) == (4, 6)
    assert told(edition, "take 0").sum() == told(edition, "commit 0").sum() == 1 + single
    assert told(edition, "ship 0 2").sum() == 1 + 2 * single
    assert told(edition, "ship 4 0").sum() == 1 + 2 * double
    assert (told(edition, "ship 4 0") * told(edition, "ship 4 1")).sum() == 1 + double
    assert not (told(edition, "ship 4 0") * told(edition, "drop 4")).any()
