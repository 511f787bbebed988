"""Training by self-play: masked PPO of sb3-contrib over thousands of games at once. `python -m borneo_train.ppo --help`.

One rollout plays every game on for some decisions of its learner; one update learns from all of them. Between the two,
everything is in one state that a checkpoint can hold.
"""

from __future__ import annotations

import json
import platform
import shlex
import shutil
import signal
import sys
import time
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from borneo_agents.model import Model, ModelCard, read_model, write_model
from borneo_agents.policy import Policy
from borneo_agents.search import POLICIES
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

from borneo_env.rewards import find_reward
from borneo_env.ruleset import Ruleset
from borneo_train import checkpoint
from borneo_train.buffer import LeanBuffer
from borneo_train.lessons import lessons, teach
from borneo_train.network import Network, TablePolicy, usual_scale
from borneo_train.opponents import Cast, League
from borneo_train.settings import Settings, numbers, shape
from borneo_train.tasks import TASKS, Measurement, examine
from borneo_train.telling import Teller
from borneo_train.vec_env import BorneoVecEnv

SOFTWARE = ("borneo-env", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
LEAST = 0.1  # what is left of learning rate and entropy reward at the end
LEAGUE_GROWS = 40  # times in a training, evenly
CHECKPOINTS = 20  # times in a training, evenly, beside those at evaluations
CURVE = "curve.jsonl"
LESSON_SHARE = 2  # of the games played side by side, one in so many for a lesson, which has all their decisions


class Finished(Exception):
    """The training ends before its last step: by Ctrl-C, or because its minutes are over."""


def train(settings: Settings, *, resume: bool = False, command: str | None = None) -> Path:
    """Train a learner; returns the folder of the best model. `resume` goes on in the folder of a training."""
    training = Training(settings.filled(), command or shlex.join(["borneo", *sys.argv[1:]]), resume)
    return training.run()


class Training(BaseCallback):
    """A learner, its games and opponents, and what happens between two rollouts."""

    def __init__(self, settings: Settings, command: str, resume: bool) -> None:
        super().__init__()
        self.settings, self.command = settings, command
        self.task = TASKS[settings.task]
        self.counts = numbers(settings.players, "--players")
        self.ruleset = Ruleset(edition=settings.edition, players=self.counts[0])  # type: ignore[arg-type]
        self.folder = Path(settings.out)
        self.league = League(self.folder / "league")
        self.cast = Cast(settings.opponents)
        self.teller = Teller(settings, Console(stderr=True))
        self.curve: list[dict[str, Any]] = []
        self.best: float | None = None
        self.seconds = 0.0  # of earlier sessions
        self.next_evaluation = self.next_member = self.next_checkpoint = 0
        self.stopping = False
        self._prepare_folder(resume)
        device = torch.device(settings.device or "cpu")
        torch.set_float32_matmul_precision("high")  # of no effect on a CPU
        self.current, self.earlier = Network(device), Network(device)
        self.games = self._make_games(self.cast)
        self.learner = self._make_learner(device)
        for network in (self.current, self.earlier):
            network.load(self._model())
        if resume:
            self._take_up(checkpoint.restore(checkpoint.newest(self.folder / "checkpoints"), self.learner, self.games))

    # ------------------------------------------------------------ making

    def _prepare_folder(self, resume: bool) -> None:
        if resume:
            return
        if (self.folder / "checkpoints").is_dir() or (self.folder / CURVE).exists():
            raise ValueError(f"{self.folder} holds a training; go on with --resume, or give another --out")
        self.folder.mkdir(parents=True, exist_ok=True)

    def _make_games(self, cast: Cast) -> BorneoVecEnv:
        settings = self.settings
        return BorneoVecEnv(
            settings.games,
            cast,
            (self.current, self.earlier),
            players=self.counts,
            reward=self.task.reward,
            whole_table=settings.whole_table,
            advisor=POLICIES[settings.advisor] if settings.advisor else None,
            seed=settings.seed,
            edition=settings.edition,
        )

    def _make_learner(self, device: torch.device) -> MaskablePPO:
        settings = self.settings
        learner = MaskablePPO(
            TablePolicy,
            self.games,
            learning_rate=lambda left: settings.learning_rate * falling(left),
            n_steps=settings.horizon,
            batch_size=settings.minibatch,
            n_epochs=settings.epochs,
            gamma=settings.discount,
            gae_lambda=settings.trace,
            clip_range=settings.clip,
            ent_coef=settings.entropy,
            rollout_buffer_class=LeanBuffer,
            policy_kwargs={
                "edition": settings.edition,
                "scale": usual_scale(settings.edition, settings.whole_table),
                "advised": bool(settings.advisor),
                "actor": shape(settings.actor, "--actor"),
                "critic": shape(settings.critic, "--critic"),
            },
            seed=settings.seed,
            device=device,
        )
        learner.rollout_buffer.generator = torch.Generator().manual_seed(settings.seed)
        learner.set_logger(configure(str(self.folder / "tensorboard"), ["tensorboard", "csv"]))
        return learner

    def _take_up(self, notes: dict[str, Any]) -> None:
        """Go on where a checkpoint was made; what was written after it is played anew."""
        self.curve, self.best, self.seconds = notes["curve"], notes["best"], notes["seconds"]
        self.next_evaluation, self.next_member = notes["next_evaluation"], notes["next_member"]
        for member in self.league.members():
            if member.name not in notes["league"]:
                shutil.rmtree(member)
        self.cast.has_earlier = bool(self.league.members())
        self._write_curve()

    # ------------------------------------------------------------ running

    def run(self) -> Path:
        """Train to the last step, or until somebody stops it."""
        self.began = time.monotonic()
        settings, learner = self.settings, self.learner
        before = signal.signal(signal.SIGINT, self._asked_to_stop)
        try:
            with self.teller:
                if settings.lessons and not learner.num_timesteps:
                    self._teach()
                try:
                    left = settings.steps - learner.num_timesteps
                    if left > 0:
                        learner.learn(left, callback=self, reset_num_timesteps=False, tb_log_name="")
                except Finished:
                    self.teller.say(f"stopped after {learner.num_timesteps:,} steps; the same with --resume goes on")
                self._evaluate()
                self._checkpoint()
        finally:
            signal.signal(signal.SIGINT, before)
        return self.folder / "best"

    def _teach(self) -> None:
        settings = self.settings
        course = lessons(
            [Ruleset(edition=settings.edition, players=count) for count in self.counts],  # type: ignore[arg-type]
            settings.games // LESSON_SHARE,
            reward=find_reward(self.task.reward),
            whole_table=settings.whole_table,
            advised=bool(settings.advisor),
            seed=settings.seed + 1,  # other games than those it will play itself
            device=self.learner.device,
        )
        teach(self.learner, course, settings.lessons, settings.lesson_rate, self.teller.lesson)

    def _asked_to_stop(self, *_: Any) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True
        self.teller.say("stopping as soon as this round is learnt from; Ctrl-C again stops at once")

    def _on_rollout_start(self) -> None:
        """Between two rollouts: look at the clock, measure, keep, and choose the opponents of the next."""
        steps, settings = self.learner.num_timesteps, self.settings
        self.teller.steps(steps)
        if steps >= self.next_evaluation:
            self._evaluate()
            self.next_evaluation = steps + settings.evaluate_every
            self._checkpoint()
        if steps >= self.next_checkpoint:
            self._checkpoint()
            self.next_checkpoint = steps + settings.steps // CHECKPOINTS
        over = settings.minutes is not None and self._elapsed() > 60 * settings.minutes
        if self.stopping or over:
            raise Finished
        self.learner.ent_coef = settings.entropy * falling(1 - steps / settings.steps)
        self._choose_opponents(steps)

    def _on_step(self) -> bool:
        return True

    def _choose_opponents(self, steps: int) -> None:
        if not self.cast.has_networks:
            return
        model = self._model()
        self.current.load(model)
        if steps >= self.next_member:
            write_model(self.league.place_for(steps), model)
            for member in self.league.to_leave():
                shutil.rmtree(member)
            self.next_member = steps + self.settings.steps // LEAGUE_GROWS
            self.cast.has_earlier = True
        member = self.league.draw(self.games.rng)
        if member is not None:
            self.earlier.load(read_model(member))

    def _elapsed(self) -> float:
        return self.seconds + time.monotonic() - self.began

    # ------------------------------------------------------------ measuring and keeping

    def _evaluate(self) -> None:
        """Play the arena, write down what came of it, and keep the model if it is the best so far."""
        steps, settings = self.learner.num_timesteps, self.settings
        if self.curve and self.curve[-1]["steps"] == steps:
            return
        model = self._model()
        found: list[Measurement] = []
        for count in self.counts:
            found += examine(
                Policy(model), self.task, settings.against, players=count, games=settings.evaluation_games,
                seed=settings.seed,
            )  # fmt: skip
        strength = [asdict(one) for one in found]
        self.curve.append({"steps": steps, "seconds": round(self._elapsed(), 1), "strength": strength})
        self._write_curve()
        for one in found:
            self.learner.logger.record(f"arena/{one.measure}/{one.players} players", one.value)
        self.learner.logger.dump(steps)
        model = replace(model, card=replace(model.card, strength=strength))
        write_model(self.folder / "last", model)
        first = self.task.measures[0]
        values = [one.value for one in found if one.measure == first.name]
        score = sum(values) / len(values) * (1 if first.more_is_better else -1)
        if self.best is None or score > self.best:
            self.best = score
            write_model(self.folder / "best", model)
        self.teller.evaluation(steps, found)

    def _write_curve(self) -> None:
        lines = "".join(json.dumps(entry) + "\n" for entry in self.curve)
        (self.folder / CURVE).write_text(lines, encoding="utf-8")

    def _checkpoint(self) -> None:
        if self.learner._last_obs is None:
            return
        notes = {
            "settings": self.settings.as_dict(),
            "curve": self.curve,
            "best": self.best,
            "seconds": self._elapsed(),
            "next_evaluation": self.next_evaluation,
            "next_member": self.next_member,
            "league": [member.name for member in self.league.members()],
        }
        checkpoint.save(self.folder / "checkpoints", self.learner, self.games, notes)

    def _model(self) -> Model:
        """The learner as it is now."""
        policy = self.learner.policy
        return Model(self._card(), policy.actor_layers(), float(policy.trust))

    def _card(self) -> ModelCard:
        software = {name: version(name) for name in SOFTWARE} | {"python": platform.python_version()}
        return ModelCard(
            edition=self.settings.edition,
            players=self.counts,
            task=self.settings.task,
            advisor=self.settings.advisor,
            steps=self.learner.num_timesteps,
            seed=self.settings.seed,
            command=self.command,
            settings=self.settings.as_dict(),
            software=software,
        )


def falling(left: float) -> float:
    """1 at the start of a training and LEAST at its end, where nothing is left of it."""
    return LEAST + (1 - LEAST) * left


if __name__ == "__main__":
    from borneo_train.command import main

    main()
