"""Agents, bots and views of any game."""

import numpy as np
import pytest
from awkward_games import LEAVE, PATIENCE

import kontor
from kontor.agent import WrongAnswer, ask
from kontor.bot import NotAnOption
from kontor.catalogue import entry
from kontor.registry import UnknownAgent, agents_of
from kontor.view import UNSEEN

KUHN = kontor.find_game("examples/kuhn.py:KUHN")
LEDUC = kontor.find_game("examples/leduc.py:LEDUC")


class Proud(kontor.Bot):
    """Bets on a king."""

    def decide(self, view, options):
        verb = "bet" if view.card[view.me] == "king" else "pass"
        return next(option for option in options if option.verb == verb)


class Stranger(kontor.Bot):
    def decide(self, view, options):
        return "pass"


class Looking(kontor.Bot):
    """Keeps what it saw, and draws from the view's generator."""

    def __init__(self):
        self.seen = []

    def decide(self, view, options):
        self.seen.append(view)
        return view.random.choice(options)


def play(ruleset, agent, games=20, seed=1):
    """Have an agent play whole games in all seats; returns the batch."""
    batch = kontor.Batch(games, ruleset, seed=seed, finished="hold")
    seated = np.zeros((games, ruleset.players), int)
    while (batch.player >= 0).any():
        rows = np.flatnonzero(batch.player >= 0)
        batch.step(ask(batch, rows, [agent], seated), rows)
    return batch


@pytest.mark.parametrize("ruleset", [KUHN.Ruleset(), KUHN.Ruleset(players=3), LEDUC.Ruleset(), PATIENCE.Ruleset()])
def test_a_view_tells_the_general_things_and_the_fields_that_the_player_sees(ruleset):
    bot = Looking()
    batch = play(ruleset, bot)
    assert (batch.player < 0).all() and len(bot.seen) > 20
    own = {field.name for field in ruleset.game.fields}
    for view in bot.seen:
        assert 0 <= view.me < view.players == ruleset.players and view.turn == view.me
        assert view.phase in ruleset.game.phase_names and len(view.scores) == view.players
        assert view.seen.keys() == own and all(getattr(view, name) == view.seen[name] for name in own)
        for option in view.options:
            assert option.text == option.verb and option.parts == {} and option.view is view
    with pytest.raises(AttributeError, match=r"a view of .* has no 'nothing'"):
        _ = bot.seen[0].nothing


def test_fields_are_told_in_words_and_a_hand_to_its_owner_only():
    bot = Looking()
    play(LEDUC.Ruleset(), bot)
    for view in bot.seen:
        assert view.card[view.me] in LEDUC.fields[0].of.members and view.card[1 - view.me] == UNSEEN
        assert view.board is None if view.stage == 0 else view.board in LEDUC.fields[0].of.members
        assert view.folded is None and {type(paid) for paid in view.paid} == {int}
    bot = Looking()
    play(LEAVE.Ruleset(players=4), bot)
    for view in bot.seen:
        assert [isinstance(row, int) for row in view.purse] == [seat == view.me for seat in range(4)]
        option = view.options[1]
        assert (option.text, option.choice, option.declines) == ("choose leave", "leave", False)
        with pytest.raises(AttributeError, match="an option has no 'other'"):
            _ = option.other


def test_a_bot_plays_by_its_hand():
    batch = play(KUHN.Ruleset(), Proud(), games=100)
    card, said = batch.games["card"], batch.games["said"]
    assert ((card[:, 0] == 2) == (said[:, 0] == 1)).all()


def test_a_bot_that_decides_for_a_game_with_views_of_its_own_gets_them():
    bot = Looking()
    batch = kontor.Batch(1, game="borneo_env.engine.game:BORNEO", seed=1)
    ask(batch, np.arange(1), [bot], np.zeros((1, 5), int))
    assert type(bot.seen[0]).__module__ == "borneo_env.view" and bot.seen[0].hand


def test_a_wrong_answer_is_told_in_the_games_words():
    with pytest.raises(NotAnOption, match=r"Stranger\.decide returned 'pass', .* it was given: pass, bet"):
        play(KUHN.Ruleset(), Stranger())

    class Beyond:
        def act(self, views):
            return np.full(len(views), 2)

    with pytest.raises(WrongAnswer, match="is not legal; legal are: pass, bet"):
        play(KUHN.Ruleset(), Beyond())


def test_agents_of_a_game_are_random_and_those_that_are_registered():
    agents = agents_of("kuhn")
    assert agents.known() == ["random"] and agents.programs() == []
    assert isinstance(agents.find("random"), kontor.Random) and "merchant" in agents_of("borneo").known()
    assert isinstance(agents.find("kontor.agent:Random"), kontor.Random)
    assert entry(agents, "random").idea.startswith("Plays any legal action")
    with pytest.raises(UnknownAgent, match=r"no agent 'merchant'; known are: random, or package\.module:Class"):
        agents.find("merchant")
    with pytest.raises(UnknownAgent, match="2 opponents given; a game of 2 has 1"):
        kontor.Seats(1, KUHN, opponents=["random", "random"])


def test_what_a_redacted_record_hides_does_not_change_a_view():
    """Two games that differ in what the player does not see look the same to it."""
    batch = kontor.Batch(200, LEDUC, seed=1)
    batch.play_random(3)
    rows = np.arange(200)
    views = kontor.Views(batch.ruleset, *batch.view(rows))
    again = views.resample(np.random.default_rng(1))
    twins = kontor.redact(batch.ruleset, again, views.player)
    seen = [
        [kontor.View(batch.ruleset, game, mask, 0).seen for game, mask in zip(games, views.mask, strict=True)]
        for games in (views.games, twins)
    ]
    assert seen[0] == seen[1] and (again["card"] != batch.games["card"]).any()
