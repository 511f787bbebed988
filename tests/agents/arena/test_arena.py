"""The arena: line-ups are fair, and results depend on nothing they should not."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from arena_games import TINY, First, Last, here, same_games
from borneo_agents.arena import ArenaConfig, play_arena
from borneo_agents.arena.design.lineups import CHALLENGE, MIXED, ONE_VS, ROUND_ROBIN
from borneo_agents.arena.design.tournament import tournament
from borneo_agents.arena.play.match import lay_out
from borneo_agents.arena.report.page import report

from borneo_env import cli
from borneo_env.agent import Random
from borneo_env.engine.state import TALLIES
from borneo_env.outcomes import mean_ranks, points_by_source
from borneo_env.record import read_record, replay
from borneo_env.ruleset import Ruleset


def plan(agents, players, lineups, games=1, seed=5):
    names = [f"agent-{i}" for i in range(agents)]
    return tournament(names, ArenaConfig(ruleset=Ruleset(players=players), games=games, seed=seed, lineups=lineups))


# ---------------------------------------------------------------- line-ups

SHAPES = [(agents, players) for players in (3, 4, 5) for agents in (2, 3, 4, 5, 7)]


@pytest.mark.parametrize("lineups", [ROUND_ROBIN, ONE_VS, MIXED])
@pytest.mark.parametrize(("agents", "players"), SHAPES)
def test_every_agent_is_in_every_seat_equally_often_on_every_deal(agents, players, lineups):
    fair = plan(agents, players, lineups)
    for deal in range(3):
        seats = fair.seats([deal])
        assert seats.shape == (fair.block, players)
        times = np.array([np.bincount(seats[:, seat], minlength=agents) for seat in range(players)])
        assert (times == times[0, 0]).all()
        assert times[0, 0] * agents == fair.block


@pytest.mark.parametrize(("agents", "players"), SHAPES)
def test_round_robin_has_every_choice_of_agents_once(agents, players):
    fair = plan(agents, players, ROUND_ROBIN)
    tables = Counter(tuple(sorted(seats)) for seats in fair.seats([0]).tolist())
    assert set(tables.values()) == {players}, "each in all its rotations"
    assert all(len(set(table)) == min(agents, players) for table in tables)
    wanted = {(2, 3): 2, (2, 4): 3, (3, 4): 3, (3, 5): 6, (4, 4): 1, (5, 4): 5, (7, 3): 35, (7, 5): 21}
    assert len(tables) == wanted.get((agents, players), len(tables))


def test_round_robin_plays_all_rotations_of_a_line_up():
    fair = plan(4, 4, ROUND_ROBIN)
    rotations = fair.seats([0]).tolist()
    assert sorted(rotations) == sorted(rotations[0][i:] + rotations[0][:i] for i in range(4))
    assert len({tuple(seats) for seats in rotations}) == 4


def test_one_against_the_rest_has_every_ordered_pair():
    fair = plan(3, 4, ONE_VS)
    pairs = Counter()
    for seats in fair.seats([0]).tolist():
        (one,) = [agent for agent in set(seats) if seats.count(agent) == 1]
        (rest,) = [agent for agent in set(seats) if seats.count(agent) == 3]
        pairs[one, rest] += 1
    assert pairs == {(a, b): 4 for a in range(3) for b in range(3) if a != b}


@pytest.mark.parametrize(("agents", "players"), SHAPES)
def test_a_challenge_is_the_first_alone_against_tables_of_each_other(agents, players):
    fair = plan(agents, players, CHALLENGE)
    assert fair.block == players * (agents - 1)
    for deal in range(3):
        seats = fair.seats([deal])
        assert ((seats == 0).sum(1) == 1).all()
        assert ((seats == 0).sum(0) == agents - 1).all(), "in every seat equally often"
        for other in range(1, agents):
            table = seats[(seats == other).any(1)]
            assert ((table == other).sum(1) == players - 1).all(), "a table full of one agent"
            assert ((table == 0).sum(0) == 1).all(), "with the first once in every seat"


def test_mixed_line_ups_differ_from_deal_to_deal_and_seed_to_seed():
    fair = plan(6, 4, MIXED)
    met = {tuple(sorted(seats)) for seats in fair.seats(range(60)).tolist()}
    assert len(met) == 15, "every choice of four comes up"
    assert not np.array_equal(fair.seats([1]), fair.seats([2]))
    assert not np.array_equal(fair.seats([1]), plan(6, 4, MIXED, seed=6).seats([1]))


def test_neighbours_change():
    fair = plan(4, 4, ROUND_ROBIN)
    left_of_0 = Counter(seats[(seats.index(0) + 1) % 4] for seats in fair.seats(range(200)).tolist())
    assert set(left_of_0) == {1, 2, 3}
    assert min(left_of_0.values()) > 200


def test_a_block_has_one_deal_and_each_line_up_the_same_deals():
    fair = plan(3, 3, ROUND_ROBIN, games=12)
    batch = lay_out(fair, range(2, 5))
    assert batch.games["number"].tolist() == [2, 2, 2, 3, 3, 3, 4, 4, 4]
    for name in ("draw", "place", "port_pile", "start"):
        by_deal = batch.games[name].reshape(3, 3, -1)
        assert (by_deal == by_deal[:, :1]).all()
    dice = batch.view(np.arange(9))[2]
    assert len(set(dice.tolist())) == 9, "but every game has dice of its own"


def test_games_are_rounded_up_to_whole_blocks():
    fair = plan(3, 4, ROUND_ROBIN, games=1000)
    assert (fair.block, fair.deals, fair.games) == (12, 84, 1008)
    assert plan(3, 4, ROUND_ROBIN, games=1008).games == 1008


@pytest.mark.parametrize(
    ("agents", "players", "chosen"), [(2, 4, ROUND_ROBIN), (5, 4, ROUND_ROBIN), (6, 4, MIXED), (7, 3, MIXED)]
)
def test_the_line_ups_of_choice_suit_the_number_of_agents(agents, players, chosen):
    assert plan(agents, players, None).lineups == chosen


def test_chunks_hold_all_deals_once():
    fair = plan(4, 4, ROUND_ROBIN, games=1003)
    assert [deal for deals in fair.chunks for deal in deals] == list(range(251))
    assert len(fair.chunks) > 15, "so that little is lost when a run is stopped"
    assert max(len(deals) * fair.block for deals in plan(4, 4, ROUND_ROBIN, games=10**6).chunks) == 1000


# ---------------------------------------------------------------- what results depend on


def test_results_do_not_depend_on_chunks():
    agents = {"random": "random", "first": First(), "last": Last()}
    whole = here(agents, games=24)
    assert same_games(whole, here(agents, games=24, chunk=9))
    assert not same_games(whole, here(agents, games=24, seed=4))
    assert whole.as_dict() == here(agents, games=24, chunk=1).as_dict()


def test_results_do_not_depend_on_jobs(bots, forks):
    agents = ["random", "arena_bots:First", "arena_bots:Last"]
    settings = {"games": 36, "seed": 3, "chunk": 9}
    alone = play_arena(agents, TINY, jobs=0, **settings)
    together = play_arena(agents, TINY, jobs=2, **settings)
    assert same_games(alone, together)
    assert alone.as_dict() == together.as_dict()


def test_agents_are_made_anew_for_each_chunk_and_chair(bots):
    (bots / "counting.py").write_text(
        "made = 0\nclass Counting:\n    def __init__(self):\n        global made\n        made += 1\n"
        "    def act(self, views):\n        return views.mask.argmax(1)\n"
    )
    play_arena(["random", "counting:Counting"], TINY, games=24, chunk=6, jobs=0)
    assert sys.modules["counting"].made == 2 + 4 * 9, "to see that it is there, to warm up, and 9 of 18 seats a chunk"


def test_arena_results_equal_those_of_the_records(tmp_path):
    rules = Ruleset(players=4, blackbeard=True)
    played = play_arena(
        {"random": "random", "last": Last()}, rules, games=24, seed=3, jobs=0, out=tmp_path, records=True, chunk=12
    )
    files = sorted((tmp_path / "records").glob("*.jsonl"))
    assert len(files) == len(played.outcomes) == 24
    starts, contests = set(), 0
    for file, outcome in zip(files, played.outcomes, strict=True):
        lines = read_record(file)
        assert lines[0]["agents"] == [played.tournament.agents[agent] for agent in outcome["seats"]]
        assert lines[-1]["scores"] == outcome["scores"].tolist()
        assert lines[-1]["places"] == outcome["places"].tolist()
        assert lines[0]["deal"]["start"] == outcome["start"]
        starts.add(lines[0]["deal"]["start"])
        moves = [line for line in lines if "move" in line]
        assert outcome["turns"] == sum(line["move"].startswith("ship ") for line in moves)
        asked = Counter(line["player"] for line in moves if not line.get("forced"))
        assert outcome["decisions"].tolist() == [asked[seat] for seat in range(4)]
        started = Counter(line["player"] for line in moves if line["move"].startswith("attack "))
        assert outcome["tally"][:, TALLIES.index("contests started")].tolist() == [started[seat] for seat in range(4)]
        contests += started.total()
        taken = np.zeros(4, int)
        for moment in replay(lines):
            ports = [game["stock"][:4, :, 2].sum(1).astype(int) for game in (moment.before, moment.after)]
            taken += np.maximum(ports[1] - ports[0], 0)
        assert outcome["ports_taken"].tolist() == taken.tolist()
        for seat in range(4):
            held = [rank for ladder in moment.after["ladder"] for rank, who in enumerate(ladder, 1) if who == seat]
            assert outcome["rank"][seat] == pytest.approx(np.mean(held))
    assert len(starts) > 1
    assert contests > 20


def test_points_by_source_add_up_to_the_score():
    played = play_arena({"random": "random", "last": Last()}, players=3, blackbeard=True, games=60, chunk=60, jobs=0)
    points = points_by_source(played.tournament.ruleset, played.outcomes)
    assert (points.sum(2) == played.outcomes["scores"]).all()
    assert (points < 0).any(), "somebody had the pirates"


def test_ports_taken_in_the_card_edition_may_be_another_players(tmp_path):
    played = play_arena({"random": "random", "last": Last()}, edition="card", players=3, games=30, chunk=30, jobs=0)
    triggered = played.outcomes["tally"][:, :, [TALLIES.index(what) for what in ("monopolies", "shared distributions")]]
    assert (triggered.sum(2) != played.outcomes["ports_taken"]).any()
    assert (played.outcomes["ports_taken"].sum(1) <= triggered.sum((1, 2))).all()


def test_profiles_are_means_over_the_seats_of_an_agent():
    played = here({"random": "random", "last": Last()}, games=60)
    seats, scores = played.outcomes["seats"], played.outcomes["scores"]
    for number, profile in enumerate(played.profiles):
        own = seats == number
        assert profile.seats == own.sum()
        assert sum(one.value for one in profile.measures["points"].values()) == pytest.approx(scores[own].mean())
        contracts = played.outcomes["fulfilled"][own].sum(1).mean()
        assert sum(one.value for one in profile.measures["contracts"].values()) == pytest.approx(contracts)
        ranks = played.outcomes["rank"][own].mean()
        assert profile.measures["doings"]["mean rank at the end"].value == pytest.approx(ranks) and ranks > 1
        standing = next(row for row in played.standings if row.agent == profile.agent)
        by_seat = np.mean([one.value for one in profile.win_share_by_seat])
        assert by_seat == pytest.approx(standing.win_share.value), "equally often in each"
        first = [
            (game["places"][game["start"]] == 1) / (game["places"] == 1).sum()
            for game in played.outcomes
            if game["seats"][game["start"]] == number
        ]
        assert profile.win_share_by_seat[0].value == pytest.approx(np.mean(first))


def test_mean_ranks_by_hand():
    """Player 0 leads two ladders and is last of three on another; player 2 has no traders."""
    game = [[0, 1, -1, -1], [0, -1, -1, -1], [1, 1, 0, -1], [-1, -1, -1, -1]]
    other = [[2, 2, 2, 1], [1, -1, -1, -1], [0, -1, -1, -1], [-1, -1, -1, -1]]
    ranks = mean_ranks(np.array([game, other], np.int8), 3)
    assert ranks == pytest.approx(np.array([[5 / 3, 5 / 3, 0], [1, 5 / 2, 2]]))
    assert mean_ranks(np.array([game], np.int8), 4).tolist() == [[*ranks[0], 0]]


def test_a_challenge_has_standings_and_lone_seats_of_the_first():
    agents = {"random": "random", "first": First(), "last": Last()}
    played = here(agents, games=60, lineups=CHALLENGE)
    assert len(played.outcomes) == 60
    assert {row.agent for row in played.standings} == set(agents)
    assert [(row.agent, row.other, row.games) for row in played.lone_seats] == [
        ("random", "first", 30),
        ("random", "last", 30),
    ]
    for number, row in enumerate(played.lone_seats, 1):
        theirs = [game for game in played.outcomes if number in game["seats"]]
        won = [(game["places"] == 1)[game["seats"] == 0].sum() / (game["places"] == 1).sum() for game in theirs]
        assert row.win_share.value == pytest.approx(np.mean(won))
        assert row.win_share.low <= row.win_share.value <= row.win_share.high
    assert json.loads(json.dumps(played.as_dict()))["settings"]["lineups"] == CHALLENGE
    assert "the first agent against a table full of each other agent" in report(played)
    assert {line.split(",")[2] for line in played.games_csv().splitlines()[1:]} == {
        "random + 2 first",
        "random + 2 last",
    }


# ---------------------------------------------------------------- until it is decided


def test_a_question_stops_the_run_when_it_is_decided():
    agents = {"random": "random", "first": First(), "last": Last()}
    played = play_arena(agents, players=3, games=1200, seed=1, jobs=0, chunk=60, until_decided=("last", "first"))
    assert played.verdict.state == "better"
    assert played.complete
    assert played.results.deals == played.verdict.decided_after < 400
    finer = play_arena(agents, players=3, games=1200, seed=1, jobs=0, chunk=12, until_decided=("last", "first"))
    assert same_games(played, finer), "at the same deal, whatever the chunks"
    other = play_arena(agents, players=3, games=1200, seed=1, jobs=0, chunk=60, until_decided=("first", "last"))
    assert other.verdict.state == "not better"
    assert other.results.deals == other.verdict.decided_after


def test_an_undecided_question_plays_all_games():
    played = here({"random": "random", "twin": Random()}, games=60, until_decided=("random", "twin"), effect=0.01)
    assert played.verdict.state == "undecided"
    assert len(played.outcomes) == 60


# ---------------------------------------------------------------- the command


def run(capsys, monkeypatch, line):
    monkeypatch.setattr(sys, "argv", ["borneo", *line.split()])
    with pytest.raises(SystemExit) as left:
        cli.main()
    return (left.value.code or 0, *capsys.readouterr())


def test_bots_in_the_current_folder_play(capsys, monkeypatch, bots, forks):
    agents = ["random", "arena_bots:First", "arena_bots:Rarely:nothing:one_in=9"]
    line = f"arena {' '.join(agents)} --players 3 --tables tiny --games 9 --jobs 1 --out kept"
    status, out, err = run(capsys, monkeypatch, line + " --records --json")
    assert status == 0, err
    found = json.loads(out)
    assert found["settings"]["agents"] == agents
    assert found["games"] == 9
    assert found["versions"]["python"]
    assert {row["agent"] for row in found["standings"]} == set(agents)
    assert json.loads(Path("kept/results.json").read_text()) == found
    status, out, err = run(capsys, monkeypatch, "verify " + " ".join(map(str, Path("kept/records").glob("*.jsonl"))))
    assert (status, out) == (0, "9 records are right\n".replace("9", "9 of 9", 1))
    status, out, err = run(capsys, monkeypatch, line.replace("--games 9", "--games 10"))
    assert status == 2
    assert "records was True and is False" in err


def test_the_command_says_what_it_rounded(capsys, monkeypatch, tmp_path, forks):
    monkeypatch.chdir(tmp_path)
    line = "arena random borneo_env.agent:Random --players 3 --tables tiny --games 7 --jobs 1"
    status, out, err = run(capsys, monkeypatch, line + " --until-decided random,borneo_env.agent:Random")
    assert status == 0, err
    assert "7 games were rounded up to whole blocks of 6" in err
    assert "12 games of board-3-own-cards: 2 deals, 6 games each (round-robin), seed 0" in " ".join(out.split())
    assert "Undecided after 2 deals" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("arena random nobody", "there is no agent 'nobody'"),
        ("arena random borneo_env.agent:Random --until-decided random", "two agents with a comma"),
        ("arena random policy:nowhere", "nowhere/card.json: cannot be read: No such file or directory; a policy is"),
    ],
)
def test_mistakes_are_one_line(line, complaint, capsys, monkeypatch):
    status, out, err = run(capsys, monkeypatch, line)
    assert (status, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("with_plots")
def test_without_matplotlib_the_report_has_no_plots_and_says_so(capsys, monkeypatch, bots, forks):
    monkeypatch.setitem(sys.modules, "borneo_agents.arena.report.plots", None)
    monkeypatch.delitem(sys.modules, "borneo_agents.arena.report.plots")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, err = run(
        capsys, monkeypatch, "arena random arena_bots:First --games 6 --tables tiny --jobs 1 --out kept"
    )
    assert status == 0
    assert "no plots: matplotlib is missing; pip install '.[arena]'" in err
    page = Path("kept/report.html").read_text()
    assert "No plots: matplotlib is missing" in page
    assert "<svg" not in page
