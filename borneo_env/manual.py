"""The manual of the environments: MANUAL.md, their docstring. What it lists comes from the tables themselves.

`borneo manual > borneo_env/MANUAL.md` renews it; a test compares.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, fields
from typing import Any

from borneo_env.aec import env
from borneo_env.engine.actions import action_table
from borneo_env.engine.observe import LARGEST, SMALLEST, Block, layout, length, state_layout, state_length
from borneo_env.engine.state import BOARD_SLOTS, CARD_SLOTS, PHASES
from borneo_env.rewards import REWARDS
from borneo_env.ruleset import Ruleset
from borneo_env.screen import RENDER_MODES
from borneo_env.seat import BorneoEnv
from borneo_env.vector import BorneoVectorEnv

# The turn that is printed: a game of random players in which player 0 attacks, and a port's cargo is distributed.
TRACE_SEED = 1488

MEANINGS = {
    "ruleset": "a `Ruleset`, or its fields as keywords, below",
    "reward": "a name from the table of rewards, or a function like those in `borneo_env/rewards.py`",
    "dtype": "of the observations: `int8` or `float32`",
    "illegal": "what an illegal action does: `raise` an error, or `end` the game with a reward of -1",
    "mask_in_observation": "observations are dicts with `observation` and `action_mask`, as PettingZoo's are",
    "legal_moves": "whether `infos` tell the legal moves in words",
    "skip_forced": "play decisions with a single legal option without asking",
    "render_mode": f"{', '.join(f'`{mode}`' for mode in RENDER_MODES)} or None; the last two want the extra `render`",
    "viewer": "whose eyes `render` shows the game to: a seat, -1 for a spectator, None for the whole table",
    "opponents": "a name for all other seats, each with an agent of its own; one agent that plays them all; or a list: "
    "one for each, in turn order from the learner",
    "seat": "the learner's seat, or `random`: drawn anew for each game",
    "num_envs": "how many games are played side by side",
    "threads": "how many threads step them, None for all cores; the games do not depend on it",
}

VERSIONS = (("v0", "the first: 370 actions and 969 numbers in the board edition, 870 and 1,169 in the card edition"),)

INTRODUCTION = """\
# Borneo

Spice traders, 3 to 5 of them, with hidden hands: place traders on the ladders of four companies, attack the ranks
above, ship cargo to three ports, take your share when a port is full, and pay contracts with the spices. Whoever has
most points at the end wins. The rules are in `RULES.md`."""

TURNS = """\
## Who decides

The environment asks for one decision at a time. The same agent may be asked several times in a row, and a player may be
asked in another's turn: the defender of a contest, and all who take cargo in a distribution. So look at
`env.agent_selection` after every step; agents do not simply take turns. Decisions with a single legal option are played
without asking, unless `skip_forced=False`: a player who can only decline is not asked.

This is one turn of `player_0`, with random players: no contract, an attack with two cards, the beaten `player_1` moves
its trader to another company, a card is shipped, the port is full, and three players take its cargo."""

RULES_OF_USE = """\
## What the environments do

- `env.observe(agent)` works at any time for any seat: an agent that does not decide gets a mask of zeros.
- Whether a decision of the phases traders, commit and defend is forced can follow from a hidden hand, and then that it
  is asked for is a secret. While one is open, those who do not decide are shown the table as it was at the last
  decision they know of: one of another phase, or one of their own. `render` with a `viewer` does the same. The order in
  which the environment asks (`agent_selection`) still tells the program that runs it about forced decisions: do not
  feed it to a policy, or use `skip_forced=False`, which asks for all of them and hides none.
- `env()` does what PettingZoo's wrappers do around the classic games: an illegal move ends the game with -1 for the
  offender and 0 for the others, an action outside the action space or a call before `reset` is an error.
  `raw_env()` raises `IllegalMove`, which names the legal moves, and leaves the game as it was.
- A step that breaks off in the middle (Ctrl-C, an error in an opponent or in a reward of your own) cannot be gone on
  with: `ResetNeeded` says so until `reset` deals a new game.
- At the end every seat gets its reward in the last step. `infos[agent]["phase"]` is the phase of
  the agent's last decision, as its number in `borneo_env.PHASES`.
- `reset(seed=7)` deals the first game of seed 7; `reset()` deals the next one. The same seed gives the same games on
  every machine.
- `copy.deepcopy`, `pickle`, `get_state()` and `set_state(state)` work in mid-game; the copy plays on identically.
- Observations, masks, infos and `env.table` are copies: keep them, or write into them.
- `env.unwrapped.explain(observation)` says an observation in words; `borneo_env.engine.observe.split` gives its blocks.
- `BorneoEnv` (`gymnasium.make("borneo_env:Borneo-v0")`) is one learner seat against opponents. Its reward is what
  happened since the learner's last decision; `action_masks()` and `info["action_mask"]` say what is legal, and
  with `mask_in_observation=True` the observation does.
- `BorneoVectorEnv` (`gymnasium.make_vec(..., vectorization_mode="vector_entry_point")`) plays many such games at once.
  A game that ends is dealt anew in the same step (`AutoresetMode.SAME_STEP`); `infos["final_obs"]` and
  `infos["final_info"]` have what it came to. `borneo_env.Seats` is the same as plain arrays."""


def manual() -> str:
    """The whole manual in Markdown."""
    parts = [
        INTRODUCTION,
        _summary(),
        TURNS,
        f"```\n{trace()}\n```",
        RULES_OF_USE,
        "## Arguments\n\n" + _arguments(),
        "## Actions\n\n" + _actions(),
        "## Observation\n\n" + _observation(),
        "## State\n\n" + _state(),
        "## Rewards\n\n" + rewards(),
        "## Version history\n\n" + _table(("version", "what changed"), VERSIONS),
    ]
    return "\n\n".join(parts) + "\n"


def rewards() -> str:
    """The rewards by name as a table."""
    return _table(("name", "meaning"), [(f"`{name}`", _first_line(reward)) for name, reward in REWARDS.items()])


def _summary() -> str:
    both = [_thousands(len(action_table(slots))) for slots in (BOARD_SLOTS, CARD_SLOTS)]
    seen = [_thousands(length(slots)) for slots in (BOARD_SLOTS, CARD_SLOTS)]
    whole = [_thousands(state_length(slots)) for slots in (BOARD_SLOTS, CARD_SLOTS)]
    rows = [
        ("import", "`borneo_env.env()`, `borneo_env.raw_env()`"),
        ("by name", '`pettingzoo.make("aec", "borneo_v0")`, after `import borneo_env`'),
        ("agents", "`player_0` to `player_4`, as many as there are players"),
        ("action space", f"`Discrete({both[0]})`; {both[1]} in the card edition"),
        ("observation", '`{"observation", "action_mask"}`, the same for every seat and number of players'),
        ("numbers", f"{seen[0]} from {SMALLEST} to {LARGEST}; {seen[1]} in the card edition"),
        ("state", f"{whole[0]} numbers; {whole[1]} in the card edition"),
        ("parallel", "no: it is always one agent's decision"),
    ]
    return _table(("", ""), rows)


def trace() -> str:
    """One turn of a game, decision by decision."""
    game = env(players=4, legal_moves=True)
    game.reset(seed=TRACE_SEED)
    choices = random.Random(TRACE_SEED)
    turns: list[list[tuple[str, ...]]] = [[]]
    whose = -1
    while not all(game.terminations.values()):
        if game.table["turn"] != whose:
            whose = game.table["turn"]
            turns.append([])
        agent = game.agent_selection
        observation, _, _, _, info = game.last()
        legal = observation["action_mask"].nonzero()[0]
        nth = int(choices.random() * len(legal))
        turns[-1].append((agent, PHASES[info["phase"]], f"{len(legal)} legal", info["legal_moves"][nth]))
        game.step(int(legal[nth]))
    shown = next(turn for turn in turns if _takes_place(turn))
    widths = [max(len(row[column]) for row in shown) for column in range(4)]
    return "\n".join("   ".join(map(str.ljust, row, widths)).rstrip() for row in shown)


def _takes_place(turn: Sequence[tuple[str, ...]]) -> bool:
    takers = {row[0] for row in turn if row[1] == "take"}
    return len(takers) >= 3 and any(row[3] == "commit done" for row in turn)


def _arguments() -> str:
    return "\n\n".join(
        f"{title}:\n\n{_table(('argument', 'default', 'meaning'), rows)}"
        for title, rows in (
            ("`env` and `raw_env`", _parameters(env)),
            ("fields of the ruleset", [_argument(one, one.metadata["meaning"]) for one in fields(Ruleset)]),
            ("`BorneoEnv`", _parameters(BorneoEnv)),
            ("`BorneoVectorEnv`", _parameters(BorneoVectorEnv)),
        )
    )


def _parameters(kind: Callable[..., Any]) -> list[tuple[str, ...]]:
    parameters = inspect.signature(kind).parameters.values()
    return [_argument(p, MEANINGS[p.name]) for p in parameters if p.kind is not p.VAR_KEYWORD]


def _argument(one: inspect.Parameter | Field[Any], meaning: str) -> tuple[str, ...]:
    return f"`{one.name}`", f"`{one.default!r}`", meaning


def _actions() -> str:
    board, card = action_table(BOARD_SLOTS), action_table(CARD_SLOTS)
    rows = [
        (block.name, _span(block.start, block.size), _span(other.start, other.size), block.meaning, f"`{texts[0]}`")
        for block, other in zip(board.blocks, card.blocks, strict=True)
        for texts in [board.texts(block.start)]
    ]
    lead = (
        "One flat space of named blocks; `borneo actions` prints every id with its text.\n"
        "The cards of an attack or a defence are chosen one by one in ascending order of their ids, and then `pass`:\n"
        "so every set of cards is one sequence of actions. After card 17 only cards above 17 are legal.\n\n"
    )
    return lead + _table(("block", "ids", "card edition", "meaning", "first"), rows)


def _observation() -> str:
    lead = (
        "Seats are counted from the viewer (0 is the viewer, 1 the left neighbour, ...) and padded to five.\n"
        "`borneo_env.engine.observe.LAYOUT` has the same table.\n\n"
    )
    note = f"\n\nIn the card edition the ladders have {CARD_SLOTS} ranks; nothing else differs."
    return lead + _blocks(layout(BOARD_SLOTS)) + note


def _state() -> str:
    lead = "`env.state()` is for centralised critics: the observation of `player_0`, and behind it the secrets.\n\n"
    return lead + _blocks(state_layout(BOARD_SLOTS)[len(layout(BOARD_SLOTS)) :])


def _blocks(blocks: Iterable[Block]) -> str:
    rows = []
    for block in blocks:
        shape = " x ".join(f"{len(axis.labels)} {axis.name}" for axis in block.axes) or "1"
        rows.append((f"`{block.name}`", str(block.slice.start), shape, block.meaning))
    return _table(("block", "from", "shape", "meaning"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _span(start: int, size: int) -> str:
    return str(start) if size == 1 else f"{start} to {start + size - 1}"


def _thousands(number: int) -> str:
    return f"{number:,}"


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").splitlines()[0]
