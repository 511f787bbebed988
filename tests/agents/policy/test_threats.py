"""What others threaten to do: events and values of games that are really played, by what its seat may know."""

import re
from dataclasses import replace

import numpy as np
import pytest
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.network import Layer, drawn_actions, logits_of
from borneo_agents.policy.threats import Threat, outcomes, outlook_of, played_on, worst
from bot_games import decisions
from networks import PARTS, network, searcher, shown_to_critic
from positions import position

from borneo_env import Batch, Ruleset, resample
from borneo_env.agent import Views
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import DOUBLE
from borneo_env.pieces import briefly, plain
from borneo_env.record import Moment
from borneo_env.render.scene import Scene
from borneo_env.story import Narrator

BOARD = Ruleset("board", 3)
MODEL = searcher(liking=2)
FIRST = np.array([0])


def views_of(ruleset=BOARD, nth=110):
    _, *columns = (column[::nth].copy() for column in decisions(ruleset))
    return [Views(ruleset, *(column[i : i + 1] for column in columns)) for i in range(len(columns[0]))]


# ---------------------------------------------------------------- the games that are imagined


def by_hand(model, views, action, playouts):
    """Values and stories of the same playouts, each game by itself; a story is what others do, as a record tells it."""
    ruleset, me = views.ruleset, int(views.player[0])
    games = resample(np.repeat(views.games, playouts), me, np.random.default_rng(int(views.dice[0])))
    values, stories = [], []
    for game in games:
        batch = Batch(1, ruleset, finished="hold", skip_forced=False)
        batch.games[0] = game
        batch.refresh()
        narrator, story, away, move = Narrator(forced=True), [], False, action
        while True:
            line = {"player": int(batch.player[0]), "move": batch.actions.text(int(move), batch.phase_name())}
            before = batch.games[0].copy()
            batch.step([int(move)])
            told = " ".join(told.line() for told in narrator.tell(Moment("move", 2, line, before, batch)))
            if line["player"] != me:
                story.append(told)
            away = away or batch.games["turn"][0] != me
            player = int(batch.player[0])
            if player < 0 or (away and batch.games["turn"][0] == me and batch.mask.sum() > 1):
                break
            move = batch.forced()[0]
            if move == NO_ACTION:  # only then are dice thrown
                shown, mask, dice = batch.look(FIRST)
                move = drawn_actions(logits_of(model.rollout or model.layers, shown), mask, dice)[0]
        seat = max(player, 0)
        found = logits_of(model.critic, shown_to_critic(batch, seat))[0, (me - seat) % ruleset.players]
        values.append(outcomes(batch, model.margin_coef)[0, me] if player < 0 else found)
        stories.append(story)
    return np.array(values), stories


EVENT = re.compile(
    r"(player \d) (attacks player \d in \w+)|(player \d) ships .*? (to \w+) \((.*)"
    r"|(player \d) chooses the (contract \S+)|(player \d places a trader in \w+)"
    r"|(player \d) transfers the trader on \w+ \d (to \w+)"
)


def event(told):
    """What a line of a story says, in the words of a threat."""
    found = EVENT.search(told)
    if not found:
        return None
    attacker, attack, shipper, port, result, winner, contract, placed, trader, company = found.groups()
    if shipper:
        shared = re.search("Monopoly of|Shared distribution", result) and "no trader to choose" not in result
        return f"{shipper} ships {port}, {'and its cargo is distributed' if shared else 'without a distribution'}"
    if winner:
        return f"{winner} fulfils a {contract}"
    return placed or (f"{attacker} {attack}" if attacker else f"{trader} transfers a trader {company}")


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("ruleset", [BOARD, Ruleset("card", 4)], ids=["board", "card"])
def test_events_and_values_are_those_of_games_that_are_played_on(ruleset, parts):
    model, kinds = searcher(ruleset.edition, liking=2, **parts), set()
    for views in views_of(ruleset):
        action = int(views.mask[0].argmax())
        values, events, _ = played_on(model, views, [action], 5)
        wanted, stories = by_hand(model, views, action, 5)
        np.testing.assert_allclose(values, wanted, atol=1e-5)
        happened = [{plain(one, shown=briefly) for one in some} for some in events]
        assert happened == [{event(told) for told in story} - {None} for story in stories]
        kinds |= {one.split()[2] for some in happened for one in some}
    assert kinds == {"attacks", "ships", "fulfils", "places", "transfers"}


def test_a_contract_that_loses_the_game_is_a_threat_for_what_it_costs():
    """Players 0 and 1 have one contract each; with the last one player 1 would win alone."""
    game = position(
        phase="last contract", turn=3, warehouses={0: ["pepper double"] * 2, 1: ["cloves double"] * 2},
        fulfilled={0: ["each-1"], 1: ["each-1"]},
    )  # fmt: skip
    last = MODEL.critic[-1]
    blind = replace(MODEL, critic=[*MODEL.critic[:-1], Layer(last.weights * 0, last.biases * 0)])
    blind.layers[-1].weights[:] = 0
    blind.layers[-1].biases[:] = 0  # everybody plays anything
    views = Views(game.ruleset, *game.batch.view(FIRST))
    none = game.batch.actions.action("contract none", game.phase)
    threat = outlook_of(blind, views, [none]).threat
    ends = {}
    for moves in (["contract none"] * 2, ["contract none", "contract same-4 cloves", "pay cloves double"]):
        end = game.batch.copy()
        for move in moves:
            end.step([end.actions.action(move, end.phase_name())])
        while end.player[0] >= 0:
            end.step(end.forced())
        ends[len(moves)] = outcomes(end, MODEL.margin_coef)[0, 0]
    assert plain(threat.event) == "player 1 fulfils a contract same-4" and 0.2 < threat.frequency < 0.8
    assert threat.cost == pytest.approx(ends[2] - ends[3], abs=0.02) and threat.cost > 0.4


def told(outlook):
    return outlook.threat, outlook.values.tolist(), {name: numbers.tolist() for name, numbers in outlook.had.items()}


# ---------------------------------------------------------------- what stands out


def imagined(*parts):
    """Values and events of playouts: so many of a value about which an event happens."""
    rng = np.random.default_rng(1)
    values = np.concatenate([value + rng.normal(0, 0.05, count) for count, value, _ in parts])
    return values, [set(happened) for count, _, happened in parts for _ in range(count)]


def test_what_costs_most_in_all_is_the_threat():
    values, events = imagined((60, 0.5, ()), (30, 0.3, ("often",)), (10, 0.15, ("seldom",)))
    threat = worst(values, events)
    assert threat.event == "often" and threat.frequency == 0.3
    happens = np.array(["often" in some for some in events])
    assert threat.cost == pytest.approx(values[~happens].mean() - values[happens].mean())
    assert worst(*imagined((90, 0.5, ()), (8, 0.1, ("seldom",)), (2, 0.5, ("once",)))).event == "seldom"


@pytest.mark.parametrize(
    "parts",
    [
        ((50, 0.5, ()), (50, 0.6, ("helps",))),
        ((50, 0.5, ()), (50, 0.49, ("costs hardly anything",))),
        ((97, 0.5, ()), (3, 0.1, ("hardly ever",))),
        ((3, 0.5, ()), (97, 0.1, ("nearly always",))),
        ((7, 0.5, ()), (7, 0.47, ("by chance",))),
        ((10, 0.5, ()),),
    ],
)
def test_what_does_not_stand_out_is_no_threat(parts):
    assert worst(*imagined(*parts)) is None


def test_a_policy_has_an_outlook_if_it_has_a_critic():
    views = views_of()[3]
    action = int(views.mask[0].argmax())
    assert Policy(network()).outlook(views, [action]) is None
    found = Policy(MODEL).outlook(views, [action])
    assert told(found) == told(outlook_of(MODEL, views, [action]))
    assert isinstance(Policy().outlook(views, [action]).threat, Threat | None)
    with pytest.raises(ValueError, match="trained for the board edition"):
        Policy(MODEL).outlook(views_of(Ruleset("card", 3))[0], [0])


def test_an_outlook_counts_what_the_one_who_decides_has_at_the_end_of_each_game():
    views = views_of()[3]
    action, me = int(views.mask[0].argmax()), int(views.player[0])
    had = outlook_of(MODEL, views, [action], 32).had
    _, _, batch = played_on(MODEL, views, [action], 32)
    for i in range(32):
        scene = Scene(BOARD, batch.games[i], None, "", None)
        others = [points for player, points in enumerate(scene.scores) if player != me]
        assert had["points"][i] == scene.scores[me] and had["rivals"][i] == max(others)
        assert had["contracts"][i] == sum(scene.g.fulfilled[me])
        assert had["first"][i] == sum(ladder[0] == me for ladder in scene.g.ladder)
        assert had["spices"][i] == sum(sum(shelf) + shelf[DOUBLE] for shelf in scene.g.stock[me])
