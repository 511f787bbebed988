"""Where a choice leads, as a policy imagines it, and what it fears that others may do before its next turn.

A choice is played in many determinizations. The policy's actor draws everybody's moves, or its model of the others
theirs, up to the next turn of the one who decides, where the critic values the table. What somebody does in some of
these playouts costs what they are worth less than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_agents.policy.model import MARGIN, MOST_MARGIN, Model
from borneo_agents.policy.network import drawn_actions, logits_of
from borneo_env.agent import Views
from borneo_env.cards import COMPANIES
from borneo_env.engine.batch import Batch
from borneo_env.engine.hidden import resample
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import CARDS, DOUBLE, SEATS, SHIP, TAKE

PLAYOUTS = 256
RAREST = 0.05  # share of the playouts in which something happens, or does not, that can be feared
LEAST = 0.02  # of a win: what costs less is not worth a word
CERTAIN = 3.0  # standard errors that a cost has at least: dozens of deeds are looked at

SHIPS = " ships to "

Numbers = NDArray[np.float64]


class Fear(NamedTuple):
    """Something that another player may do."""

    deed: str  # "player 2 attacks player 0 in red"
    cost: float  # how much less the decider's position is worth after it, in wins
    often: float  # share of the playouts in which it happens


class Outlook(NamedTuple):
    """Where a choice leads: a number for each playout. Those of two choices begin in the same determinizations."""

    values: Numbers  # what the table is worth to the decider then
    had: dict[str, Numbers]  # what the decider has then: see `_had`
    fear: Fear | None  # what is feared most; None if nothing stands out


def outlook_of(model: Model, views: Views, actions: Sequence[int], playouts: int = PLAYOUTS) -> Outlook:
    """Where the actions of a choice lead in the first of the views."""
    values, deeds, batch = played_on(model, views, actions, playouts)
    return Outlook(values, _had(batch, int(views.player[0])), worst(values, deeds))


def _had(batch: Batch, me: int) -> dict[str, Numbers]:
    """What a player has in each game, in the order in which it tells most."""
    games, points = batch.games, batch.scores().astype(np.float64)
    stock = games["stock"][:, me].sum(1)
    return {
        "contracts": games["fulfilled"][:, me].sum(1).astype(np.float64),
        "points": points[:, me],
        "rivals": np.delete(points, me, 1).max(1),  # points of the best of the others
        "first": (games["ladder"][:, :, 0] == me).sum(1).astype(np.float64),  # traders on rank 1
        "spices": (stock.sum(1) + stock[:, DOUBLE]).astype(np.float64),  # that the warehouse can pay
    }


def worst(values: Numbers, deeds: Sequence[set[str]]) -> Fear | None:
    """The deed that costs most in all: its cost, times how often it happens."""
    fears = []
    for deed in sorted(set().union(*deeds)):
        done = np.array([deed in some for some in deeds])
        often = float(done.mean())
        if RAREST <= often <= 1 - RAREST:
            cost = float(values[~done].mean() - values[done].mean())
            error = np.sqrt(sum(part.var(ddof=1) / len(part) for part in (values[done], values[~done])))
            if cost >= max(LEAST, CERTAIN * error):
                fears.append(Fear(deed, cost, often))
    return max(fears, key=lambda fear: fear.cost * fear.often, default=None)


def played_on(
    model: Model, views: Views, actions: Sequence[int], playouts: int
) -> tuple[Numbers, list[set[str]], Batch]:
    """What the playouts of a choice are worth to the decider, what others do in each, and where they end."""
    batch, me = _determinizations(views, playouts), int(views.player[0])
    for action in actions:
        batch.step(np.full(playouts, action))
    deeds: list[set[str]] = [set() for _ in range(playouts)]
    away = np.zeros(playouts, np.bool_)  # whether another's turn has begun
    while True:
        own, free = batch.games["turn"] == me, batch.forced() == NO_ACTION
        away |= ~own
        rows = np.flatnonzero((batch.player >= 0) & ~(own & away & free))
        if not len(rows):
            return _values(model, batch, me), deeds, batch
        moves = _moves(model, batch, rows, me)
        others = [(row, move) for row, move in zip(rows.tolist(), moves, strict=True) if batch.player[row] != me]
        done = [(row, deed) for row, move in others if (deed := _deed(batch, row, int(move)))]
        batch.step(moves, rows)
        for row, deed in done:
            deeds[row].add(deed + _consequence(batch, row) if SHIPS in deed else deed)


def _moves(model: Model, batch: Batch, rows: NDArray[np.intp], me: int) -> NDArray[np.int64]:
    """What is played in some games, drawn by its probabilities."""
    moves = batch.forced()[rows].astype(np.int64)
    free, own, ships = moves == NO_ACTION, batch.player[rows] == me, batch.phase[rows] == SHIP
    deciders = ((own, model.own), (~own & ships, model.their_shippers), (~own & ~ships, model.theirs))
    for decides, layers in deciders:
        if (asked := free & decides).any():
            shown, mask, dice = batch.look(rows[asked])
            moves[asked] = drawn_actions(logits_of(layers, shown), mask, dice)
    return moves


def _consequence(batch: Batch, row: int) -> str:
    return ", and its cargo is distributed" if batch.phase[row] == TAKE else ", without a distribution"


def _determinizations(views: Views, count: int) -> Batch:
    """Complete games, each random among those that the decider cannot tell from the real one."""
    batch = Batch(count, views.ruleset, finished="hold", skip_forced=False)
    rng = np.random.default_rng(int(views.dice[0]))
    batch.games[:] = resample(np.repeat(views.games[:1], count), int(views.player[0]), rng)
    batch.refresh(check=False)
    return batch


def _deed(batch: Batch, row: int, action: int) -> str:
    """What a move does, as far as everybody sees it and it could be feared; "" for other moves."""
    game, player = batch.games[row], f"player {batch.player[row]}"
    verb, *words = batch.actions.text(action, batch.phase_name(row)).split()
    if words[-1] == "none":
        return ""
    if verb == "attack":
        defender = game["ladder"][COMPANIES.index(words[0]), int(words[2]) - 1]
        return f"{player} attacks player {defender} in {words[0]}"
    if verb == "ship":
        port = int(game["open"][int(words[1])]) - CARDS
        return f"{player}{SHIPS}{batch.ruleset.tables.ports_in_play(batch.ruleset.players)[port].name}"
    if verb == "contract":
        return f"{player} fulfils a contract {words[0]}"
    if verb == "place":
        return f"{player} places a trader in {words[0]}"
    return f"{player} transfers a trader to {words[2]}" if verb == "transfer" else ""


def _values(model: Model, batch: Batch, me: int) -> Numbers:
    """What the critic gives a player in each game, or what the game brought if it is over."""
    assert model.critic is not None
    tables, own = shown_to_critic(model, batch, me)
    found = logits_of(model.critic, tables[:, : model.critic[0].weights.shape[1]])[np.arange(len(batch)), own]
    return np.where(batch.player >= 0, found, outcomes(batch, model.margin_coef)[:, me]).astype(np.float64)


def shown_to_critic(
    model: Model, batch: Batch, me: int | NDArray[np.intp]
) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """The tables of games for the policy that has this seat, and where it sits, counted from the one who decides."""
    players, seats = batch.ruleset.players, np.maximum(batch.player, 0)
    own, places = (me - seats) % players, np.arange(SEATS)
    strangers = (model.others is not None) & (places < players) & (places != own[:, None])
    return np.concatenate([batch.state(seats), strangers.astype(np.int8)], 1), own


def outcomes(batch: Batch, margin_coef: float) -> Numbers:
    """(games, players): what games that are over brought, as the critic would value it: see `search.outcome`."""
    first, points, players = batch.places() == 1, batch.scores().astype(np.float64), batch.ruleset.players
    lead = (points - (points.sum(1, keepdims=True) - points) / (players - 1)) / MARGIN
    share = first / first.sum(1, keepdims=True) - 1 / players
    worth: Numbers = share + margin_coef * np.clip(lead, -MOST_MARGIN, MOST_MARGIN)
    return worth
