"""What a training can be made of, and what one that goes on may find in its folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import torch

from borneo_env.agent import UnknownAgent, check_agents, check_registered, find_agent
from borneo_env.engine.threads import available_cores
from borneo_env.files import on_one_line
from borneo_env.ruleset import EDITIONS, PLAYER_COUNTS, Ruleset
from borneo_train.checkpoint import CheckpointError
from borneo_train.network import NETWORKS, Width
from borneo_train.settings import Settings, option, shape
from borneo_train.tasks import TASKS, Measurement

MAY_CHANGE = ("timesteps", "minutes")  # when a training is taken up again
MOST = 1e15  # steps, seconds and measures are smaller


def filled(settings: Settings) -> Settings:
    """The same with what this machine adds."""
    return settings.filled(torch.cuda.is_available(), available_cores())


def check(settings: Settings) -> None:
    """Complain about settings nothing can be trained with; those of the device are filled in."""
    check_one_by_one(settings)
    settings.check_parts()
    if settings.frozen + settings.bots > 1:
        raise ValueError("--frozen and --bots are shares of the same games: together at most 1")
    if settings.opponent and not settings.frozen:
        raise ValueError("--opponent sits in a share of the games: say in which with --frozen")
    agents = {name: find_agent(name) for name in (*settings.tables(), settings.bot)}
    for count in settings.counts():
        check_agents(agents, Ruleset(settings.edition, count))


def check_one_by_one(settings: Settings) -> None:
    """Complain about settings that make no sense whatever the others are."""
    choices: dict[str, Iterable[str]] = {"task": TASKS, "edition": EDITIONS, "network": NETWORKS}
    for name, known in choices.items():
        if getattr(settings, name) not in known:
            raise ValueError(f"--{name} {getattr(settings, name)!r} is not known; use one of {', '.join(known)}")
    counts = settings.counts()
    if len(set(counts)) < len(counts) or not set(counts) <= set(PLAYER_COUNTS):
        raise ValueError(f"--players wants some of 3,4,5, each once, not {settings.players!r}")
    settings.check_numbers()
    for name in ("actor", "critic", *["quick"] * bool(settings.quick)):
        Width.of(settings.network, shape(getattr(settings, name), option(name))[0])


def lengthened(before: Settings, given: Settings) -> Settings:
    """The same with the length that is given now, if one is. Minutes beside timesteps are those of a session."""
    timesteps = given.timesteps or before.timesteps
    return replace(before, timesteps=timesteps, minutes=given.minutes or (0.0 if timesteps else before.minutes))


def check_notes(path: Path, notes: dict[str, Any], settings: Settings) -> None:
    """Complain about notes of a checkpoint that no training has made."""
    measures = [measure.name for measure in TASKS[settings.task]]
    measured = set(product(measures, settings.tables(), settings.counts()))
    try:
        values = [notes["seconds"], notes["best"] or 0]
        if type(notes["curve"]) is not list or notes["seconds"] < 0:
            raise ValueError("it has a list as its curve, and seconds from 0")
        for entry in notes["curve"]:
            found = [Measurement(**one) for one in entry["strength"]]
            if {(one.measure, one.against, one.players) for one in found} != measured:
                raise ValueError("the curve is that of another training")
            values += [entry["steps"], *(value for one in found for value in (one.value, one.low or 0, one.high or 0))]
        if not all(type(value) in (int, float) and abs(value) < MOST for value in values):
            raise ValueError("a number is none, or too large")
    except (ValueError, KeyError, TypeError) as error:
        told = on_one_line(str(error))
        raise CheckpointError(f"{path}: cannot go on from this checkpoint: its notes: {told}") from None


def refuse_code(path: Path, before: Settings, given: Settings) -> None:
    """Complain about an agent in a file that is no registered one: finding it would run code that the file names."""
    named = {"against": before.tables(), "bot": [before.bot]}
    for name, agents in named.items():
        if getattr(given, name) == getattr(before, name):
            continue  # somebody has given it, who may run what they like
        try:
            for agent in agents:
                check_registered(agent)
        except UnknownAgent as error:
            told = f"if you trust this one, resume with {option(name)} and its name"
            raise UnknownAgent(f"{path}: {error}; {told}") from None


def refuse_other_settings(given: Settings, before: Settings, typed: Collection[str]) -> None:
    """Complain about what cannot be changed once a training has begun, if somebody has typed it."""
    for name, value in before.as_dict().items():
        wish = getattr(given, name)
        if name in typed and name not in MAY_CHANGE and wish != value:
            may = " and ".join(map(option, MAY_CHANGE))
            raise ValueError(
                f"the training has {option(name)} {value} and cannot go on with {wish}: only {may} may change; leave "
                "it out, or train anew with another --out"
            )
