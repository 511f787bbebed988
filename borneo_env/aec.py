"""The PettingZoo environment: one game, every seat an agent, one decision at a time."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from borneo_env.engine.batch import Batch, fresh_seed
from borneo_env.engine.hidden import SPECTATOR
from borneo_env.engine.observe import LARGEST, SMALLEST, explain, state_length
from borneo_env.engine.state import GAME, OVER, PHASES, copy_games, slots_of
from borneo_env.rewards import AT_THE_END, Reward, find_reward
from borneo_env.ruleset import Ruleset
from borneo_env.screen import RENDER_MODES, Screen
from borneo_env.vector import seat_spaces

MANUAL = Path(__file__).with_name("MANUAL.md").read_text(encoding="utf-8")

# What changes in the course of a game.
_CHANGING = (
    "_batch", "_dealt", "_last_move", "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations",
    "truncations", "infos",
)  # fmt: skip


class raw_env(AECEnv):  # type: ignore[misc]  # PettingZoo has no types; the name is PettingZoo's, too
    __doc__ = MANUAL

    metadata = {  # noqa: RUF012  # PettingZoo wants a plain dict
        "name": "borneo_v0",
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        ruleset: Ruleset | None = None,
        *,
        reward: str | Reward = "win",
        dtype: str = "int8",
        legal_moves: bool = False,
        skip_forced: bool = True,
        render_mode: str | None = None,
        viewer: int | None = None,
        **fields: Any,
    ) -> None:
        super().__init__()
        self.ruleset = Ruleset.given(ruleset, fields)
        players = self.ruleset.players
        if viewer is not None and viewer not in range(SPECTATOR, players):
            raise ValueError(
                f"viewer {viewer!r} does not exist; use 0 to {players - 1}, {SPECTATOR} for a spectator, "
                "or None for the table"
            )
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self.render_mode = render_mode
        self.viewer = viewer
        self._screen = Screen(render_mode)
        self._reward = find_reward(reward)
        self._dtype = np.dtype(dtype)
        self._tell_legal_moves = legal_moves
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._batch = Batch(1, self.ruleset, seed=fresh_seed(), finished="hold", skip_forced=skip_forced, threads=1)
        observation, action = seat_spaces(self.ruleset, dtype)
        mask = spaces.Box(0, 1, (int(action.n),), np.int8)
        both = spaces.Dict({"observation": observation, "action_mask": mask})
        self.observation_spaces = dict.fromkeys(self.possible_agents, both)
        self.action_spaces = dict.fromkeys(self.possible_agents, action)
        self._length = observation.shape[0]
        self._no_mask = np.zeros(mask.shape, np.int8)
        self.state_space = spaces.Box(SMALLEST, LARGEST, (state_length(slots_of(self.ruleset)),), np.int8)

    @property
    def table(self) -> np.void:
        """The game record itself, secrets included: read it by name, such as `env.table["ladder"]`."""
        game: np.void = self._batch.games[0]
        return game

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game: the first one of a seed, or the next one of the present seed."""
        if seed is None:
            self._batch.reset(where=True)
        else:
            self._batch.reset(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._dealt = copy_games(self._batch.games)
        self._last_move: tuple[int, int, bytes] | None = None
        self._ask()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play an action of the deciding agent; IllegalMove changes nothing and says what is legal."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not isinstance(action, int | np.integer):
            raise TypeError(f"an action is a whole number, not {action!r}")
        last_move = (self._seats[agent], int(action), self._batch.games.tobytes())
        before = self._dealt if self._reward in AT_THE_END else copy_games(self._batch.games)
        self._batch.step_game(0, int(action))
        self._last_move = last_move
        self._cumulative_rewards[agent] = 0.0
        self._give_rewards(before)
        self._ask()
        if self.render_mode == "human":
            self.render()

    def _give_rewards(self, before: NDArray[np.void]) -> None:
        over = self._batch.games["phase"][0] == OVER
        if over:
            self.terminations = dict.fromkeys(self.agents, True)
        if over or self._reward not in AT_THE_END:
            values = self._reward(self.ruleset, before, self._batch.games)[0].tolist()
            self.rewards = dict(zip(self.agents, values, strict=True))
            self._accumulate_rewards()

    def _ask(self) -> None:
        """Turn to the agent who decides, and tell it what is being decided."""
        player = int(self._batch.games["player"][0])
        if player >= 0:
            self.agent_selection = self.possible_agents[player]
        info: dict[str, Any] = {"phase": self._batch.phase_name()}
        if self._tell_legal_moves:
            info["legal_moves"] = self._batch.legal_moves()
        self.infos[self.agent_selection] = info

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What an agent knows now, whoever decides; the mask is all zero if it is not this agent's decision."""
        seat = self._seats[agent]
        observation = np.empty(self._length, self._dtype)
        self._batch.observe_game(0, seat, observation)
        if self._batch.games["player"][0] == seat:
            return {"observation": observation, "action_mask": self._batch.mask[0].astype(np.int8)}
        return {"observation": observation, "action_mask": self._no_mask.copy()}

    def state(self) -> NDArray[np.int8]:
        """The whole table for centralised critics: what player 0 knows, then all hands and the order of the piles."""
        state: NDArray[np.int8] = self._batch.state()[0]
        return state

    def explain(self, observation: NDArray[Any]) -> str:
        """An observation in words."""
        return explain(observation)

    def get_state(self) -> dict[str, Any]:
        """Everything that `set_state` needs to play on identically."""
        return copy.deepcopy({name: getattr(self, name) for name in _CHANGING})

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state that `get_state` gave."""
        self.__dict__.update(copy.deepcopy(state))

    def render(self) -> Any:
        """The position as the render mode says: text, an array of pixels, or a window."""
        if not hasattr(self, "agent_selection"):
            EnvLogger.error_render_before_reset()
        return self._screen.show(self.ruleset, self._batch.games[0], self.viewer, self._told_move())

    def _repr_svg_(self) -> str:
        """What a notebook shows: the position for the viewer's eyes, or that there is none yet."""
        from borneo_env.render import notice, svg

        if not hasattr(self, "agent_selection"):
            return notice("No game yet: reset() deals one.")
        return svg(self.ruleset, self._batch.games[0], self.viewer, self._told_move())

    def _told_move(self) -> str:
        """The last move that was asked for, in words."""
        from borneo_env.story import move_in_words

        if self._last_move is None:
            return ""
        seat, action, before = self._last_move
        game = np.frombuffer(before, GAME)[0]
        return move_in_words(self.ruleset, game, seat, self._batch.actions.text(action, PHASES[game["phase"]]))

    def close(self) -> None:
        self._screen.close()


# What PettingZoo's wrappers do around its classic games, without their cost: an illegal move ends the game with -1 for
# the offender and 0 for the others; an action outside the action space, or a call before `reset`, is an error.
class env(raw_env):
    __doc__ = MANUAL

    def step(self, action: int | None) -> None:
        if not hasattr(self, "agent_selection"):
            EnvLogger.error_step_before_reset()
        agent = self.agent_selection
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
        elif self.terminations[agent] or self.truncations[agent]:
            super().step(action)
        else:
            assert self.action_spaces[agent].contains(action), f"{action!r} is not in the action space"
            if self._batch.mask[0, action]:
                super().step(action)
            else:
                self._lose(agent)

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        if not hasattr(self, "agent_selection"):
            EnvLogger.error_observe_before_reset()
        return super().observe(agent)

    def _lose(self, offender: str) -> None:
        """End the game for an illegal move."""
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[offender] = 0.0
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[offender] = -1.0
        self._accumulate_rewards()
        self._deads_step_first()
