"""Behaviour cloning from its settings to the policy: what is shown on the way, and what is written."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, replace
from pathlib import Path

from borneo_agents.policy.model import CARD
from borneo_agents.statistics.intervals import Estimate

from borneo_env.console import err
from borneo_train.run.checks import filled
from borneo_train.run.config import Settings, check_choices, check_numbers
from borneo_train.run.folders import keep_model, refuse_others
from borneo_train.run.learner import with_strength
from borneo_train.run.progress import bar_of, interruptible
from borneo_train.supervised.behaviour_cloning import BehaviourCloning
from borneo_train.supervised.config import BCConfig


class SupervisedRun:
    """A network that is trained on an agent's decisions, and how far it is."""

    def __init__(self, config: BCConfig, out: Path, timesteps: int, minutes: float, fresh: bool = False) -> None:
        refuse_others(out)
        if os.path.lexists(out / CARD) and not fresh:
            raise ValueError(f"{out} holds a policy: give another --out, or --fresh to replace it")
        if not (min(timesteps, minutes) >= 0 and max(timesteps, minutes) > 0):
            raise ValueError("--minutes or --timesteps say how long to learn: give a number above 0, and none below")
        check_choices(config)
        check_numbers(config)
        self.out, self._timesteps, self._seconds = out, timesteps, 60 * minutes
        device = filled(Settings(device=config.device)).device
        self.trainee = BehaviourCloning(replace(config, device=device))
        self.stopping = False

    def run(self, command: str) -> Estimate:
        """Learn to the end, or until Ctrl-C, and write the policy; returns the agreement with its interval."""
        with interruptible(self, err.print), bar_of(err) as bar:
            began, task = time.monotonic(), bar.add_task("watching", total=1.0, shown="")
            while (progress := self._progress(began)) < 1 and not self.stopping:
                shown = self.trainee.update(progress)
                bar.update(task, completed=progress, shown=shown)
        model = self.trainee.model(command)
        keep_model(self.out, model)  # measuring takes a while, and may be cut short
        err.print("measuring it in games it has not seen")
        found = self.trainee.measured()
        keep_model(self.out, with_strength(model, [{"measure": self.trainee.measure, **asdict(found)}]))
        return found

    def _progress(self, began: float) -> float:
        if self._timesteps:
            return min(1.0, self.trainee.replay.seen / self._timesteps)
        return min(1.0, (time.monotonic() - began) / self._seconds)
