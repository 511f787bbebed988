"""BorneoVecEnv: thousands of games as one vector environment of stable-baselines3, with one learner seat in each.

Opponents sit inside: scripted bots play on compiled, networks answer for all their games together. Games of 3, 4 and 5
players are played side by side, since observations and actions are the same. There is no loop over games in Python but
for those that have just ended, whose last observation stable-baselines3 wants in a dictionary each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from borneo_agents.policy.lookahead import OPTION_FEATURES, lookahead_in_batch
from borneo_agents.scripted.dispatch import NO_BOT, Bots
from borneo_agents.search.trials import Trials
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from borneo_env.engine.batch import Batch
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import copy_games
from borneo_env.rewards import Reward
from borneo_env.ruleset import Ruleset
from borneo_env.vector import Seats, seat_spaces
from borneo_train.extra import missing
from borneo_train.opponents import EARLIER, FIRST_NETWORK, Cast

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices, VecEnvStepReturn
except ModuleNotFoundError as error:
    raise missing(error) from None

LEARNER = -1


class Position(NamedTuple):
    """The games of a table before a step."""

    games: NDArray[np.void]
    seat: NDArray[np.int64]
    seated: NDArray[np.int64]


class Table(Seats):
    """The games of one player count: `Seats` whose opponents are cast anew for each game."""

    def __init__(self, size: int, ruleset: Ruleset, cast: Cast, rng: np.random.Generator, **settings: Any) -> None:
        self._cast = cast
        self._rng = rng
        super().__init__(size, ruleset, **settings)
        self._bots, self._trials = Bots(self.batch), Trials(self.batch)

    @property
    def seated(self) -> NDArray[np.int64]:
        """(games, players): who sits where: LEARNER, a kind of scripted bot, or FIRST_NETWORK and on."""
        return self._seated

    def go_on(self, batch: Batch, seat: NDArray[np.int64], seated: NDArray[np.int64]) -> None:
        """Go on with saved games, in which the learners decide."""
        if (len(batch), batch.ruleset) != (len(self), self.ruleset):
            raise ValueError(f"{len(batch)} games of {batch.ruleset.name} are no {len(self)} of {self.ruleset.name}")
        self._check_seats(seat, seated)
        self.put_back(Position(batch.games, seat, seated))
        self._check_turn()

    def _check_seats(self, seat: NDArray[np.int64], seated: NDArray[np.int64]) -> None:
        """Complain about seats that this table has not: the compiled loops trust them."""
        players = self.ruleset.players
        for found, own in ((seat, self.seat), (seated, self._seated)):
            if (found.dtype, found.shape) != (own.dtype, own.shape):
                raise ValueError(f"seats of {len(self)} games of {players} have another type or shape than they should")
        learners = np.arange(players) == seat[:, None]
        if not learners.any(1).all():
            raise ValueError(f"a learner sits in none of the seats 0 to {players - 1}")
        if self._cast.is_empty:  # the learner goes from seat to seat, and who else sits there does not matter
            learners = seated == LEARNER
        if ((seated == LEARNER) != learners).any() or not ((seated >= LEARNER) & (seated <= EARLIER)).all():
            raise ValueError(f"there are others at a table than the learner and the opponents {self._cast.name!r}")

    def position(self) -> Position:
        """What `put_back` needs to undo a step."""
        return Position(copy_games(self.batch.games), self.seat.copy(), self._seated.copy())

    def put_back(self, position: Position) -> None:
        """Go on from another position of the same games."""
        self.batch.games[:] = position.games
        self.batch.refresh()
        self.seat[:] = position.seat
        self._sit(np.arange(len(self)), position.seated)
        self._observe(self.observation)

    def check(self, actions: NDArray[np.integer[Any]]) -> None:
        """Complain about actions that are not legal decisions of the learners; nothing is played."""
        self._check_turn()
        self.batch.check(actions)
        self._refuse_passing(np.arange(len(self)), actions)

    def _check_turn(self) -> None:
        others = np.flatnonzero(self.batch.games["player"] != self.seat)
        if len(others):
            raise ValueError(f"in game {others[0]} it is not the learner who decides: reset the games first")

    def _refuse_passing(self, rows: NDArray[np.intp], actions: NDArray[np.integer[Any]]) -> None:
        """Complain about NO_ACTION, which is no decision."""
        for row in rows[actions == NO_ACTION][:1]:
            self.batch.step_game(int(row), NO_ACTION)

    def answer(self, rows: NDArray[np.intp], actions: ArrayLike) -> None:
        """Play the opponents' actions in the games that were waiting."""
        self._refuse_passing(rows, np.asarray(actions))
        super().answer(rows, actions)

    def _take_seats(self, chosen: NDArray[np.bool_]) -> None:
        super()._take_seats(chosen)
        rows = np.flatnonzero(chosen)
        seats = np.arange(self.ruleset.players)
        cast = self._cast.draw(self._rng, (len(rows), self.ruleset.players))
        self._sit(rows, np.where(seats == self.seat[rows, None], LEARNER, cast))

    def _sit(self, rows: NDArray[np.intp], seated: NDArray[np.int64]) -> None:
        self._seated[rows] = seated
        self._kinds = np.where(self._seated < FIRST_NETWORK, self._seated, NO_BOT).astype(np.int8)

    def _play_compiled(self, rows: NDArray[np.intp]) -> None:
        if self._cast.is_empty:
            self._follow_deciders(rows)
            return
        self._bots.play(self._kinds, rows)

    def _follow_deciders(self, rows: NDArray[np.intp]) -> None:
        """Seat the learner where a decision is to be made; where a game is over, it stays."""
        player = self.batch.games["player"][rows]
        self.seat[rows] = np.where(player >= 0, player, self.seat[rows])

    def features(self, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        """(rows, numbers): what there is to know about every option in some games, see `lookahead`."""
        return lookahead_in_batch(self.batch, rows)

    def worth(self, wanted: NDArray[np.bool_], turns: int) -> NDArray[np.float32]:
        """(games, actions): chances to win after the actions that are wanted, see `borneo_agents.search.trials`."""
        return self._trials.worth(wanted, turns)

    def _ask_opponents(self) -> None:
        """Networks are asked by the vector environment, for all tables together."""


class Decider(Protocol):
    """A network as an opponent."""

    def choose(
        self, observations: NDArray[np.int8], masks: NDArray[np.bool_], dice: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """A legal action for each decision."""


class BorneoVecEnv(VecEnv):
    """One learner seat in each of many games.

    Arguments:
        games: how many are played side by side, shared evenly among the player counts.
        cast: who the opponents are; without any, the learner decides for every seat, and rewards mean nothing.
        networks: those of the cast that are no scripted bots.
        players: the player counts.
        reward: a name from `borneo_env.rewards`, or a function.
        whole_table: observe the whole table, all hands included, for critics that know more than the player; the first
            numbers are what the seat knows.
        lookahead: observations are followed by features on every option (see `borneo_agents.policy.lookahead`).
        seed: decides deals, seats and opponents.
    """

    def __init__(
        self,
        games: int,
        cast: Cast,
        networks: Sequence[Decider] = (),
        *,
        players: Sequence[int] = (3, 4, 5),
        reward: str | Reward = "win",
        whole_table: bool = False,
        lookahead: bool = False,
        seed: int = 0,
        threads: int | None = None,
        **fields: Any,
    ) -> None:
        if games < len(players):
            raise ValueError(f"{games} games are too few for {len(players)} player counts: one for each at least")
        self.networks = networks
        self._cast = cast.name
        self.rng = np.random.default_rng(seed)
        sizes = [len(part) for part in np.array_split(np.arange(games), len(players))]
        self.tables = [
            Table(
                size,
                Ruleset(players=count, **fields),
                cast,
                self.rng,
                reward=reward,
                seed=seed,
                whole_table=whole_table,
                threads=threads,
            )
            for size, count in zip(sizes, players, strict=True)
        ]
        self._ends = np.cumsum(sizes)[:-1]
        self._infos: list[dict[str, Any]] = [{} for _ in range(games)]
        self._lookahead = lookahead
        shown, actions = seat_spaces(self.tables[0].ruleset, "int8", whole_table)
        if lookahead:
            shown = spaces.Box(-128, 127, (shown.shape[0] + MAX_OPTIONS * OPTION_FEATURES,), np.int8)
        self._shown = np.zeros((2, games, *shown.shape), np.int8)  # this step's and the last one's
        super().__init__(games, shown, actions)

    # ------------------------------------------------------------ what stable-baselines3 calls

    def reset(self) -> NDArray[np.int8]:
        """Deal new games: from the first on if a seed was given (`seed`), else the next ones."""
        seed = self._seeds[0]
        if seed is not None:  # in place: the tables draw from it too
            self.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
        for table in self.tables:
            table.reset(seed, None if seed is not None else True)
        self._bring_to_learners()
        self._reset_seeds()
        self._reset_options()
        return self.observations()

    def step_async(self, actions: NDArray[np.integer[Any]]) -> None:
        self._actions = np.split(np.asarray(actions), self._ends)

    def step_wait(self) -> VecEnvStepReturn:
        """Play on to the learners' next decisions; after an error or an interrupt, games are as they were before."""
        for table, actions in zip(self.tables, self._actions, strict=True):
            table.check(actions)  # at all tables, before anything is played at one
        with self._whole_or_not_at_all():
            for table, actions in zip(self.tables, self._actions, strict=True):
                table.begin(actions)
            self._bring_to_learners()
            rewards = np.concatenate([table.reward for table in self.tables])
            dones = np.concatenate([table.done for table in self.tables])
            infos = self._told(dones)
            return self.observations(), rewards, dones, infos

    @contextmanager
    def _whole_or_not_at_all(self) -> Iterator[None]:
        positions, drawn = [table.position() for table in self.tables], self.rng.bit_generator.state
        try:
            yield
        except BaseException:
            for table, position in zip(self.tables, positions, strict=True):
                table.put_back(position)
            self.rng.bit_generator.state = drawn
            raise

    def action_masks(self) -> NDArray[np.bool_]:
        """(games, actions): which actions are legal."""
        return np.concatenate([table.mask for table in self.tables])

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """For `action_masks`, which is all that masked algorithms ask for: a mask for each game."""
        if method_name != "action_masks":
            raise NotImplementedError(f"the games are no environments of their own: they have no {method_name!r}")
        return list(self.action_masks()[list(self._get_indices(indices))])

    def has_attr(self, attr_name: str) -> bool:
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        if attr_name != "render_mode":
            raise AttributeError(f"the games are no environments of their own: they have no {attr_name!r}")
        return [None for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise NotImplementedError("the games are no environments of their own: they have no attributes to set")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing is held."""

    # ------------------------------------------------------------ the games

    def observations(self) -> NDArray[np.int8]:
        """(games, numbers): what the learners see; the array is used again after the next step."""
        seen = [self._with_lookahead(table, table.observation, np.arange(len(table))) for table in self.tables]
        shown: NDArray[np.int8] = self._shown[1]
        np.concatenate(seen, out=shown)
        self._shown = self._shown[::-1]
        return shown

    def worth(self, wanted: NDArray[np.bool_], turns: int) -> NDArray[np.float32]:
        """(games, actions): one trial of each action that is wanted, see `borneo_agents.search.trials`."""
        parts = zip(self.tables, np.split(wanted, self._ends), strict=True)
        return np.concatenate([table.worth(part, turns) for table, part in parts])

    def _with_lookahead(self, table: Table, observations: NDArray[np.int8], rows: NDArray[np.intp]) -> NDArray[np.int8]:
        if not self._lookahead:
            return observations
        return np.concatenate([observations, table.features(rows)], 1)

    def _last(self, observation: NDArray[np.int8]) -> NDArray[np.int8]:
        """The last observation of a game, which has no options to note anything about."""
        shown: NDArray[np.int8] = np.zeros(self._shown.shape[2:], np.int8)
        shown[: len(observation)] = observation
        return shown

    def _bring_to_learners(self) -> None:
        """Play on in all games until every learner decides."""
        while len(np.concatenate(waiting := [table.waiting() for table in self.tables])):
            self._answer(waiting)
        for table in self.tables:
            table.finish()

    def _answer(self, waiting: list[NDArray[np.intp]]) -> None:
        """Play the decisions of networks in these games, each network once for all of its games."""
        asked = list(zip(self.tables, waiting, strict=True))
        looks = zip(*(self._look(table, rows) for table, rows in asked), strict=True)
        observations, masks, dice = map(np.concatenate, looks)
        who = np.concatenate([table.seated[rows, table.batch.player[rows]] for table, rows in asked])
        if who.max() >= FIRST_NETWORK + len(self.networks):
            raise ValueError(f"{len(self.networks)} networks were given, and the opponents {self._cast!r} have more")
        actions = np.full(len(who), NO_ACTION, np.int64)
        for number, network in enumerate(self.networks, start=FIRST_NETWORK):
            mine = np.flatnonzero(who == number)
            if len(mine) == len(who):  # nothing need be copied
                actions[:] = _answers(network, observations, masks, dice)
            elif len(mine):
                actions[mine] = _answers(network, observations[mine], masks[mine], dice[mine])
        ends = np.cumsum([len(rows) for rows in waiting])[:-1]
        for (table, rows), chosen in zip(asked, np.split(actions, ends), strict=True):
            if len(rows):
                table.answer(rows, chosen)

    def _look(
        self, table: Table, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.uint64]]:
        features = (
            [table.features(rows)] if self._lookahead else []
        )  # before the dice are rolled: those a `Policy` would get
        observations, masks, dice = table.batch.look(rows)
        return np.concatenate([observations, *features], 1), masks, dice

    def _told(self, dones: NDArray[np.bool_]) -> list[dict[str, Any]]:
        """The infos: those of games that ended have the last observation, and the game's points and places."""
        infos = self._infos.copy()
        offset = 0
        for table in self.tables:
            for row in np.flatnonzero(table.done).tolist():
                infos[offset + row] = {
                    "terminal_observation": self._last(table.final_observation[row]),
                    "scores": table.final_scores[row].copy(),
                    "places": table.final_places[row].copy(),
                    "seat": int(table.final_seat[row]),
                }
            offset += len(table)
        return infos


def _answers(
    network: Decider, observations: NDArray[np.int8], masks: NDArray[np.bool_], dice: NDArray[np.uint64]
) -> NDArray[np.integer[Any]]:
    """The actions of a network; anything but a whole number for each decision is refused."""
    actions = np.asarray(network.choose(observations, masks, dice))
    if actions.shape != dice.shape or actions.dtype.kind not in "iu":
        raise TypeError(f"a network decides by {len(dice)} whole numbers, not by {actions.dtype} of {actions.shape}")
    return actions
