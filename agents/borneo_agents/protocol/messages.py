"""The messages of the protocol: what is said to bots, and what their answers mean.

All that is said of a game is made from the redacted view of the seat that decides.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_agents.protocol.process import BotFailed
from borneo_agents.protocol.words import in_words
from borneo_env.agent import Views
from borneo_env.engine.actions import ACTION_VERSION, action_table
from borneo_env.engine.games import observe
from borneo_env.engine.observe import OBSERVATION_VERSION, layout
from borneo_env.engine.state import PHASES, slots_of
from borneo_env.ruleset import Ruleset
from kontor.files import in_short, parse_json

PROTOCOL = "borneo-protocol/1"
WORDS, NUMBERS, RECORD = "words", "numbers", "record"  # how a bot can have the game
LARGEST_BATCH = 1024  # decisions in a line
LONGEST_ANSWER = 1000  # bytes for a decision, and for a greeting
LONGEST_NAME = 80  # characters

Message = dict[str, Any]


class IllegalAnswer(BotFailed):
    """An answer that is none of the moves."""


class OwnError(BotFailed):
    """The bot itself says that it cannot answer."""


@dataclass(frozen=True)
class Introduction:
    """What a bot says of itself."""

    name: str = ""
    wants: tuple[str, ...] = (WORDS,)
    batch: int = 0  # decisions that it takes in a line; 0 for one at a time, without a list
    ends: bool = False  # whether it is told how its games have ended
    memoryless: bool = False  # whether it decides each view by itself
    version: str = ""  # stands for its code, if it likes


# ---------------------------------------------------------------- to the bot


_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def line_of(message: Message) -> bytes:
    return _encode(message).encode() + b"\n"


HELLO: Message = {"type": "hello", "protocol": PROTOCOL}
QUIT: Message = {"type": "quit"}


@cache
def rules_of(ruleset: Ruleset) -> Message:
    """Which game is played, with all its cards, and how observations are laid out."""
    slots = slots_of(ruleset)
    return {
        "type": "rules",
        "ruleset": ruleset.choices,
        "tables": asdict(ruleset.tables),
        "actions": len(action_table(slots)),
        "action_version": ACTION_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "observation": [{"name": block.name, "start": block.start, "shape": block.shape} for block in layout(slots)],
    }


class Asked(NamedTuple):
    """What is said of a decision, as JSON, and the moves it can be answered with."""

    text: str
    moves: list[str]
    actions: list[int]


def decisions(views: Views, games: Sequence[int] | None, wants: Sequence[str]) -> list[Asked]:
    """What is said of each view; `games` are the numbers of the games, where they are known."""
    told: dict[str, Callable[[], Iterable[Any]]] = {
        WORDS: lambda: in_words(views.ruleset, views.games),
        NUMBERS: lambda: _observations(views).tolist(),
        RECORD: lambda: (b64encode(game.tobytes()).decode() for game in views.games),
    }
    wanted = {kind: list(told[kind]()) for kind in wants}
    slots, phases = slots_of(views.ruleset), views.games["phase"].tolist()
    known = zip(phases, views.player.tolist(), views.dice.tolist(), views.mask, strict=True)
    found = []
    for i, (phase, seat, dice, mask) in enumerate(known):
        actions, texts = np.flatnonzero(mask).tolist(), _texts(slots, PHASES[phase])
        moves = [texts[action] for action in actions]
        message = {
            "type": "decide", "game": None if games is None else games[i], "seat": seat, "phase": PHASES[phase],
            "dice": f"{dice:016x}", "moves": moves, "actions": actions, **{kind: wanted[kind][i] for kind in wants},
        }  # fmt: skip
        found.append(Asked(_encode(message), moves, actions))
    return found


def _observations(views: Views) -> NDArray[np.int8]:
    """As `views.observe()` has them, for views that are as the engine has made them."""
    views.arrays()  # refuses wrong ones, as for compiled bots
    return observe(views.ruleset, views.games, views.player, check=False)


@cache
def _texts(slots: int, phase: str) -> list[str]:
    """The text of each action in a phase."""
    table = action_table(slots)
    return [table.text(action, phase) for action in range(len(table))]


def question_of(some: Sequence[Asked], batch: bool) -> bytes:
    """The line that asks for decisions."""
    text = f'{{"type":"batch","decisions":[{",".join([one.text for one in some])}]}}' if batch else some[0].text
    return text.encode() + b"\n"


def over(game: int, seat: int, scores: Sequence[int], places: Sequence[int], lost_by: int | None) -> Message:
    """How a game has ended; `lost_by` is the seat that lost it by a fault."""
    return {"type": "over", "game": game, "seat": seat, "scores": scores, "places": places, "lost_by": lost_by}


# ---------------------------------------------------------------- from the bot


def parsed(line: bytes) -> Message:
    """An answer as a JSON object; one that says `error` raises it."""
    try:
        answer = parse_json(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise BotFailed(f"the answer {in_short(line)} is not text in UTF-8") from None
    except ValueError as error:
        raise BotFailed(f"the answer {in_short(line.decode())} is not JSON: {error}") from None
    if not isinstance(answer, dict):
        raise BotFailed(f'the answer {in_short(answer)} is no JSON object, such as {{"move": ...}}')
    if "error" in answer:
        raise OwnError(str(answer["error"]))
    return answer


def introduction(answer: Message) -> Introduction:
    """What a bot says of itself, checked."""
    if answer.get("protocol") != PROTOCOL:
        raise BotFailed(
            f"the bot speaks {in_short(answer.get('protocol'))}, not {PROTOCOL}: its greeting is to name that protocol"
        )
    unknown = [key for key in answer if key != "protocol" and key not in Introduction.__dataclass_fields__]
    if unknown:
        raise BotFailed(f"the greeting has an entry {in_short(unknown[0])} that {PROTOCOL} does not know")
    told = Introduction(**{key: answer[key] for key in answer if key != "protocol"})
    kinds = {"name": str, "wants": list, "batch": int, "ends": bool, "memoryless": bool, "version": str}
    for key, kind in kinds.items():
        if key in answer and type(answer[key]) is not kind:
            raise BotFailed(f"the greeting has {key} as {in_short(answer[key])}; it should be of type {kind.__name__}")
    if not all(one in (WORDS, NUMBERS, RECORD) for one in told.wants):
        raise BotFailed(f"the greeting wants {in_short(told.wants)}; there are {WORDS}, {NUMBERS} and {RECORD}")
    if not 0 <= told.batch <= LARGEST_BATCH:
        raise BotFailed(f"the greeting wants batches of {in_short(told.batch)}; 0 to {LARGEST_BATCH} are possible")
    if max(len(told.name), len(told.version)) > LONGEST_NAME:
        raise BotFailed(f"the greeting has a name or a version of more than {LONGEST_NAME} characters")
    return told


def check_ready(answer: Message) -> None:
    if answer.get("ready") is not True:
        raise BotFailed(f'the bot answered the rules with {in_short(answer)}; it should say {{"ready": true}}')


def chosen(answer: Message, asked: Sequence[Asked], batch: bool) -> list[int]:
    """The action of each move in an answer: a text, or an id."""
    key = "moves" if batch else "move"
    if key not in answer:
        raise BotFailed(f"the answer {in_short(answer)} has no entry {key!r}")
    moves = answer[key] if batch else [answer[key]]
    if not isinstance(moves, list) or len(moves) != len(asked):
        raise BotFailed(f"the answer {in_short(answer)} has no list of {len(asked)} moves, one for each decision")
    return [_action(move, decision) for move, decision in zip(moves, asked, strict=True)]


def _action(move: Any, decision: Asked) -> int:
    if type(move) is str and move in decision.moves:
        return decision.actions[decision.moves.index(move)]
    if type(move) is int and move in decision.actions:
        return move
    raise IllegalAnswer(f"{in_short(move)} is not legal here; legal are: {', '.join(decision.moves)}")
