"""What a training can be made of on this machine, and what one that goes on may find in its folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from borneo_env.agent import UnknownAgent, check_agents, check_registered, find_agent
from borneo_env.ruleset import Ruleset
from borneo_train.games.opponents import SELF, is_policy
from borneo_train.run.config import Settings, option
from kontor.engine.threads import available_cores

MAY_CHANGE = ("timesteps", "minutes")  # when a training is resumed


def filled(settings: Settings) -> Settings:
    """The same with what this machine adds; settings nothing can be trained with are refused."""
    settings = settings.filled(torch.cuda.is_available(), available_cores())
    settings.check()
    agents = {name: find_agent(name) for name in agents_of(settings)}
    for count in settings.counts():
        check_agents(agents, Ruleset(settings.edition, count))
    return settings


def agents_of(settings: Settings) -> list[str]:
    """The agents that are named in settings."""
    opponents = [] if settings.opponent == SELF or is_policy(settings.opponent) else [settings.opponent]
    return [*settings.tables(), *opponents]


def lengthened(before: Settings, timesteps: int = 0, minutes: float = 0.0, **_: Any) -> Settings:
    """The same with the length that is given now, if one is. Minutes beside timesteps are those of a session."""
    timesteps = timesteps or before.timesteps
    return replace(before, timesteps=timesteps, minutes=minutes or (0.0 if timesteps else before.minutes))


def refuse_code(path: Path, before: Settings, given: dict[str, Any]) -> None:
    """Refuse an agent in a file that is no registered one: finding it would run code that the file names.

    A user who types it may run any code.
    """
    for name, agents in {"against": before.tables(), "opponent": agents_of(before)[len(before.tables()) :]}.items():
        try:
            for agent in agents if name not in given else ():
                check_registered(agent)
        except UnknownAgent as error:
            remedy = f"if you trust this one, resume with {option(name)} and its name"
            raise UnknownAgent(f"{path}: {error}; {remedy}") from None


def refuse_other_settings(given: dict[str, Any], before: Settings) -> None:
    """Refuse what cannot be changed once a training has started."""
    for name, wish in given.items():
        if name not in MAY_CHANGE and name in before.as_dict() and wish != getattr(before, name):
            may = " and ".join(map(option, MAY_CHANGE))
            raise ValueError(
                f"the training has {option(name)} {getattr(before, name)} and cannot go on with {wish}: only {may} may "
                "change; leave it out, or train anew with another --out"
            )
