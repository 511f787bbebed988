"""Tasks: what they measure is what the games say, and intervals that hold it."""

import numpy as np
import pytest
from borneo_agents.arena import play_arena
from borneo_agents.policy.agent import Policy
from borneo_train.run.tasks import MEASURES, evaluate, score
from networks import network

from borneo_env import Ruleset
from borneo_env.cards import CONTRACT_KINDS
from borneo_env.engine.state import TALLIES
from borneo_env.rewards import REWARDS

GAMES, SEED, PLAYERS = 16, 7, 4


def by_hand(agent, against):
    """The same games from the arena, and what the agent came to in each of them, seat by seat."""
    played = play_arena(
        {"it": agent, "they": against},
        lineups="challenge",
        players=PLAYERS,
        games=GAMES,
        chunk=GAMES,
        seed=SEED,
        jobs=0,
    )
    worth = [contract.points for contract in Ruleset(players=PLAYERS).tables.contracts]
    figures = {"win share": [], "contract points": [], "mean rank": [], "contests won": []}
    for game in played.outcomes:
        (seat,) = np.flatnonzero(game["seats"] == 0)
        tally = dict(zip(TALLIES, game["tally"][seat].tolist(), strict=True))
        first = game["places"] == 1
        figures["win share"].append(first[seat] / first.sum())
        points = sum(int(game["fulfilled"][seat][kind]) * worth[kind] for kind in range(len(CONTRACT_KINDS)))
        figures["contract points"].append(points)
        figures["mean rank"].append(game["rank"][seat])
        figures["contests won"].append(tally["contests won"] + tally["contests defended"])
    return {name: float(np.mean(values)) for name, values in figures.items()}


@pytest.fixture(scope="module")
def evaluated():
    found = {
        name: evaluate("climber", name, "merchant", players=PLAYERS, games=GAMES, seed=SEED, jobs=0)
        for name in MEASURES
    }
    return found, by_hand("climber", "merchant")


def test_measurements_are_what_the_games_say(evaluated):
    found, wanted = evaluated
    for name, measurements in found.items():
        assert [row.measure for row in measurements] == [measure.name for measure in MEASURES[name]]
        for row in measurements:
            assert row.value == pytest.approx(wanted[row.measure], rel=1e-6)
            assert (row.against, row.players, row.games, row.seed) == ("merchant", PLAYERS, GAMES, SEED)


def test_intervals_hold_the_figure(evaluated):
    found, _ = evaluated
    for row in (row for measurements in found.values() for row in measurements):
        if row.low is None:
            assert row.high is None
        else:
            assert row.low <= row.value <= row.high
            assert row.low < row.high
        if row.measure == "win share":
            assert 0 <= row.low <= row.high <= 1


def test_every_task_measures_first_what_it_rewards():
    first = {name: measures[0].name for name, measures in MEASURES.items()}
    assert first == {"win": "win share", "contracts": "contract points", "ranks": "mean rank"}
    assert set(MEASURES) <= set(REWARDS)
    assert {measure.name for measures in MEASURES.values() for measure in measures if not measure.more_is_better} == {
        "mean rank"
    }


def test_the_best_model_has_the_best_mean_over_all_tables():
    found = [
        {"measure": measure, "against": against, "players": players, "value": value}
        for measure, of_three in (("mean rank", 2.0), ("win share", 0.9))
        for against in ("random", "merchant")
        for players, value in ((3, of_three), (4, of_three + 0.5))
    ]
    assert score("ranks", found) == -2.25, "the first measure alone, and less is better"
    assert score("win", found) == pytest.approx(1.15)
    others = [one | {"value": one["value"] * (1 + (one["against"] == "merchant"))} for one in found]
    assert score("win", others) > score("win", found) and score("ranks", others) < score("ranks", found)


def test_a_policy_that_is_no_name_is_measured():
    rows = evaluate(Policy(network(width=4)), "win", "random", players=3, games=7, seed=1)
    assert rows[0].games == 9, "whole blocks"
    assert 0 <= rows[0].value <= 1


class Broken:
    def act(self, views):
        raise RuntimeError("no idea")


@pytest.mark.parametrize(("agent", "against"), [("random", Broken()), (Broken(), "random")])
def test_games_that_somebody_lost_by_a_fault_measure_nothing(agent, against, monkeypatch):
    name = "broken" if against != "random" else against
    monkeypatch.setattr("borneo_train.run.tasks.play_arena", lambda table, *_, **given: play_arena(
        {"learner": agent, name: against}, players=PLAYERS, **given | {"jobs": 0}
    ))  # fmt: skip
    with pytest.raises(ValueError, match=r"lost \d+ of \d+ games by a crash at a table against .*measure nothing"):
        evaluate(agent, "win", name, players=PLAYERS, games=GAMES, seed=SEED, jobs=0)
