"""How well the shipped policy's search foresees: `python benchmarks/foresight.py`.

In decisions among merchants, the two options that the policy likes best are played on twice. As its search does it: by
its rollout network, and its critic says what the table is worth whenever a turn begins. And as it would be: the others
are merchants, to the end of the game, and what counts is the win. Both begin with determinizations. So the difference
of two options' values can be compared with what it should be.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.inference import compiled_network, outputs_of
from borneo_agents.policy.network import Floats, drawn_actions
from borneo_agents.policy.search import SIZE, SearchConfig
from borneo_agents.policy.threats import outcomes, shown_to_critic
from borneo_agents.scripted.agents import Merchant
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from borneo_env import Batch, Ruleset, resample
from borneo_env.agent import Views, ask

TURNS = 6  # that begin before a playout is cut off
DOUBTFUL = 0.01  # probability that the second option has at least
WEIGHTS = {
    "all alike": (1, 1, 1, 1),
    "later ones more": (1, 2, 3, 4),
    "but the first": (0, 1, 1, 1),
    "the last two": (0, 0, 1, 1),
    "the last": (0, 0, 0, 1),
    "two alike": (1, 1),
    "five, later ones more": (1, 2, 3, 4, 5),
    "six alike": (1, 1, 1, 1, 1, 1),
}
Numbers = NDArray[np.float64]


@dataclass
class Foreseen:
    """What is known of the decisions: of each, in the direction from its second option to its first."""

    liking: Numbers  # (decisions,): logarithm of how much likelier the first is
    values: Numbers  # (decisions, playouts, turns): differences of values in the playouts of a search
    worth: Numbers  # (decisions,): mean differences of what the games came to
    error: Numbers  # (decisions,): their standard errors


class Foreseer:
    """The policy's networks, and games that they and merchants play on."""

    def __init__(self, players: int, seed: int) -> None:
        self.ruleset, self.policy, self.merchant = Ruleset(players=players), Policy(budget=0), Merchant()
        self.model = self.policy.model
        assert self.model.critic is not None
        self.rollout = compiled_network(self.model.rollout or self.model.layers, SIZE)
        self.critic = compiled_network(self.model.critic, SIZE)
        self.rng = np.random.default_rng(seed)

    def decisions(self, games: int, seed: int) -> Views:
        """All decisions of the policy in some games among merchants, in any order."""
        batch, players = Batch(games, self.ruleset, seed=seed, finished="hold"), self.ruleset.players
        seated = np.ones((games, players), np.int64)
        seated[np.arange(games), np.arange(games) % players] = 0
        found = []
        while len(rows := np.flatnonzero(batch.player >= 0)):
            own = rows[seated[rows, batch.player[rows]] == 0]
            if len(own):
                found.append(batch.view(own))
            batch.step(ask(batch, rows, [self.policy, self.merchant], seated), rows)
        games_, mask, dice = (np.concatenate(column) for column in zip(*found, strict=True))
        order = self.rng.permutation(len(games_))
        return Views(self.ruleset, games_[order], mask[order], dice[order])

    def begun(self, view: Any, actions: NDArray[np.int64], count: int) -> Batch:
        """Games in which each action was played, in the same determinizations."""
        batch = Batch(count * len(actions), self.ruleset, finished="hold")
        batch.games[:] = np.tile(resample(np.repeat(view, count), int(view["player"][0]), self.rng), len(actions))
        batch.refresh(check=False)
        batch.step(np.repeat(actions, count))
        return batch

    def as_foreseen(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """What the rollout network plays."""
        shown, mask, dice = batch.look(rows)
        return drawn_actions(outputs_of(self.rollout, shown), mask, dice)

    def as_it_is(self, batch: Batch, rows: NDArray[np.intp], me: int) -> NDArray[np.int64]:
        """What the rollout network plays for its own seat, and merchants for theirs."""
        moves, own = np.empty(len(rows), np.int64), batch.player[rows] == me
        if own.any():
            moves[own] = self.as_foreseen(batch, rows[own])
        if not own.all():
            moves[~own] = self.merchant.act(Views(batch.ruleset, *batch.view(rows[~own])))
        return moves

    def values(self, batch: Batch, rows: NDArray[np.intp], me: int) -> Floats:
        tables, own = shown_to_critic(batch, me)
        found: Floats = outputs_of(self.critic, tables[rows])[np.arange(len(rows)), own[rows]]
        return found

    def foreseen(self, view: Any, actions: NDArray[np.int64], count: int) -> Numbers:
        """(actions, count, turns): what the critic thinks whenever a turn begins; where a game is over, its outcome."""
        batch, me = self.begun(view, actions, count), int(view["player"][0])
        turn, moment = np.full(len(batch), view["turn"][0]), np.zeros(len(batch), np.int64)
        values = np.zeros((len(batch), TURNS))
        while True:
            playing = (batch.player >= 0) & (moment < TURNS)
            rows = np.flatnonzero(playing & (batch.games["turn"] != turn))
            if len(rows):
                values[rows, moment[rows]] = self.values(batch, rows, me)
                moment[rows] += 1
                turn[rows] = batch.games["turn"][rows]
            if not len(rows := np.flatnonzero(playing & (moment < TURNS))):
                break
            batch.step(self.as_foreseen(batch, rows), rows)
        left = np.arange(TURNS) >= moment[:, None]
        ends = outcomes(batch, self.model.margin_coef)[:, me, None]
        return np.where(left, ends, values).reshape(len(actions), count, TURNS)

    def as_they_end(self, view: Any, actions: NDArray[np.int64], count: int) -> Numbers:
        """(actions, count): what the games come to among merchants."""
        batch, me = self.begun(view, actions, count), int(view["player"][0])
        while len(rows := np.flatnonzero(batch.player >= 0)):
            batch.step(self.as_it_is(batch, rows, me), rows)
        return outcomes(batch, self.model.margin_coef)[:, me].reshape(len(actions), count)

    def compared(self, games: int, decisions: int, playouts: int, ends: int, seed: int) -> Foreseen:
        """The first of these decisions in which the policy is in doubt, foreseen and played to the end."""
        views = self.decisions(games, seed)
        odds = self.policy.probabilities(views)
        best = np.argsort(-odds, 1)[:, :2]
        likely = np.take_along_axis(odds, best, 1)
        chosen = np.flatnonzero(likely[:, 1] >= DOUBTFUL)[:decisions]
        liking = np.log(likely[chosen, 0] / likely[chosen, 1])
        values, worth, error = [], [], []
        for row in track(chosen.tolist(), "decisions", console=Console(stderr=True)):
            view = views.games[row : row + 1]
            first, second = self.foreseen(view, best[row], playouts)
            values.append(first - second)
            one, other = self.as_they_end(view, best[row], ends)
            worth.append((one - other).mean())
            error.append((one - other).std(ddof=1) / ends**0.5)
        return Foreseen(liking, np.array(values), np.array(worth), np.array(error))


def related(found: Foreseen, weights: tuple[int, ...]) -> dict[str, float]:
    """How the values of some turns, so weighed, are related to what games come to."""
    shares = np.array(weights) / sum(weights)
    differences = found.values[:, :, : len(shares)] @ shares
    mean, error = differences.mean(1), differences.std(1, ddof=1) / differences.shape[1] ** 0.5
    true = found.worth.var() - (found.error**2).mean()  # without what is luck in both
    foreseen = mean.var() - (error**2).mean()
    changed = found.liking / SearchConfig().value_weight + mean < 0
    gain = np.where(changed, -found.worth, 0.0)
    return {
        "correlation": float(np.cov(mean, found.worth)[0, 1] / (true * foreseen) ** 0.5),
        "luck of a playout": float(differences.std(1).mean()),
        "gain": float(gain.mean()),
        "gain, error": float(1.96 * gain.std() / len(gain) ** 0.5),
    }


def main(
    players: Annotated[int, typer.Option(help="Of the games.", min=3, max=5)] = 4,
    decisions: Annotated[int, typer.Option(help="That are looked at; some four seconds each.", min=30)] = 100,
    playouts: Annotated[int, typer.Option(help="Of each option, by networks.", min=4)] = 64,
    ends: Annotated[int, typer.Option(help="Games of each option to the end, with merchants.", min=10)] = 400,
    seed: Annotated[int, typer.Option(help="Of the games and of all that is drawn.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    foreseer = Foreseer(players, seed)
    found = foreseer.compared(8 + decisions // 8, decisions, playouts, ends, seed)
    rows = {name: related(found, weights) for name, weights in WEIGHTS.items()}
    if as_json:
        print(json.dumps({"decisions": len(found.worth), "weights": rows}))
        return
    columns = ("turns", "correlation", "luck of a playout", "gain of a decision, of a win")
    table = Table(*columns, title=f"{len(found.worth)} decisions, {players} players")
    for name, row in rows.items():
        gain = f"{row['gain']:.4f} ±{row['gain, error']:.4f}"
        table.add_row(name, f"{row['correlation']:.3f}", f"{row['luck of a playout']:.3f}", gain)
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
