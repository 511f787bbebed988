"""Opponents: the agents that can be sat at a table, and the games that each was made for."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

from borneo_agents.policy.agent import SHIPPED
from borneo_agents.policy.model import CARD, ModelError, read_card

from borneo_env.agent import known_agents
from borneo_env.ruleset import EDITIONS, PLAYER_COUNTS

POLICY = "policy"
ALL_GAMES = frozenset(product(EDITIONS, PLAYER_COUNTS))
USUAL = "normal"  # who is sat down at first
LEVELS = {
    "easy": "easy: fights for ranks",
    USUAL: "normal: a merchant",
    "hard": "hard: searches, takes its time",
    POLICY: "policy: trained, strongest",
}


class Opponent(NamedTuple):
    """An agent that can be played against."""

    name: str
    group: str
    games: frozenset[tuple[str, int]] = ALL_GAMES  # editions and player counts

    @property
    def words(self) -> str:
        """What it is called in a list, and for which games it is, if not for all."""
        return LEVELS.get(self.name, self.name) + (f" ({self.only})" if self.only else "")

    @property
    def only(self) -> str:
        """For which games it is; nothing if for all."""
        editions, counts = (sorted(set(part)) for part in zip(*self.games, strict=True))
        missing = [f"{editions[0]} edition"] if len(editions) < len(EDITIONS) else []
        if len(counts) < len(PLAYER_COUNTS):
            missing.append(f"{' or '.join(map(str, counts))} players")
        return ", ".join(missing)


def opponents(learnt: Mapping[str, str]) -> list[Opponent]:
    """The registered agents, those with a level first, and the models of a training, by name with arguments."""
    others = [name for name in known_agents() if name not in LEVELS]
    found = [Opponent(name, "Opponents", _games(name)) for name in LEVELS if name in known_agents()]
    found += [Opponent(name, "Of the training", _games(agent)) for name, agent in learnt.items()]
    found += [Opponent(name, "Agents by name", _games(name)) for name in others]
    return [one for one in found if one.games]


def _games(agent: str) -> frozenset[tuple[str, int]]:
    """The games an agent can play. A policy has a card that says for which it was trained."""
    name, _, folder = agent.partition(":")
    if name != POLICY:
        return ALL_GAMES
    try:
        card = read_card((Path(folder) if folder else SHIPPED) / CARD)
    except ModelError:
        return frozenset()
    return frozenset((card.edition, players) for players in card.players)
