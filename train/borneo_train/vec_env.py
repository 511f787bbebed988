"""BorneoVecEnv: thousands of games as one vector environment of stable-baselines3, with one learner seat in each.

Opponents sit inside: scripted bots play on compiled, other agents are asked for all their games together. Games of 3, 4
and 5 players are played side by side, since observations and actions are the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.rewards import Reward
from borneo_env.ruleset import Ruleset
from borneo_env.vector import seat_spaces
from borneo_train.extra import missing
from borneo_train.games.bot_seats import BotSeats

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices, VecEnvStepReturn
except ModuleNotFoundError as error:
    raise missing(error) from None

NO_ENVIRONMENTS = "the games are no environments of their own: they have no"


class BorneoVecEnv(VecEnv):
    """One learner seat in each of many games, at a seat drawn for each deal.

    A game that ends is dealt anew at once. Its info has `terminal_observation`, `episode` (return and length, as a
    Monitor tells them), `is_success` (whether the learner won), `scores`, `places` and the learner's `seat`. No game is
    ever truncated.

    Arguments:
        num_envs: how many games are played side by side, shared evenly among the player counts.
        opponents: an agent for all other seats, by name or as an object with `act(views)`; or a list of agents, one for
            each seat from the learner's left, with a single player count.
        players: the player counts, or one of them.
        reward: a name from `borneo_env.rewards`, or a function.
        whole_table: observe the whole table, all hands included, for critics that know more than the player; the first
            numbers are what the seat knows.
        seed: decides deals, seats and what opponents draw; `seed()` gives another one for the next reset.
        edition: board or card.
        threads: how many threads at most; all cores by default. The games do not depend on it.
        fields: other fields of `Ruleset`.
    """

    def __init__(
        self,
        num_envs: int,
        opponents: Any = "merchant",
        *,
        players: int | Sequence[int] = (3, 4, 5),
        reward: str | Reward = "win",
        whole_table: bool = False,
        seed: int | None = None,
        edition: str = "board",
        threads: int | None = None,
        **fields: Any,
    ) -> None:
        counts = [players] if isinstance(players, int) else list(players)
        if not 0 < len(set(counts)) == len(counts) <= num_envs:
            raise ValueError(f"{num_envs} games cannot be shared by the player counts {counts}: give at least one game "
                             "for each, and each count once")  # fmt: skip
        sizes = [len(part) for part in np.array_split(np.arange(num_envs), len(counts))]
        rulesets = [Ruleset(edition=edition, players=count, **fields) for count in counts]
        given: dict[str, Any] = {"reward": reward, "seed": seed, "whole_table": whole_table, "threads": threads}
        self.tables = [
            BotSeats(size, ruleset, opponents=opponents, **given) for size, ruleset in zip(sizes, rulesets, strict=True)
        ]
        self._ends = np.cumsum(sizes)[:-1]
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)  # of the games so far
        self._start = time.time()
        super().__init__(num_envs, *seat_spaces(self.tables[0].ruleset, "int8", whole_table))
        if seed is not None:
            self.seed(seed)

    def reset(self) -> NDArray[np.int8]:
        """Deal new games: from the first on if a seed was given, else the next ones."""
        seed = self._seeds[0]
        for table in self.tables:
            table.reset(seed, where=None if seed is not None else True)
        self._returns[:] = self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return self._observations()

    def step_async(self, actions: NDArray[np.integer[Any]]) -> None:
        """Take note of the actions, which are checked before anything is played."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,):
            raise ValueError(
                f"one action for each of the {self.num_envs} games is needed, not an array of {actions.shape}"
            )
        self._actions = np.split(actions, self._ends)
        for table, chosen in zip(self.tables, self._actions, strict=True):
            table.check(chosen)

    def step_wait(self) -> VecEnvStepReturn:
        """Play the actions, and everything up to the learners' next decisions."""
        for table, chosen in zip(self.tables, self._actions, strict=True):
            table.step(chosen)
        rewards = np.concatenate([table.reward for table in self.tables])
        dones = np.concatenate([table.done for table in self.tables])
        self._returns += rewards
        self._lengths += 1
        infos = self._infos()
        self._returns[dones] = self._lengths[dones] = 0
        return self._observations(), rewards, dones, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """(games, actions): which actions are legal."""
        return np.concatenate([table.mask for table in self.tables])

    def _observations(self) -> NDArray[np.int8]:
        return np.concatenate([table.observation for table in self.tables])

    def _infos(self) -> list[dict[str, Any]]:
        """An info for each game: empty but for those that have ended."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        passed = round(time.time() - self._start, 6)
        for first, table in zip([0, *self._ends], self.tables, strict=True):
            for row in np.flatnonzero(table.done).tolist():
                game, seat = first + row, int(table.final_seat[row])
                infos[game] = {
                    "terminal_observation": table.final_observation[row].copy(),
                    "TimeLimit.truncated": False,
                    "episode": {"r": float(self._returns[game]), "l": int(self._lengths[game]), "t": passed},
                    "is_success": bool(table.final_places[row, seat] == 1),
                    "scores": table.final_scores[row].copy(),
                    "places": table.final_places[row].copy(),
                    "seat": seat,
                }
        return infos

    # What stable-baselines3 asks single environments for

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """For `action_masks`, which is all that masked algorithms ask for: a mask for each game."""
        if method_name != "action_masks":
            raise NotImplementedError(f"{NO_ENVIRONMENTS} {method_name!r}")
        masks = self.action_masks()
        return list(masks if indices is None else masks[list(self._get_indices(indices))])

    def has_attr(self, attr_name: str) -> bool:
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        if attr_name != "render_mode":
            raise AttributeError(f"{NO_ENVIRONMENTS} {attr_name!r}")
        return [None for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise NotImplementedError(f"{NO_ENVIRONMENTS} attributes to set; give another argument to BorneoVecEnv")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Whether infos tell of episodes as a Monitor's do: they do."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing is held."""
