"""What agents can find out in the arena: no more than the player on their seat."""

from __future__ import annotations

import sys

import numpy as np
from arena_games import TINY, First, Last
from borneo_agents.arena import ArenaConfig, play_arena
from borneo_agents.arena.design.lineups import CHALLENGE, LINEUPS
from borneo_agents.arena.design.tournament import tournament
from borneo_agents.arena.play.match import Match
from borneo_agents.arena.store.records import records

from borneo_env.agent import find_agent, known_agents
from borneo_env.ruleset import Ruleset

# Knows a deal again by what lies open, and would like to know more than one hand of it.
POOLING = """
from borneo_env.engine.state import HAND

class Pooling:
    objects = []

    def __init__(self):
        self.games = {}
        self.objects.append(self)

    def act(self, views):
        for game in views.games:
            if not (game["ladder"] == game["player"]).any():  # its first decision
                deal = game["open"].tobytes() + game["start"].tobytes()
                hand = (game["place"] == HAND + game["player"]).tobytes()
                self.games.setdefault(deal, []).append(hand)
        return views.mask.argmax(1)
"""


def test_no_object_sees_two_games_of_a_deal_or_two_seats_of_a_game(bots):
    (bots / "pooling.py").write_text(POOLING)
    play_arena(["pooling:Pooling", "arena_bots:First"], players=3, games=48, chunk=48, seed=1, jobs=0)
    objects = [one for one in sys.modules["pooling"].Pooling.objects if len(one.games) > 1]  # one was only warmed up
    assert {len(one.games) for one in objects} == {8}, "each has a game of every deal"
    pool = {}
    for one in objects:
        assert all(len(hands) == 1 for hands in one.games.values())
        for deal, hands in one.games.items():
            pool.setdefault(deal, set()).update(hands)
    assert {len(hands) for hands in pool.values()} == {3}, "all of them together could know every hand"


def test_an_agent_without_memory_is_one_object_asked_for_all_its_games(bots):
    """By its own word: this one breaks it, and so sees all hands of a deal."""
    (bots / "pooling.py").write_text(POOLING.replace("objects = []", "objects = []\n    memoryless = True"))
    play_arena(["pooling:Pooling", "arena_bots:First"], players=3, games=48, chunk=48, seed=1, jobs=0)
    (one,) = (one for one in sys.modules["pooling"].Pooling.objects if len(one.games) > 1)
    assert {len(set(hands)) for hands in one.games.values()} == {3}


def test_registered_agents_have_no_memory():
    assert all(type(find_agent(name)).memoryless for name in known_agents())


def test_every_instance_has_one_seat_of_one_game_of_each_deal():
    for agents in (2, 4, 7):
        for lineups in LINEUPS:
            names = [f"agent-{i}" for i in range(agents)]
            plan = tournament(names, ArenaConfig(games=100, seed=1, lineups=lineups))
            at, agent = plan.instances(range(3))
            assert (agent[at] == plan.seats(range(3))).all()
            for deal in at.reshape(3, -1):
                assert sorted(deal) == list(range(len(agent)))


def test_an_object_plays_all_its_seats_in_one_call(bots):
    class Counting(First):
        calls = ()

        def act(self, views):
            self.calls += (len(views),)
            return super().act(views)

    one = Counting()
    play_arena({"one": one, "first": First()}, TINY, games=12, chunk=12, lineups=CHALLENGE, jobs=0)
    assert one.calls[0] == sum(one.calls[:3]) / 3 > 1


class Listening(Match):
    """A match that writes down which games the first agent is asked for together: it knows them by their cards."""

    def play(self):
        self.calls = []
        return super().play()

    def _ask(self, instance, rows, *views):
        if instance == 0:
            self.calls.append(rows.tolist())
        return super()._ask(instance, rows, *views)


def test_the_rhythm_of_questions_tells_only_how_many_moves_were_made():
    """A defender without a card for the contest has no choice. Were such decisions left out, this could be counted:
    of two games that began together, the one that gets ahead of the other by a move has had one."""
    plan = tournament(["last", "first"], ArenaConfig(ruleset=Ruleset(players=3), games=60, seed=1, time_limit=60))
    match = Listening(plan, range(plan.deals), [Last(), First()])
    played = match.play()
    asked, forced = [], 0
    for game, lines in enumerate(records(plan, played)):
        moves = [line for line in lines if "move" in line]
        own = np.flatnonzero(played.outcomes["seats"][game] == 0)
        asked.append(iter([i for i, line in enumerate(moves) if line["player"] in own and not line.get("forced")]))
        forced += sum(line["move"] == "defend done" and line.get("forced", False) for line in moves)
    assert forced > 50
    for games in match.calls:
        assert len({next(asked[game]) for game in games}) == 1, "as many moves were made in all of them"


def test_views_name_no_deal_and_no_stream():
    class Looking(First):
        def act(self, views):
            assert not views.games["number"].any()
            assert not views.games["rng"].any()
            return super().act(views)

    assert play_arena({"looking": Looking(), "first": First()}, TINY, games=12, seed=5, jobs=0).faults == ()
