"""Line-ups: circles of agents, each stretch of which, as long as the table, is a game."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, permutations
from math import ceil

ROUND_ROBIN, ONE_VS, MIXED, CHALLENGE = "round-robin", "one-vs", "mixed", "challenge"
LINEUPS = {
    ROUND_ROBIN: "every choice of agents that fills the table; all of them and some twice, if there are too few",
    ONE_VS: "every agent against a table full of each other agent",
    CHALLENGE: "the first agent against a table full of each other agent",
    MIXED: "all agents in a circle drawn for each deal, and every stretch of it",
}
LARGEST_ROUND_ROBIN = 30  # games of a block; where there were more, mixed line-ups see more deals in as many games

Circle = tuple[int, ...]


def circles(lineups: str, agents: int, players: int) -> list[Circle]:
    """The line-ups of a block. Every agent is in as many places of them as every other, but for a challenge."""
    everybody = tuple(range(agents))
    if lineups == CHALLENGE:
        return [(0, *[rest] * (players - 1)) for rest in everybody[1:]]
    if lineups == ONE_VS:
        return [(one, *[rest] * (players - 1)) for one, rest in permutations(everybody, 2)]
    if lineups == MIXED:
        return [everybody * ceil(players / agents)]
    if agents >= players:
        return list(combinations(everybody, players))
    return [everybody + twice for twice in combinations_with_replacement(everybody, players - agents)]


def block_of(lineups: str, agents: int, players: int) -> int:
    """How many games each deal has."""
    return sum(map(len, circles(lineups, agents, players)))


def suitable_lineups(agents: int, players: int) -> str:
    """The line-ups of choice for so many agents."""
    return ROUND_ROBIN if block_of(ROUND_ROBIN, agents, players) <= LARGEST_ROUND_ROBIN else MIXED
