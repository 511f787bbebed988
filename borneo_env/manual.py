"""The manual of the environments: MANUAL.md, their docstring. What it lists comes from the tables themselves.

`borneo manual > borneo_env/MANUAL.md` renews it; a test compares.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from borneo_env.aec import env
from borneo_env.engine.actions import action_table
from borneo_env.engine.observe import LARGEST, SMALLEST, layout, length, state_layout, state_length
from borneo_env.engine.state import BOARD_SLOTS, CARD_SLOTS, PHASES
from borneo_env.rewards import REWARDS
from borneo_env.ruleset import Ruleset
from borneo_env.screen import RENDER_MODES
from borneo_env.seat import BorneoEnv
from borneo_env.vector import BorneoVectorEnv
from kontor.layout import Block

# The turn that is printed: a game of random players in which player 0 attacks, and a port's cargo is distributed.
TRACE_SEED = 1488

TEMPLATE = Path(__file__).with_name("manual.txt")
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


def manual() -> str:
    """The whole manual in Markdown: manual.txt with its tables."""
    return TEMPLATE.read_text(encoding="utf-8").format(
        actions=len(action_table(BOARD_SLOTS)),
        card_actions=len(action_table(CARD_SLOTS)),
        numbers=f"{length(BOARD_SLOTS):,}",
        card_numbers=f"{length(CARD_SLOTS):,}",
        state_numbers=f"{state_length(BOARD_SLOTS):,}",
        card_state_numbers=f"{state_length(CARD_SLOTS):,}",
        smallest=SMALLEST,
        largest=LARGEST,
        card_slots=CARD_SLOTS,
        turn=trace(),
        arguments=_arguments(),
        blocks_of_actions=_actions(),
        blocks_of_observations=_blocks(layout(BOARD_SLOTS)),
        blocks_of_states=_blocks(state_layout(BOARD_SLOTS)[len(layout(BOARD_SLOTS)) :]),
        rewards=rewards(),
    )


def rewards() -> str:
    """The rewards by name as a table."""
    return _table(("name", "meaning"), [(f"`{name}`", _first_line(reward)) for name, reward in REWARDS.items()])


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
    return _table(("block", "ids", "card edition", "meaning", "first"), rows)


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


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").splitlines()[0]
