"""Where a choice leads, as a policy imagines it, and what others threaten to do before its next turn.

A choice is played in many determinizations. The policy's rollout network draws everybody's moves up to the next turn of
the one who decides, where the critic values the table. The cost of an event is the mean value of playouts without it,
minus the mean value of those with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_agents.policy.events import consequence_of, event_of, possessions
from borneo_agents.policy.model import MARGIN, MOST_MARGIN, Model
from borneo_agents.policy.network import drawn_actions, logits_of
from borneo_env.agent import Views
from borneo_env.engine.batch import Batch
from borneo_env.engine.hiding import resample
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import SEATS
from borneo_env.pieces import Pieces, plain

PLAYOUTS = 256
RAREST = 0.05  # share of the playouts in which something happens, or does not, that can be a threat
LEAST = 0.02  # of a win: what costs less is not worth a word
CERTAIN = 3.0  # standard errors that a cost has at least: dozens of events are looked at

Numbers = NDArray[np.float64]


class Threat(NamedTuple):
    """Something that another player may do."""

    event: Pieces  # "player 2 attacks player 0 in red"
    cost: float  # how much less the decider's position is worth after it, in wins
    frequency: float  # share of the playouts in which it happens


class Outlook(NamedTuple):
    """Where a choice leads: a number for each playout. Those of two choices begin in the same determinizations."""

    values: Numbers  # what the table is worth to the decider then
    had: dict[str, Numbers]  # what the decider has then: see `possessions`
    threat: Threat | None  # the worst; None if nothing stands out


def outlook_of(model: Model, views: Views, actions: Sequence[int], playouts: int = PLAYOUTS) -> Outlook:
    """Where the actions of a choice lead in the first of the views."""
    values, events, batch = played_on(model, views, actions, playouts)
    return Outlook(values, possessions(batch, int(views.player[0])), worst(values, events))


def worst(values: Numbers, events: Sequence[set[Pieces]]) -> Threat | None:
    """The event that costs most in all: its cost, times its frequency."""
    threats = []
    for event in sorted(set[Pieces]().union(*events), key=plain):
        happens = np.array([event in some for some in events])
        frequency = float(happens.mean())
        if RAREST <= frequency <= 1 - RAREST:
            cost = float(values[~happens].mean() - values[happens].mean())
            error = np.sqrt(sum(part.var(ddof=1) / len(part) for part in (values[happens], values[~happens])))
            if cost >= max(LEAST, CERTAIN * error):
                threats.append(Threat(event, cost, frequency))
    return max(threats, key=lambda threat: threat.cost * threat.frequency, default=None)


def played_on(
    model: Model, views: Views, actions: Sequence[int], playouts: int
) -> tuple[Numbers, list[set[Pieces]], Batch]:
    """What the playouts of a choice are worth to the decider, what others do in each, and where they end."""
    batch, me = _determinizations(views, playouts), int(views.player[0])
    for action in actions:
        batch.step(np.full(playouts, action))
    events: list[set[Pieces]] = [set() for _ in range(playouts)]
    away = np.zeros(playouts, np.bool_)  # whether another's turn has begun
    while True:
        own, free = batch.games["turn"] == me, batch.forced() == NO_ACTION
        away |= ~own
        rows = np.flatnonzero((batch.player >= 0) & ~(own & away & free))
        if not len(rows):
            return _values(model, batch, me), events, batch
        moves = _moves(model, batch, rows)
        others = [(row, move) for row, move in zip(rows.tolist(), moves, strict=True) if batch.player[row] != me]
        happened = [(row, event) for row, move in others if (event := event_of(batch, row, int(move)))]
        batch.step(moves, rows)
        for row, event in happened:
            events[row].add((*event.pieces, *(consequence_of(batch, row) if event.has_consequence else ())))


def _moves(model: Model, batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """What is played in some games, drawn by its probabilities."""
    moves = batch.forced()[rows].astype(np.int64)
    free = moves == NO_ACTION
    if free.any():
        shown, mask, dice = batch.look(rows[free])
        moves[free] = drawn_actions(logits_of(model.rollout or model.layers, shown), mask, dice)
    return moves


def _determinizations(views: Views, count: int) -> Batch:
    """Complete games, each random among those that the decider cannot tell from the real one."""
    batch = Batch(count, views.ruleset, finished="hold", skip_forced=False)
    rng = np.random.default_rng(int(views.dice[0]))
    batch.games[:] = resample(np.repeat(views.games[:1], count), int(views.player[0]), rng)
    batch.refresh(check=False)
    return batch


def _values(model: Model, batch: Batch, me: int) -> Numbers:
    """What the critic gives a player in each game, or what the game brought if it is over."""
    assert model.critic is not None
    tables, own = shown_to_critic(batch, me)
    found = logits_of(model.critic, tables[:, : model.critic[0].weights.shape[1]])[np.arange(len(batch)), own]
    return np.where(batch.player >= 0, found, outcomes(batch, model.margin_coef)[:, me]).astype(np.float64)


def shown_to_critic(batch: Batch, me: int) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """The tables of games, where nobody is an opponent, and where a player sits, counted from the one who decides."""
    seats = np.maximum(batch.player, 0)
    return np.pad(batch.state(seats), ((0, 0), (0, SEATS))), (me - seats) % batch.ruleset.players


def outcomes(batch: Batch, margin_coef: float) -> Numbers:
    """(games, players): what games that are over brought, as the critic would value it: see `search.outcome`."""
    first, points, players = batch.places() == 1, batch.scores().astype(np.float64), batch.ruleset.players
    lead = (points - (points.sum(1, keepdims=True) - points) / (players - 1)) / MARGIN
    share = first / first.sum(1, keepdims=True) - 1 / players
    worth: Numbers = share + margin_coef * np.clip(lead, -MOST_MARGIN, MOST_MARGIN)
    return worth
