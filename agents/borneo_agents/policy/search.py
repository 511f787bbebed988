"""The search of a policy: options it is in doubt about, compared by where they lead.

They are played in the same determinizations (Ginsberg 2001, GIB, JAIR 14), with the same luck (common random numbers).
There the rollout network plays on for all seats (rollouts: Tesauro, Galperin 1996, NIPS 9). The critic values the table
whenever a turn has begun: one moment alone misleads. Options race for the highest sum of two numbers, as in Gumbel
AlphaZero (Danihelka et al. 2022, ICLR): what the actor thought, and the mean value. The best of several noisy values
alone is mostly a lucky one.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from borneo_agents.policy.inference import (
    CompiledNetwork,
    NetworkScratch,
    compiled_network,
    network_scratch,
    output,
    run,
)
from borneo_agents.policy.model import MARGIN, MOST_MARGIN, Model
from borneo_agents.policy.network import Layer
from borneo_agents.policy.race import RACE, Numbers, end_round, in_doubt, line_up, next_racing
from borneo_agents.search import determinization
from borneo_agents.search.determinization import DETERMINIZED, TRIED, stream_of
from borneo_env.agent import Views
from borneo_env.engine.game import BORNEO, MAX_OPTIONS, apply, legal
from borneo_env.engine.observe import SECRETS, observe, state_length, write_state
from borneo_env.engine.rules.ending import place_of, score
from borneo_env.engine.state import BOX, CHOICES, GAME, OVER, SEATS, THINGS
from kontor.compile import attributes, entry, machine_code, rule
from kontor.derived import seat_from
from kontor.engine.threads import in_parallel
from kontor.templates.dice import below

FEWEST_TURNS = 4  # of a rollout
GRAINS = 1 << 24  # of a random number
VIEWS_PER_THREAD = 2  # at least: each takes a millisecond and more
SIZE = np.int8  # of weights: what they are rounded by is little beside the luck of a determinization

determinize = BORNEO.of(determinization).determinize


class SearchConfig(NamedTuple):
    """The numbers of a search."""

    turns: int = 0  # that begin before a rollout is cut off; 0 for those of a round, but at least four
    sampled: bool = True  # whether moves are drawn by their probabilities; else the most probable ones are played
    value_weight: float = 200.0  # what a value of 1 counts beside a log probability
    drop_after: float = 2.0  # standard errors behind the best after which an option drops out
    margin_coef: float = 0.1  # what a lead counts beside a win, as in the critic's values


class SearchTask(NamedTuple):
    """What the compiled functions of a search work with: cards, networks, settings, and scratch memory."""

    boxes: Any  # one BOX
    rollout: CompiledNetwork
    critic: CompiledNetwork
    config: SearchConfig
    scratch: NetworkScratch
    race: Any  # one RACE
    games: Any  # a determinization, and a copy to try an option in
    options: Any  # the legal actions there
    logits: Any  # of these
    cdf: Any  # the sums of their probabilities, times any number
    unseen: Any  # scratch memory of determinizations
    table: Any  # what the critic is shown; it begins with what the rollout network is shown


def make_task(boxes: Any, rollout: CompiledNetwork, critic: CompiledNetwork, config: SearchConfig) -> SearchTask:
    """What one thread searches with."""
    return SearchTask(
        boxes,
        rollout,
        critic,
        config,
        network_scratch(rollout, critic),
        race=attributes(np.zeros(1, RACE)),
        games=attributes(np.zeros(2, GAME)),
        options=np.zeros(MAX_OPTIONS, np.int64),
        logits=np.zeros(MAX_OPTIONS),
        cdf=np.zeros(MAX_OPTIONS),
        unseen=np.zeros(THINGS, np.int8),
        table=np.zeros(state_length(int(boxes[0]["slots"])) + SEATS, np.int8),
    )


# ---------------------------------------------------------------- one option in one determinization


@entry
def play_next(search, views, dice):
    """Play the next option that is in the race; after the last one, compare them. Returns whether any are in doubt."""
    race = search.race[0]
    if race.next == 0:
        determinize(search.boxes[0], search.games, views[0], stream_of(dice[0], race.played), search.unseen)
    option = next_racing(race, race.next)
    search.games[TRIED] = search.games[DETERMINIZED]
    g, me = search.games[TRIED], views[0].player
    race.values[option, race.played] = value_after(search, race, g, me, race.actions[option])
    race.next = next_racing(race, option + 1)
    if race.next == race.count:
        end_round(race, search.config.value_weight, search.config.drop_after)
    return in_doubt(race)


@rule
def value_after(search, race, g, me, action):
    """Play an action and let the rollout network play on; returns a player's mean value over the turns that begin.

    The second counts twice as much as the first, the third three times, and so on: what an option is worth shows late.
    """
    box, config = search.boxes[0], search.config
    turns = config.turns if config.turns > 0 else max(FEWEST_TURNS, box.players)
    moments = 0
    total = 0.0
    begun = plays_into_turn(box, g, action)
    while g.phase != OVER and moments < turns:
        count = legal(box, g, search.options)
        if count > 1 and begun:
            moments += 1
            total += moments * value_now(search, race, g, me)
            begun = False
        elif count > 1:
            observe(box, g, int(g.player), search.table[: len(search.table) - SEATS - SECRETS])
        if moments < turns:
            begun = plays_into_turn(box, g, move(search, race, g, count)) or begun
    if g.phase == OVER:
        total += (weight_until(turns) - weight_until(moments)) * outcome(box, g, me, config.margin_coef)
    return total / weight_until(turns)


@rule
def plays_into_turn(box, g, action):
    """Play an action; returns whether a turn begins."""
    turn = g.turn
    apply(box, g, action)
    return g.turn != turn


@rule
def weight_until(moment):
    """What the moments up to this one weigh together."""
    return moment * (moment + 1) // 2


@rule
def value_now(search, race, g, me):
    """What the critic thinks of a player; the table, observation first, is written for the one who decides."""
    box = search.boxes[0]
    own = seat_from(box, g.player, me)
    write_state(box, g, int(g.player), search.table[: len(search.table) - SEATS])  # the rest, flags of opponents, is 0
    run(search.critic, search.table, search.scratch)
    race.evaluations += 1
    return output(search.critic, own, search.scratch)


@rule
def outcome(box, g, me, margin_coef):
    """What a game that is over brought a player, as the critic would value it: the win, less par, and the lead."""
    winners = 0
    others = 0.0
    for player in range(box.players):
        winners += place_of(box, g, player) == 1
        if player != me:
            others += score(box, g, player) / (box.players - 1)
    share = 1.0 / winners if place_of(box, g, me) == 1 else 0.0
    lead = (score(box, g, me) - others) / MARGIN
    return share - 1.0 / box.players + margin_coef * min(MOST_MARGIN, max(-MOST_MARGIN, lead))


@rule
def move(search, race, g, count):
    """What the rollout network plays, shown the table: a move that is drawn, or its most probable one."""
    if count == 1:
        return search.options[0]
    run(search.rollout, search.table, search.scratch)
    race.evaluations += 1
    best = 0
    for i in range(count):
        search.logits[i] = output(search.rollout, search.options[i], search.scratch)
        if search.logits[i] > search.logits[best]:
            best = i
    return search.options[draw(g, count, search.logits, best, search.cdf) if search.config.sampled else best]


@rule
def draw(g, count, logits, best, cdf):
    """The place of an option drawn by its logit; options of one determinization are drawn with the same luck."""
    total = 0.0
    for i in range(count):
        total += np.exp(logits[i] - logits[best])
        cdf[i] = total
    point = total * below(g, CHOICES, GRAINS) / GRAINS
    chosen = 0
    while chosen < count - 1 and point >= cdf[chosen]:
        chosen += 1
    return chosen


# ---------------------------------------------------------------- many views


class OptionSearch:
    """Compares options by where they lead when a model's rollout network plays on and its critic values.

    Its methods take the logarithm of each option's probability, (n, actions), minus infinity for actions that take no
    part. They return new logits: the best option has 0, and one that dropped out is as far behind as it was then.
    """

    def __init__(self, model: Model, config: SearchConfig | None = None) -> None:
        assert model.critic is not None
        self._rollout = compiled_network(model.rollout or model.layers, SIZE)
        self._critic = compiled_network(model.critic, SIZE)
        self._config = (config or SearchConfig())._replace(margin_coef=model.margin_coef)

    def with_budget(self, views: Views, log_probs: Numbers, budget: int, threads: int = 1) -> Numbers:
        """Logits after networks have been asked about so many times for each view."""
        return self._searched(views, log_probs, threads, budget, np.inf)

    def with_time(self, views: Views, log_probs: Numbers, milliseconds: float) -> Numbers:
        """Logits after so many milliseconds for each view, one after the other. This is not repeatable."""
        return self._searched(views, log_probs, 1, np.inf, milliseconds / 1000)

    def _searched(self, views: Views, log_probs: Numbers, threads: int, budget: float, seconds: float) -> Numbers:
        if ((log_probs > -np.inf).sum(1) > MAX_OPTIONS).any():
            raise ValueError(f"no decision has more than {MAX_OPTIONS} options")
        logits = np.full(log_probs.shape, -np.inf)
        boxes, games, dice = views.arrays()
        shared, own = (boxes, budget, seconds), (games, dice, log_probs, logits)
        in_parallel(threads, self._search, shared, own, VIEWS_PER_THREAD)
        return logits

    def _search(
        self, boxes: Any, budget: float, seconds: float, games: Any, dice: Any, log_probs: Numbers, logits: Numbers
    ) -> None:
        """Write the logits after a search in each view, in one thread."""
        search, play = make_task(boxes, self._rollout, self._critic, self._config), compiled_play_next()
        race = search.race[0]
        for i in range(len(games)):
            line_up(race, log_probs[i])
            now = time.perf_counter()
            end, longest, doubt = now + seconds, 0.0, race["count"] > 1
            while doubt and now + longest < end and (race["evaluations"] < budget or race["next"] > 0):
                doubt = play(search, games[i : i + 1], dice[i : i + 1])
                before, now = now, time.perf_counter()
                longest = max(longest, now - before)
            logits[i, race["actions"][: race["count"]]] = -race["behind"][: race["count"]]


@cache
def compiled_play_next() -> Any:
    """The machine code of `play_next`: to find it by the types of arguments takes longer than a rollout."""
    row = np.zeros(1, np.float32)
    network = compiled_network([Layer(np.zeros((1, 1), np.float32), row, row, row)] * 2, SIZE)
    boxes = attributes(np.zeros(1, BOX))
    search = make_task(boxes, network, network, SearchConfig())
    return machine_code(play_next, search, attributes(np.zeros(1, GAME)), np.zeros(1, np.uint64))
