"""The search of a policy: options it is in doubt about, compared by where they lead when its own network plays on.

They are played in the same determinizations, with the same luck. The network decides for everybody; or for the other
seats a model of the others, or a scripted bot. The critic values the table whenever a turn has begun: one moment alone
misleads. An option that has fallen behind drops out, so that games are played only while something is in doubt. What
the actor thought of the options counts all the time: the best of several noisy values is mostly a lucky one.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_agents.policy.inference import compiled_network, make_scratch, output, run, scratch_of
from borneo_agents.policy.model import MARGIN, MOST_MARGIN, Model, critic_length
from borneo_agents.policy.network import Layer
from borneo_agents.scripted.dispatch import NO_BOT, choose
from borneo_agents.scripted.scratch import SCRATCH
from borneo_agents.search.determinization import DETERMINIZED, TRIED, determinize, stream_of
from borneo_env.agent import Views
from borneo_env.compile import attributes, entry, machine_code, rule
from borneo_env.engine.dice import below, roll
from borneo_env.engine.game import MAX_OPTIONS, apply, legal
from borneo_env.engine.observe import SECRETS, observe, seat_from, write_state
from borneo_env.engine.rules.ending import place_of, score
from borneo_env.engine.state import BOX, CHOICES, GAME, OVER, SEATS, SHIP, THINGS
from borneo_env.engine.threads import in_parallel

MOST_DETERMINIZATIONS = 512  # that scratch memory has room for
FEWEST_TURNS = 4  # of a playout
AT_ONCE = 4  # determinizations after which those who have fallen behind drop out
GRAINS = 1 << 24  # of a random number
VIEWS_PER_THREAD = 2  # at least: each takes a millisecond and more
SAME = 1e-9  # values that differ less are the same
SIZE = np.int8  # of weights: what they are rounded by is little beside the luck of a determinization

Numbers = NDArray[np.float64]


class Networks(NamedTuple):
    """Who plays in a search, and who values."""

    actor: Any
    others: Any  # the actor of all seats but its own
    shippers: Any  # the actor that ships for them
    critic: Any
    strangers: bool  # whether the others play in another way, which their networks are copies of
    bot: int = NO_BOT  # the scripted bot that has their seats instead


class Manner(NamedTuple):
    """How a search is made."""

    turns: int = 0  # that begin before a playout is cut off; 0 for those of a round, but at least four
    drawn: bool = True  # whether moves are drawn by their probabilities; else the most probable ones are played
    sureness: float = 2.0  # the power of strangers' probabilities by which theirs are drawn
    per_value: float = 200.0  # what a value of 1 counts beside the logarithm of a probability
    behind: float = 2.0  # standard errors by which an option is too far behind
    margin_coef: float = 0.1  # what a lead counts beside a win, as in the critic's values


MANNER = Manner()

# Scratch memory: each option's action, the logarithm of its probability, its value in each determinization, whether
# it is still in the race, and its logit by now; how many options and determinizations there are, how many of the first
# are left, which of them is tried next, and how often networks have been asked.
SEARCH = np.dtype(
    [
        ("action", "i8", (MAX_OPTIONS,)),
        ("prior", "f8", (MAX_OPTIONS,)),
        ("value", "f8", (MAX_OPTIONS, MOST_DETERMINIZATIONS)),
        ("racing", "i1", (MAX_OPTIONS,)),
        ("logit", "f8", (MAX_OPTIONS,)),
        ("behind", "f8", (MAX_OPTIONS,)),
        ("count", "i8"),
        ("played", "i8"),
        ("left", "i8"),
        ("next", "i8"),
        ("asked", "i8"),
        ("options", "i8", (MAX_OPTIONS,)),
        ("odds", "f8", (MAX_OPTIONS,)),
        ("unseen", "i1", (THINGS,)),
    ],
    align=True,
)


@rule
def line_up(search, priors):
    """Begin with all actions that take part."""
    count = 0
    for action in range(len(priors)):
        if priors[action] > -np.inf:
            search.action[count] = action
            search.prior[count] = priors[action]
            search.racing[count] = 1
            count += 1
    search.count = search.left = count
    search.played = search.next = search.asked = 0
    compare(search, 0.0)


@entry
def try_next(box, view, dice, networks, manner, table, scratch, bots, games, search):
    """Play the next option that is in the race in the determinization; after the last one, compare them."""
    if search.next == 0 and search.played == 0:
        bots.cache_key[:] = 0  # a bot has nothing in mind of the view before
    if search.next == 0:
        determinize(games, view, stream_of(dice, search.played), search.unseen)
    search.next = next_racing(search, search.next)
    games[TRIED] = games[DETERMINIZED]
    search.value[search.next, search.played] = value_of(
        box, games[TRIED], view.player, search.action[search.next], networks, manner, table, scratch, bots, search
    )
    search.next += 1
    if next_racing(search, search.next) == search.count:
        search.next = 0
        search.played += 1
        best = compare(search, manner.per_value)
        if search.played % AT_ONCE == 0:
            drop_out(search, best, manner)


@rule
def next_racing(search, i):
    """The first option from this place on that is in the race, or the number of options if there is none."""
    while i < search.count and not search.racing[i]:
        i += 1
    return i


@rule
def value_of(box, g, me, action, networks, manner, table, scratch, bots, search):
    """Play an action and let the network play on; returns a player's mean value over the turns that begin.

    The second counts twice as much as the first, the third three times, and so on: what an option is worth shows late.
    """
    turn = g.turn
    apply(box, g, action)
    begun = g.turn != turn
    turns = manner.turns if manner.turns > 0 else max(FEWEST_TURNS, box.players)
    moments = 0
    total = 0.0
    while g.phase != OVER and moments < turns:
        count = legal(box, g, search.options)
        if count > 1 and begun:
            moments += 1
            total += moments * value_now(box, g, me, networks, table, scratch)
            search.asked += 1
            begun = False
        elif count > 1:
            observe(box, g, int(g.player), table[: len(table) - SEATS - SECRETS])
        if moments < turns:
            turn = g.turn
            if g.player == me:
                chosen = move(g, count, networks.actor, 1.0, manner.drawn, table, scratch, search)
            elif networks.bot == NO_BOT:
                power = manner.sureness if networks.strangers else 1.0
                theirs = networks.shippers if g.phase == SHIP else networks.others
                chosen = move(g, count, theirs, power, manner.drawn, table, scratch, search)
            else:
                search.asked += count > 1
                chosen = choose(networks.bot, box, g, search.options, count, roll(g), bots)
            apply(box, g, chosen)
            begun = begun or g.turn != turn
    if g.phase == OVER:
        total += (weight_until(turns) - weight_until(moments)) * outcome(box, g, me, manner.margin_coef)
    return total / weight_until(turns)


@rule
def weight_until(moment):
    """What the moments up to this one weigh together."""
    return moment * (moment + 1) // 2


@rule
def value_now(box, g, me, networks, table, scratch):
    """What the critic thinks of a player; the table is written for the one who decides."""
    state, strangers = table[: len(table) - SEATS], table[len(table) - SEATS :]
    write_state(box, g, int(g.player), state)
    own = seat_from(box, g.player, me)
    for seat in range(SEATS):
        strangers[seat] = networks.strangers and seat < box.players and seat != own
    run(networks.critic, table, scratch)
    return output(networks.critic, own, scratch)


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
def move(g, count, actor, power, drawn, table, scratch, search):
    """What a network plays in a playout: its most probable move, or one that is drawn by a power of probabilities."""
    if count == 1:
        return search.options[0]
    run(actor, table, scratch)
    search.asked += 1
    best = 0
    for i in range(count):
        search.odds[i] = power * output(actor, search.options[i], scratch)
        if search.odds[i] > search.odds[best]:
            best = i
    return search.options[draw(g, count, search.odds, search.odds[best]) if drawn else best]


@rule
def draw(g, count, odds, highest):
    """The place of an option drawn by its logit; options of one determinization are drawn with the same luck."""
    heap = 0.0
    for i in range(count):
        odds[i] = np.exp(odds[i] - highest)
        heap += odds[i]
    point = heap * below(g, CHOICES, GRAINS) / GRAINS
    chosen = 0
    while chosen < count - 1 and point >= odds[chosen]:
        point -= odds[chosen]
        chosen += 1
    return chosen


@rule
def compare(search, per_value):
    """Find out how far options are behind by now; returns the place of the best."""
    best = -1
    for i in range(search.count):
        if search.racing[i]:
            mean = 0.0
            for number in range(search.played):
                mean += search.value[i, number] / search.played
            search.logit[i] = search.prior[i] + per_value * mean
            if best < 0 or search.logit[i] > search.logit[best]:
                best = i
    for i in range(search.count):
        if search.racing[i]:
            search.behind[i] = search.logit[best] - search.logit[i]
    return best


@rule
def drop_out(search, best, manner):
    """Drop options that are too far behind the best."""
    for i in range(search.count):
        if search.racing[i] and i != best:
            error = manner.per_value * standard_error(search, i, best)
            if search.behind[i] + SAME >= manner.behind * error:
                search.racing[i] = 0
                search.left -= 1


@rule
def standard_error(search, i, best):
    """The standard error of how far the value of an option is behind that of the best, who met the same luck."""
    played = search.played
    mean = 0.0
    for number in range(played):
        mean += (search.value[best, number] - search.value[i, number]) / played
    squares = 0.0
    for number in range(played):
        squares += (search.value[best, number] - search.value[i, number] - mean) ** 2
    return np.sqrt(squares / (played - 1) / played)


@rule
def in_doubt(search):
    return search.left > 1 and search.played < MOST_DETERMINIZATIONS


@rule
def write_logits(search, logits):
    for i in range(search.count):
        logits[search.action[i]] = -search.behind[i]


@entry
def search_views(
    boxes, networks, manner, budget, views, dice, priors, logits,
    tables, values, sums, inputs, pairs, places, bots, games, searches
):  # fmt: skip
    """Write the logits after a search in each view."""
    scratch, search = scratch_of(values, sums, inputs, pairs, places), searches[0]
    for i in range(len(views)):
        line_up(search, priors[i])
        while in_doubt(search) and (search.asked < budget or search.next > 0):
            try_next(boxes[0], views[i], dice[i], networks, manner, tables[0], scratch, bots[0], games[0], search)
        write_logits(search, logits[i])


@entry
def begin_search(priors, logits, searches):
    """Begin with what the actor thinks of the options of one view."""
    line_up(searches[0], priors)
    write_logits(searches[0], logits)


@entry
def go_on(
    boxes, networks, manner, views, dice, logits,
    tables, values, sums, inputs, pairs, places, bots, games, searches
):  # fmt: skip
    """Try one more option of one view; returns whether any are in doubt after it."""
    scratch, search = scratch_of(values, sums, inputs, pairs, places), searches[0]
    try_next(boxes[0], views[0], dice[0], networks, manner, tables[0], scratch, bots[0], games[0], search)
    write_logits(search, logits[0])
    return in_doubt(search)


class OptionSearch:
    """Compares options by where they lead when the networks of a model play on and value; one of them is a critic.

    Its methods take the logarithm of each option's probability, (n, actions), minus infinity for actions that take no
    part. They return new logits: the best option has 0, and one that dropped out is as far behind as it was then.
    """

    def __init__(self, model: Model, manner: Manner = MANNER, bot: int = NO_BOT) -> None:
        """With a scripted bot, that is who the others are taken for, instead of whom the model takes them for."""
        assert model.critic is not None
        own, critic = compiled_network(model.own, SIZE), compiled_network(model.critic, SIZE)
        theirs = compiled_network(model.others, SIZE) if model.others else own  # not a second copy: the cache is small
        shippers = compiled_network(model.shippers, SIZE) if model.shippers else theirs
        self._networks = Networks(own, theirs, shippers, critic, model.others is not None or bot != NO_BOT, bot)
        self._manner = manner._replace(margin_coef=model.margin_coef)

    def with_budget(self, views: Views, priors: Numbers, budget: int, threads: int = 1) -> Numbers:
        """Logits after networks have been asked about so many times for each view."""
        logits = _no_logits(priors)
        boxes, games, dice = views.arrays()
        shared, own = (boxes, self._networks, self._manner, budget), (games, dice, priors, logits)
        in_parallel(threads, search_views, shared, own, VIEWS_PER_THREAD, self._scratch(threads, views))
        return logits

    def with_time(self, views: Views, priors: Numbers, milliseconds: float) -> Numbers:
        """Logits after so many milliseconds for each view, one after the other. This is not repeatable."""
        logits = _no_logits(priors)
        boxes, games, dice = map(attributes, views.arrays())
        scratch = tuple(map(attributes, self._scratch(1, views)))
        step = _step()
        for i in range(len(views)):
            end = time.perf_counter() + milliseconds / 1000
            begin_search(priors[i], logits[i], scratch[-1])
            one = slice(i, i + 1)
            now, longest, doubt = time.perf_counter(), 0.0, True
            while doubt and now + longest < end:
                doubt = step(boxes, self._networks, self._manner, games[one], dice[one], logits[one], *scratch)
                before, now = now, time.perf_counter()
                longest = max(longest, now - before)
        return logits

    def _scratch(self, threads: int, views: Views) -> tuple[Any, ...]:
        tables = np.zeros((threads, critic_length(views.ruleset.edition)), np.int8)
        scratch = make_scratch(threads, *self._networks[:4])
        return tables, *scratch, np.zeros(threads, SCRATCH), np.zeros((threads, 2), GAME), np.zeros(threads, SEARCH)


def _no_logits(priors: Numbers) -> Numbers:
    """Logits to be written: minus infinity for all actions."""
    if ((priors > -np.inf).sum(1) > MAX_OPTIONS).any():
        raise ValueError(f"no decision has more than {MAX_OPTIONS} options")
    return np.full(priors.shape, -np.inf)


@cache
def _step() -> Any:
    """The machine code of `go_on`: to find it by the types of arguments takes longer than a playout."""
    weights, row = np.zeros((1, 1), np.float32), np.zeros(1, np.float32)
    network = compiled_network([Layer(weights, row, row, row)] * 2, SIZE)
    networks = Networks(network, network, network, network, strangers=False)
    own, tables = make_scratch(1, network), np.zeros((1, 1), np.int8)
    scratch = (tables, *own, np.zeros(1, SCRATCH), np.zeros((1, 2), GAME), np.zeros(1, SEARCH))
    views, dice, logits = np.zeros(1, GAME), np.zeros(1, np.uint64), np.zeros((1, 1))
    return machine_code(go_on, np.zeros(1, BOX), networks, MANNER, views, dice, logits, *scratch)
