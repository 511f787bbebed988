"""The PettingZoo environment: one game, every seat an agent, one decision at a time."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from kontor.compile import attributes, machine_code
from kontor.engine.arguments import is_whole
from kontor.engine.batch import Batch, IllegalMove, fresh_seed, ruleset_of
from kontor.envs.screen import Screen
from kontor.envs.seats import INTERRUPTED, NO_GAME
from kontor.envs.spaces import explained, seat_spaces, with_mask
from kontor.fields import OVER, SPECTATOR
from kontor.files import in_short
from kontor.game import Game
from kontor.layout import LARGEST, SMALLEST, length
from kontor.rewards import Named, Reward, find_reward
from kontor.ruleset import Ruleset
from kontor.templates import loops

_AFTER_RESET = ("agent_selection", "rewards", "terminations", "truncations", "infos")

Made = tuple[int, int, bytes]  # a move: who made it, the action, and the record of the game before it


class raw_env(AECEnv):  # type: ignore[misc]  # PettingZoo has no types; the name is PettingZoo's, too
    """A game in which every seat is an agent, and one of them decides at a time.

    Arguments:
        ruleset: a ruleset, or a game, itself or by its name; then the ruleset's fields go as keywords.
        reward: a name from the game's table of rewards, or a function like those of `kontor.rewards`.
        dtype: of the observations: `int8` or `float32`.
        legal_moves: whether `infos` tell the legal moves in words.
        skip_forced: play decisions with a single legal option without asking.
        render_mode: "ansi" or None.
        viewer: whose eyes `render` shows the game to: a seat, -1 for a spectator, None for the whole table.
    """

    plays: ClassVar[Game | None] = None  # a game's own class says which
    screen: ClassVar[type[Screen]] = Screen
    metadata = {  # noqa: RUF012  # PettingZoo wants a plain dict
        "name": "kontor_v0",
        "render_modes": Screen.modes,
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        ruleset: Ruleset | Game | str | None = None,
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
        self.ruleset = ruleset_of(self.plays, ruleset, fields)
        game = self.ruleset.game
        self.metadata = self.metadata | {"name": f"{game.name}_v0"}
        self._telltale = {game.phase_names.index(phase): declining for phase, declining in game.telltale.items()}
        players = self.ruleset.players
        if viewer is not None and not (is_whole(viewer) and SPECTATOR <= viewer < players):
            raise ValueError(
                f"viewer {viewer!r} does not exist; use 0 to {players - 1}, {SPECTATOR} for a spectator, "
                "or None for the table"
            )
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self.render_mode = render_mode
        self.viewer = viewer
        self.skip_forced = skip_forced
        self._obstacle = NO_GAME  # why nothing can be done before `reset`; empty if there is a game
        self._viewers = (None, SPECTATOR, *range(players))  # None sees everything
        self._screen = self.screen(render_mode)
        self._reward = find_reward(game, reward)
        self._rewards_at_the_end = isinstance(self._reward, Named) and self._reward.at_the_end
        self._dtype = np.dtype(dtype)
        self._tell_legal_moves = legal_moves
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._box = attributes(game.box(self.ruleset))
        self._batch = Batch(1, self.ruleset, seed=fresh_seed(), finished="hold", skip_forced=skip_forced, threads=1)
        observation, action = seat_spaces(self.ruleset, dtype)
        self.observation_spaces = dict.fromkeys(self.possible_agents, with_mask(observation, action))
        self.action_spaces = dict.fromkeys(self.possible_agents, action)
        self._length = observation.shape[0]
        self._no_mask = np.zeros(action.n, np.int8)
        self.state_space = spaces.Box(SMALLEST, LARGEST, (length(game.state_layout(self.ruleset)),), np.int8)

    def __getattr__(self, name: str) -> Any:
        """Refuse what `reset` makes as PettingZoo does."""
        if name in _AFTER_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        name = f"{type(self).__name__} of {self.ruleset.name}"
        if self._obstacle:
            return f"<{name}: {self._obstacle}>"
        if self._player == OVER:
            return f"<{name}: the game is over>"
        return f"<{name}: {self.agent_selection} decides, phase {self._batch.phase_name()}>"

    @property
    def table(self) -> np.void:
        """A copy of the game record, secrets included: read its fields by name, `env.table["turn"]`."""
        self._check_game("table")
        game: np.void = self._game(self._batch.games.tobytes())[0]
        return game

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        self._seat(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        self._seat(agent)
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game: the first one of a seed, or the next one of the present seed."""
        obstacle, self._obstacle = self._obstacle, INTERRUPTED
        try:
            self._batch.reset(seed, None if seed is not None else True)
        except ValueError:  # the seed is none, and nothing has been dealt
            self._obstacle = obstacle
            raise
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._dealt = self._batch.games.tobytes()
        self._told: dict[int | None, Made | None] = dict.fromkeys(self._viewers)  # the last move each knows of
        # the table, and that move, when they last saw it
        self._seen: dict[int | None, tuple[bytes, Made | None]] = dict.fromkeys(self._viewers, (self._dealt, None))
        self._look()
        self.infos = {agent: {"phase": self._phase} for agent in self.agents}
        self._ask()
        self._obstacle = ""
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play an action of the deciding agent; IllegalMove changes nothing and says what is legal."""
        if self._obstacle:
            self._check_game("step")
        agent = self.agent_selection
        if not self.agents:
            raise IllegalMove("the game is over: reset() deals the next one")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not is_whole(action):
            raise TypeError(f"an action is a whole number, not {action!r}")
        move = self._seats[agent], int(action), self._batch.games.tobytes()
        self._obstacle = INTERRUPTED
        try:
            self._batch.step_game(0, move[1])
        except IllegalMove:
            self._obstacle = ""
            raise
        self._tell(move)
        self._look()
        self._cumulative_rewards[agent] = 0.0
        self._give_rewards(move[2])
        self._ask()
        self._obstacle = ""
        if self.render_mode == "human":
            self.render()

    def _tell(self, move: Made) -> None:
        """Tell a move to all, or to who made it if it could have been forced."""
        if self._hushed and not self._was_free(move[1]):
            self._told |= {None: move, move[0]: move}
        else:
            self._told = dict.fromkeys(self._viewers, move)

    def _was_free(self, action: int) -> bool:
        """Whether a move cannot have been forced: who makes it could have declined."""
        phase = self.ruleset.game.phase_names[self._phase]
        return self._telltale[self._phase] and not self._batch.actions.move(action, phase).declines

    def _look(self) -> None:
        """Show the table to all who may know that this decision is asked for; the others keep what they saw last."""
        self._phase: int = self._batch.phase.item(0)  # as Python's numbers, which are quicker to read than numpy's
        self._player: int = self._batch.player.item(0)
        self._hushed = (
            self.skip_forced and self._phase in self._telltale
        )  # only who decides may know that this is asked for
        table = self._batch.games.tobytes()
        for viewer in (None, self._player) if self._hushed else self._viewers:
            self._seen[viewer] = table, self._told[viewer]

    def _give_rewards(self, before: bytes) -> None:
        over = self._player == OVER
        if over:
            self.terminations = dict.fromkeys(self.agents, True)
        if over or not self._rewards_at_the_end:
            start = self._game(self._dealt if self._rewards_at_the_end else before)
            end = self._game(self._batch.games.tobytes())  # a copy: a function of the user's own may write into it
            values = self._reward(self.ruleset, start, end)[0].tolist()
            self.rewards = dict(zip(self.agents, values, strict=True))
            self._accumulate_rewards()

    def _ask(self) -> None:
        """Turn to the agent who decides, and tell it what is being decided."""
        if self._player >= 0:
            self.agent_selection = self.possible_agents[self._player]
        info: dict[str, Any] = {"phase": self._phase}  # no word: libraries make tensors of infos
        if self._tell_legal_moves:
            info["legal_moves"] = self._batch.legal_moves()
        self.infos[self.agent_selection] = info

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What an agent may know now; if it is not its decision, the mask is all zero.

        That a decision is asked for can tell of a hand (`Game.telltale`). While one is open, the others are
        shown the table as it was at the last decision they know of: any other one, or one of their own.
        """
        if self._obstacle:
            self._check_game("observe")
        seat = self._seat(agent)
        observation = np.empty(self._length, self._dtype)
        decides = self._player == seat
        games = self._game(self._seen[seat][0]) if self._hushed and not decides else self._batch.games
        _observe_game(self.ruleset.game, self._dtype)(self._box, attributes(games), 0, seat, observation)
        mask = self._batch.mask[0].astype(np.int8) if decides else self._no_mask.copy()
        return {"observation": observation, "action_mask": mask}

    def _seat(self, agent: str) -> int:
        """The seat of an agent; whoever asks for no agent of this game is told which there are."""
        try:
            return self._seats[agent]
        except KeyError:
            raise KeyError(f"there is no agent {in_short(agent)}; use one of {', '.join(self._seats)}") from None

    def _check_game(self, what: str) -> None:
        if self._obstacle == NO_GAME:
            raise AssertionError(f"reset() needs to be called before {what}.")
        if self._obstacle:
            raise ResetNeeded(self._obstacle)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """The agents one after the other, each when it decides."""
        self._check_game("agent_iter()")
        return super().agent_iter(max_iter)

    def state(self) -> NDArray[np.int8]:
        """The whole table for centralised critics: what player 0 knows, then what is hidden."""
        self._check_game("state")
        state: NDArray[np.int8] = self._batch.state()[0]
        return state

    def explain(self, observation: NDArray[Any]) -> str:
        """An observation in words."""
        return explained(self.ruleset, observation)

    def render(self) -> Any:
        """The position in the way of the render mode."""
        self._check_game("render")
        return self._screen.show(self.ruleset, *self._sight())

    def _sight(self) -> tuple[np.void, int | None, str]:
        """The game as the viewer may see it now, the viewer, and the last move in words."""
        table, told = self._seen[self.viewer]
        words = ""
        if told is not None:
            seat, action, before = told
            game = self._game(before)[0]
            words = self._in_words(game, seat, action)
        return self._game(table)[0], self.viewer, words

    def _in_words(self, game: np.void, seat: int, action: int) -> str:
        """A move in words: its text, for the table and for whoever made it; others need not know all of it."""
        if self.viewer not in (None, seat):
            return ""
        played = self.ruleset.game
        return f"player {seat}: {self._batch.actions.text(action, played.phase_names[game['phase']])}"

    def _game(self, record: bytes) -> NDArray[np.void]:
        """The game of a record, as an array of one."""
        return np.frombuffer(bytearray(record), self.ruleset.game.record)

    def close(self) -> None:
        self._screen.close()


@cache
def _observe_game(game: Game, dtype: np.dtype[Any]) -> Any:
    """The machine code of `observe_game` for observations of this type."""
    box = game.box(next(iter(game.Ruleset.every())))
    function = game.of(loops).observe_game
    return machine_code(function, np.zeros(1, box.dtype), np.zeros(1, game.record), 0, 0, np.zeros(1, dtype))


# What PettingZoo's wrappers do around its classic games, without their cost: an illegal move ends the game with -1 for
# the offender and 0 for the others; an action outside the action space is an error, one after the end a warning.
class env(raw_env):
    """A game in which every seat is an agent, and an illegal move loses it; else see `raw_env`."""

    def step(self, action: int | None) -> None:
        if self._obstacle:
            self._check_game("step")
        agent = self.agent_selection
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
        elif self.terminations[agent] or self.truncations[agent]:
            super().step(action)
        else:
            inside = is_whole(action) and 0 <= action < self.action_spaces[agent].n
            assert inside, f"{action!r} is not in the action space"
            if self._batch.mask[0, action]:
                super().step(action)
            else:
                self._lose(agent)

    def _lose(self, offender: str) -> None:
        """End the game for an illegal move."""
        EnvLogger.warn_on_illegal_move()
        self._obstacle = INTERRUPTED
        self._cumulative_rewards[offender] = 0.0
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[offender] = -1.0
        self._accumulate_rewards()
        self._deads_step_first()
        self._obstacle = ""
