"""What the tests of the environments share: rulesets, ways to play, and games recorded from the outside."""

import zlib
from functools import cache

import numpy as np
import pytest

from borneo_env import Batch, every_ruleset
from borneo_env.engine.state import CONTESTS_DEFENDED, CONTESTS_WON
from borneo_env.record import header, replay, result_line, step_and_record

QUICK = ("board-3-four-traders-blackbeard", "board-4", "board-5-blackbeard", "card-3")  # differ in all that can differ
RULESETS = [  # the others are played by `make soak`
    pytest.param(ruleset, id=ruleset.name, marks=() if ruleset.name in QUICK else pytest.mark.soak)
    for ruleset in every_ruleset()
]
SEVERAL = ("board-4", "board-5-blackbeard", "board-3-four-traders", "card-3")
SEVERAL_RULESETS = [pytest.param(ruleset, id=ruleset.name) for ruleset in every_ruleset() if ruleset.name in SEVERAL]
LONGEST = 2000  # decisions of one seat; no game is as long as this


def fields(ruleset):
    """The arguments of an environment that plays this ruleset."""
    names = ("edition", "players", "traders", "blackbeard")
    return {name: getattr(ruleset, name) for name in names}


def told_to(game, seat, since=0):
    """The lines of a game's story that a person at the terminal is told."""
    return [told.line(game.names, seat) for told in game.news(seat, since)]


def shown_in(content, pieces):
    """What the page of a replay says, with a short name in place of each card."""
    return "".join(one if isinstance(one, str) else content["names"][one[1]] if one[0] == "player" else one[2]
                   for one in pieces)  # fmt: skip


# ---------------------------------------------------------------- ways to play


def play_on(env, decisions=LONGEST, seed=0):
    """Play random legal actions in a PettingZoo environment; returns what was seen, to compare."""
    choices = np.random.default_rng(seed)
    seen = []
    for _ in range(decisions):
        observation, reward, terminated, _, info = env.last()
        if terminated:
            break
        seen.append((env.agent_selection, observation["observation"].tobytes(), reward, info))
        env.step(int(choices.choice(np.flatnonzero(observation["action_mask"]))))
    return seen


def play_seat_on(env, decisions=LONGEST):
    """The same in a Gymnasium environment; the actions are those of `pick`."""
    seen = []
    for _ in range(decisions):
        observation, reward, terminated, _, info = env.step(pick(env.action_masks()))
        seen.append((observation.tobytes(), reward, info.pop("action_mask").tobytes(), info))
        if terminated:
            break
    return seen


def pick(mask):
    """A legal action that depends on nothing but the mask; seldom the first, which is often to do nothing."""
    legal = np.flatnonzero(mask)
    drawn = zlib.crc32(np.packbits(mask).tobytes())
    if len(legal) > 1 and drawn % 4:
        legal = legal[1:]
    return int(legal[drawn // 4 % len(legal)])


class Picker:
    """An agent that plays as `pick` does, and remembers what it was shown."""

    def __init__(self):
        self.views = []

    def act(self, views):
        self.views.append(views)
        return np.array([pick(mask) for mask in views.mask])


# ---------------------------------------------------------------- records

# If everybody plays as `pick` does, a game follows from the seed and its number: it can be recorded beside any
# environment that plays it.


@cache
def recorded(ruleset, seed, number):
    """The record of a game in which everybody plays as `pick` does."""
    batch = Batch(1, ruleset, seed=seed, first=number, finished="hold", skip_forced=False)
    record = [header(ruleset, batch.games[0], ["pick"] * ruleset.players, seed)]
    while batch.player[0] >= 0:
        step_and_record(batch, np.array([pick(batch.mask[0])]), [record])
    return [*record, result_line(batch)]


@cache
def totals(ruleset, seed, number):
    """What every named reward comes to for every seat in such a game."""
    return totals_of(recorded(ruleset, seed, number))


def totals_of(record):
    """What every named reward comes to for every seat in a whole game, worked out from its record."""
    *_, end = replay(record)
    ladders, tally = end.after["ladder"], end.after["tally"]
    scores, places = np.array(record[-1]["scores"]), np.array(record[-1]["places"])
    seats = range(len(scores))
    lead = scores - (scores.sum() - scores) / (len(seats) - 1)
    contracts = [sum(_points(record[0], line) for line in record if line.get("player") == seat) for seat in seats]
    depth = [sum(rank for ladder in ladders for rank, player in enumerate(ladder) if player == s) for s in seats]
    contests = tally[: len(seats), [CONTESTS_WON, CONTESTS_DEFENDED]].sum(1, dtype=int)
    step = 2 / (len(seats) - 1)
    return {
        "win": (places == 1) / (places == 1).sum(),
        "place": np.array([np.mean([1 - step * (p - 1 + i) for i in range((places == p).sum())]) for p in places]),
        "score": lead,
        "score-delta": lead,
        "contracts": np.array(contracts, float),
        "ranks": contests - depth,
    }


def _points(first_line, line):
    """The points of the contract that a move fulfils."""
    verb, *rest = line["move"].split()
    return first_line["contract_points"].get(rest[0], 0) if verb == "contract" else 0
