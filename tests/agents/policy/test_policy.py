"""Policy: a network as an agent, legal whatever its numbers are, and the same on NumPy as on torch."""

import re

import numpy as np
import pytest
from borneo_agents.arena import play_arena
from borneo_agents.arena.store.folder import FolderError
from borneo_agents.policy.agent import SHIPPED, Policy
from borneo_agents.policy.model import NORMED, PLAIN, Model, ModelError, write_model
from borneo_agents.policy.network import Layer, best_actions, drawn_actions, logits_of
from bot_games import decisions, play
from copies import Copy
from networks import card, network

from borneo_env import Ruleset
from borneo_env.agent import Random, UnknownAgent, Views, find_agent

BOARD, TINY = Ruleset(players=4), Ruleset(players=3, tables="tiny")
ANY_DICE = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
PARTS = [(number, part) for number, layer in enumerate([NORMED, NORMED, PLAIN]) for part in layer]


def views_of(ruleset=BOARD):
    """Decisions of whole games, as their players see them."""
    _, views, mask, dice = decisions(ruleset)
    return Views(ruleset, views, mask, dice)


def dice(count, seed=1):
    return np.random.default_rng(seed).integers(2**64, size=count, dtype=np.uint64)


def exact_network(seed=1):
    """A network whose sums are all exact, in whatever order they are added up.

    Into the norm go few whole numbers, small enough for their squares; out of it, each liking takes one.
    """
    rng = np.random.default_rng(seed)
    weights = rng.integers(-1, 2, (8, 969)) * (rng.random((8, 969)) < 0.1)
    first = weights, np.zeros(8), rng.integers(1, 4, 8), rng.integers(-1, 2, 8)
    last = np.eye(8)[rng.integers(8, size=370)] * rng.choice([-2, -1, 1, 2], (370, 1)), rng.integers(-9, 9, 370) / 64
    return Model(card(), [Layer(*(part.astype(np.float32) for part in layer)) for layer in (first, last)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a policy, beside which we are."""
    write_model(tmp_path / "runs" / "best.v1", network(width=4))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs" / "best.v1"


# ---------------------------------------------------------------- choosing an action


def test_the_legal_action_with_the_highest_logit():
    logits = np.array([[9, 1, 2, 3], [9, 1, 2, 3], [-5, -4, -3, -2]], np.float32)
    mask = np.array([[0, 1, 1, 0], [1, 1, 1, 1], [1, 1, 0, 0]], bool)
    assert best_actions(logits, mask).tolist() == [2, 0, 1]


def test_actions_are_drawn_by_their_logits():
    many = 40_000
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 2, 12).astype(np.float32)
    mask = np.array([1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0], bool)
    chance = np.where(mask, np.exp(logits.astype(float)), 0)
    chance /= chance.sum()
    drawn = drawn_actions(np.tile(logits, (many, 1)), np.tile(mask, (many, 1)), dice(many))
    share = np.bincount(drawn, minlength=12) / many
    assert not share[~mask].any()
    assert (np.abs(share - chance) < 5 * np.sqrt(chance * (1 - chance) / many) + 1e-12).all()


EXTREMES = [0.0, 1e-30, 88.0, -104.0, -1e9, 1e9, -3e38, 3e38, np.inf, -np.inf, np.nan]


def test_no_number_whatever_makes_an_illegal_action():
    rng = np.random.default_rng(2)
    logits = rng.choice(np.array(EXTREMES, np.float32), (6000, 7))
    logits[: len(EXTREMES)] = np.array(EXTREMES, np.float32)[:, None]
    mask = rng.random((6000, 7)) < 0.4
    mask[np.arange(6000), rng.integers(7, size=6000)] = True
    rows = np.arange(6000)
    assert mask[rows, best_actions(logits, mask)].all()
    for one in (dice(6000), *(np.full(6000, number) for number in ANY_DICE)):
        assert mask[rows, drawn_actions(logits, mask, one)].all()


def test_no_number_is_the_lowest_logit_and_infinity_the_highest():
    logits = np.array([[np.nan, -5, 0], [np.inf, 5, np.nan], [-np.inf, -5, np.nan]], np.float32)
    mask = np.ones((3, 3), bool)
    assert best_actions(logits, mask).tolist() == [2, 0, 1]
    assert drawn_actions(logits, mask, dice(3))[1:].tolist() == [0, 1]


# ---------------------------------------------------------------- playing


@pytest.mark.parametrize(
    ("ruleset", "sample"),
    [(BOARD, False), *((Ruleset(players=players), True) for players in (3, 4, 5)), (Ruleset("card", 3), True)],
    ids=lambda setting: getattr(setting, "name", setting),
)
def test_a_policy_plays_whole_games(ruleset, sample):
    """An illegal action would raise; forced ones are asked for too."""
    agents = [Policy(network(ruleset.edition, liking=3), sample), Random()]
    done = play(agents, ruleset, games=4, skip_forced=False)
    assert (done.player < 0).all()


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize(("number", "part"), PARTS)
def test_whatever_one_part_is_actions_are_legal(number, part, sample):
    model = network(width=4, depth=2)
    numbers = getattr(model.layers[number], part)
    numbers.flat[::2] = np.float32(3e38)
    numbers.flat[1::2] = np.float32(-3e38)
    views = views_of()
    actions = Policy(model, sample).act(views)
    assert views.mask[np.arange(len(views)), actions].all()


def test_a_policy_does_what_its_network_likes():
    views = views_of()
    policy = Policy(exact_network())
    logits = logits_of(policy.model.layers, views.observe()).astype(float)
    wanted = [max(np.flatnonzero(mask), key=lambda a: liked[a]) for mask, liked in zip(views.mask, logits, strict=True)]
    assert policy.act(views).tolist() == wanted
    assert len(set(wanted)) > 50


def test_dice_matter_only_for_a_policy_that_draws():
    views = views_of()
    others = Views(views.ruleset, views.games, views.mask, ~views.dice)
    best, drawn = Policy(exact_network()), Policy(exact_network(), sample=True)
    assert best.act(views).tolist() == best.act(others).tolist()
    assert drawn.act(views).tolist() == drawn.act(views).tolist()
    assert drawn.act(views).tolist() != drawn.act(others).tolist()
    assert drawn.act(views).tolist() != best.act(views).tolist()


def test_odds_are_the_chances_of_drawing():
    """One decision, drawn many times: as often as the odds say, and never an illegal action."""
    views, many = views_of(), 8_000
    policy = Policy(network(liking=2), sample=True)
    odds = policy.probabilities(views)
    assert odds.shape == views.mask.shape and not odds[~views.mask].any()
    assert np.allclose(odds.sum(1), 1) and (odds.argmax(1) == Policy(policy.model).act(views)).all()
    for one in np.argsort(-views.mask.sum(1))[:2]:
        again, chance = np.full(many, one), odds[one]
        often = Views(views.ruleset, views.games[again], views.mask[again], dice(many))
        share = np.bincount(policy.act(often), minlength=odds.shape[1]) / many
        assert chance.max() < 0.9, "there is something to draw"
        assert (np.abs(share - chance) < 5 * np.sqrt(chance * (1 - chance) / many) + 2 / many).all()


def test_a_policy_of_another_edition_is_refused_in_the_arena_before_any_game(tmp_path):
    players = {"random": "random", "mine": Policy(network("card"))}
    with pytest.raises(ModelError, match=r"^'mine' cannot play: the policy was trained for the card edition"):
        play_arena(players, TINY, games=6, jobs=0, out=tmp_path / "arena")
    assert not (tmp_path / "arena").exists()


def test_the_folder_of_a_training_says_where_its_policy_is(tmp_path):
    write_model(tmp_path / "best", network(width=3))
    with pytest.raises(ModelError, match=r"is the folder of a training: its policy is in best there$"):
        Policy(tmp_path)


# ---------------------------------------------------------------- by name


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ("policy:{folder}", False),
        ("policy:{folder}:sample=True", True),
        ("policy:{folder}:True", True),
        ("policy:path={folder}:sample=False", False),
        ("policy:runs/best.v1", False),
        ("policy:./runs/best.v1:sample=True", True),
        ("policy:runs/../runs/best.v1/", False),
        *((f"policy:path={name}", False) for name in ("1.5", "12", "{{[]}}", "a b", "lr=0.1", "d:/runs")),
        *((f"policy:{name}:sample=True", True) for name in ("[1]", "x.safetensors", r"C:\runs\best", "D:/")),
    ],
)
def test_a_policy_is_found_by_its_path(text, sample, folder):
    """Which may look like something else."""
    name = re.fullmatch(r"policy:(path=)?(.*?)(:sample=True|:True|:sample=False)?", text.format(folder=folder))[2]
    write_model(name, network(width=4))
    policy = find_agent(text.format(folder=folder))
    assert isinstance(policy, Policy)
    assert policy.model.layers[0].weights.shape == (4, 969)
    views = views_of()
    twin = Policy(network(width=4), sample)
    assert policy.act(views).tolist() == twin.act(views).tolist()


@pytest.mark.parametrize(
    ("text", "error", "reason"),
    [
        ("policy:nowhere", ModelError, "nowhere/card.json: cannot be read: No such file or directory; a policy is a"),
        ("policy:runs", ModelError, "runs/card.json: cannot be read"),
        ("policy:5", ModelError, "5/card.json: cannot be read"),
        ("policy:", ModelError, "card.json: cannot be read"),
        ("policy:runs/best.v1/card.json", ModelError, "Not a directory; a policy is a folder with model.safetensors"),
        ("policy:runs/best.v1:sample=yes", UnknownAgent, "sample is True or False, not 'yes'"),
        ("policy:runs/best.v1:sample=1", UnknownAgent, "sample is True or False, not 1"),
        ("policy:speed=3", UnknownAgent, "no argument 'speed'; its arguments are: path, sam"),
        ("policy:runs/best.v1:True:3:4:5", UnknownAgent, "too many positional arguments; its arguments are: path, sam"),
        *((f"policy:budget={budget}", UnknownAgent, f"a budget is a number from 0 to 10000000, not {budget}")
          for budget in (-1, 2.5, True, 99999999999)),
        ("policy:milliseconds=-1", UnknownAgent, "milliseconds are a number from 0 to 3600000, not -1"),
        ("policy:milliseconds=soon", UnknownAgent, "milliseconds are a number from 0 to 3600000, not 'soon'"),
        ("policy:milliseconds=1e999", UnknownAgent, "milliseconds are a number from 0 to 3600000, not inf"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_with_a_reason(text, error, reason, folder):
    with pytest.raises(error, match=re.escape(reason)):
        find_agent(text)


def test_without_a_path_the_policy_of_the_package_plays(monkeypatch, folder):
    monkeypatch.setattr("borneo_agents.policy.agent.SHIPPED", folder)
    assert find_agent("policy").model.layers[0].weights.shape == (4, 969)
    assert SHIPPED.parent.name == "policy"


def test_a_policy_plays_in_the_processes_of_the_arena(folder, forks):
    agents = ["random", "policy:runs/best.v1:sample=True"]
    alone, together = (play_arena(agents, TINY, games=12, seed=3, jobs=jobs) for jobs in (0, 1))
    assert not together.faults
    assert alone.outcomes.tobytes() == together.outcomes.tobytes()


def test_a_policy_trained_further_is_another_setting(folder):
    agents = ["random", f"policy:{folder}"]
    play_arena(agents, TINY, games=6, jobs=0, out="kept")
    play_arena(agents, TINY, games=12, jobs=0, out="kept")
    write_model(folder, network(width=4, seed=2))
    with pytest.raises(FolderError, match=r"the code of policy:.* has changed since"):
        play_arena(agents, TINY, games=12, jobs=0, out="kept")


def test_every_number_of_a_policy_is_in_its_fingerprint():
    def fingerprint(change=lambda layers: None):
        model = network(width=4, depth=2)
        change(model.layers)
        return Policy(model).fingerprint

    seen = {fingerprint()}
    assert seen == {fingerprint()}, "nothing but the numbers matters"
    for number, part in PARTS:

        def last_number_is_another(layers, number=number, part=part):
            getattr(layers[number], part).flat[-1] += 1

        seen.add(fingerprint(last_number_is_another))
    assert len(seen) == 1 + len(PARTS) == 11


def test_policies_of_one_folder_share_their_model_until_it_changes(tmp_path):
    folder = tmp_path / "model"
    write_model(folder, network(width=3))
    assert Policy(folder).model is Policy(str(folder)).model
    write_model(folder, network(width=4))
    assert Policy(folder).model.layers[0].weights.shape[0] == 4


# ---------------------------------------------------------------- NumPy and torch


LEARNING = ("borneo_train", "sb3_contrib", "stable_baselines3", "torch")
PLAYS = f"""
import sys
import numpy as np
from borneo_env import Batch
from borneo_env.agent import Views, find_agent
batch = Batch(3)
rows = np.arange(3)
batch.step(find_agent(sys.argv[1]).act(Views(batch.ruleset, *batch.view(rows))), rows)
print(*(name for name in {LEARNING} if name in sys.modules))
"""


def test_a_policy_plays_without_torch(folder, tmp_path):
    played = Copy(PLAYS, f"policy:{folder}:sample=True", place=tmp_path, anew=True, without=LEARNING)
    assert played.said() == ("", "")
