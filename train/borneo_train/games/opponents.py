"""Opponents: who has all seats but the learner's in a share of the games. The learner learns from its own decisions.

They are earlier versions of the learner (fictitious self-play, as in OpenAI Five), random players, a scripted bot or
any other agent, or the network of a policy. Networks play where the learner is. Agents play on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from borneo_agents.policy.model import CARD, read_model
from borneo_agents.scripted.agents import COMPILED
from borneo_agents.scripted.dispatch import Bots
from numpy.typing import NDArray
from torch import Tensor

from borneo_env.agent import Agent, Views, find_agent
from borneo_env.engine.state import SEATS
from borneo_train.games.games import LearnerGames, from_decider
from borneo_train.networks.actor_critic import Networks
from borneo_train.networks.mlp import Dense, apply, from_model, prepared
from borneo_train.networks.sampling import categorical, masked

SELF = "self"  # the name of earlier versions of the learner


class Opponents:
    """The seats of opponents, and what is played there."""

    def __init__(self, games: LearnerGames, player: Player | None = None) -> None:
        """Without a player there are no games with opponents."""
        self.games, self.player = games, player
        self.rows = games.with_opponents
        n = torch.arange(len(games), device=games.device)
        self.learner_seat = n % games.players  # in games with opponents
        self.has_opponents = n >= self.rows.start

    def write_flags(self) -> Tensor:
        """Write behind the states which seats are opponents'; (games,): whether the learner decides."""
        games = self.games
        seats = torch.arange(SEATS, device=games.device).expand(len(games), -1)
        opponents = (seats != self.learner_seat[:, None]) & self.has_opponents[:, None] & games.has_seat
        games.state[:, games.width : games.width + SEATS] = from_decider(opponents, games.seat, games.players)
        return ~self.has_opponents | (games.seat == self.learner_seat)

    def act(self, action: Tensor, u: Tensor) -> Tensor:
        """(games,): the learner's actions, and those of opponents where they decide."""
        if self.player is None:
            return action
        action, rows = action.clone(), self.rows
        learner = self.games.seat[rows] == self.learner_seat[rows]
        action[rows] = torch.where(learner, action[rows], self.player.act(self.games, rows, ~learner, u[rows]))
        return action

    def snapshot(self, networks: Networks) -> None:
        """Let the learner as it is now be the opponent, if earlier versions are."""
        if isinstance(self.player, EarlierVersion):
            self.player.load(networks().actor)

    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint holds, in place."""
        parts = self.player.parts() if isinstance(self.player, EarlierVersion) else []
        return {f"opponent.{number}": part for number, part in enumerate(parts)}


class NetworkPlayer:
    """Plays what a network likes best: its moves are a copy of an agent's, most often."""

    def __init__(self, layers: Sequence[Dense]) -> None:
        self.layers = list(layers)

    def parts(self) -> list[Tensor]:
        return [part for layer in self.layers for part in layer if part is not None]

    def act(self, games: LearnerGames, rows: slice, asked: Tensor, u: Tensor) -> Tensor:
        """(rows,): actions; those where it is not asked mean nothing."""
        return masked(apply(self.layers, games.state[rows]), games.mask[rows]).argmax(1)


class EarlierVersion(NetworkPlayer):
    """Draws its moves, as the learner does."""

    @torch.no_grad()
    def load(self, layers: Sequence[Dense]) -> None:
        """Be this version from now on."""
        for own, part in zip(self.parts(), NetworkPlayer(layers).parts(), strict=True):
            own.copy_(part)

    def act(self, games: LearnerGames, rows: slice, asked: Tensor, u: Tensor) -> Tensor:
        logits = masked(apply(self.layers, games.state[rows]), games.mask[rows])
        return categorical(logits.softmax(1), u)


class RandomPlayer:
    """Plays any legal action, where the learner is."""

    def act(self, games: LearnerGames, rows: slice, asked: Tensor, u: Tensor) -> Tensor:
        return categorical(games.mask[rows].float(), u)


class AgentPlayer:
    """An agent, which plays on the CPU."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def act(self, games: LearnerGames, rows: slice, asked: Tensor, u: Tensor) -> Tensor:
        where = torch.zeros(len(games), dtype=torch.bool, device=asked.device)
        where[rows] = asked
        action = torch.zeros(len(games), dtype=torch.int64)
        where = where.cpu()
        action[where] = torch.from_numpy(actions_of(self.agent, games, where.numpy()))
        return action[rows].to(asked.device)


Player = NetworkPlayer | RandomPlayer | AgentPlayer


def plays_on_cpu(opponent: str) -> bool:
    """Whether the opponent of this name is an agent, and its games stay on the CPU."""
    return opponent not in (SELF, "random") and not is_policy(opponent)


def is_policy(opponent: str) -> bool:
    """Whether this is the folder of a policy, rather than the name of an agent."""
    return (Path(opponent) / CARD).exists()


def player_of(opponent: str, networks: Networks, edition: str, device: torch.device) -> Player:
    """The opponent of this name: self, random, an agent, or the folder of a policy."""
    if opponent == SELF:
        with torch.no_grad():  # a graph that is kept would belong to another stream than the one that learns
            return EarlierVersion([layer.each(torch.clone) for layer in networks().actor])
    if opponent == "random":
        return RandomPlayer()
    if not is_policy(opponent):
        return AgentPlayer(find_agent(opponent))
    model = read_model(opponent)
    if model.card.edition != edition:
        raise ValueError(f"--opponent {opponent} was trained for the {model.card.edition} edition, not for {edition}")
    return NetworkPlayer(prepared(from_model(model.layers, device), device))


def actions_of(agent: Agent, games: LearnerGames, where: NDArray[np.bool_]) -> NDArray[np.int64]:
    """What an agent would play in some games, all of them on the CPU; nothing is played."""
    bot = COMPILED.get(type(agent))
    found: list[NDArray[np.integer[Any]]] = [np.zeros(0, np.int64)]
    if bot is None:
        found += [agent.act(views) for views in views_of(games, where)]
    else:
        for group, rows in chosen_of(games, where):
            kinds = np.full((len(group), group.ruleset.players), bot, np.int8)
            found.append(Bots(group.batch).choose(kinds, rows))
    return np.concatenate(found).astype(np.int64)


def views_of(games: LearnerGames, where: NDArray[np.bool_]) -> list[Views]:
    """What the deciding seats of some games see, by player count."""
    return [Views(group.ruleset, *group.batch.view(rows)) for group, rows in chosen_of(games, where)]


def chosen_of(games: LearnerGames, where: NDArray[np.bool_]) -> list[tuple[Any, NDArray[np.intp]]]:
    """The groups with chosen games, and their rows there."""
    rows = [np.flatnonzero(where[part]) for part in games.slices]
    return [(group, own) for group, own in zip(games.groups, rows, strict=True) if len(own)]
