"""A training from its settings to its report: what happens between two updates, and what is written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from io import BytesIO
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import torch
from borneo_agents.arena.result import Drawing
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.model import BEST, Model
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from borneo_train.distributed.local import LocalWorkers, WorkerGroup, threads
from borneo_train.distributed.process_group import CHECKPOINT, STEP
from borneo_train.run import checkpoint
from borneo_train.run.checks import filled, lengthened, refuse_code, refuse_other_settings
from borneo_train.run.config import CUDA, EVAL_SEED_OFFSET, Settings, option
from borneo_train.run.curve import picture, svg_of, too_short
from borneo_train.run.folders import (
    MODEL_FILES,
    NAMED_BY_STEPS,
    keep_model,
    named_by,
    refuse_others,
    remove_file,
    remove_folder,
    write_here,
)
from borneo_train.run.learner import LAST, model_of, software, with_strength
from borneo_train.run.progress import ProgressReporter, interruptible
from borneo_train.run.tasks import Evaluation, evaluate, score
from kontor.engine.threads import available_cores
from kontor.files import on_one_line, parse_json, read_text

CHECKPOINTS = 20  # of a training, evenly, beside those at evaluations
CURVE, PICTURE, SETTINGS = FILES = ("curve.jsonl", "curve.png", "settings.json")
LOG = "tensorboard"
FOLDERS = (checkpoint.FOLDER, BEST, LAST, LOG)
LARGEST_SETTINGS = 2**20  # bytes


class Training:
    """A learner, and what happens between two of its updates."""

    @classmethod
    def create(
        cls, settings: Settings, command: str, fresh: bool = False, workers: type[LocalWorkers] = LocalWorkers
    ) -> Training:
        """A new training; `fresh` removes one that is in its folder."""
        settings, folder = filled(settings), settings.out
        holds = (folder / SETTINGS).exists()
        if holds and not fresh:
            raise ValueError(f"{folder} holds a training: --resume goes on, --fresh starts anew; or give another --out")
        others = [name for name in (*FILES, *FOLDERS) if not holds and os.path.lexists(folder / name)]
        if others:
            raise ValueError(f"{folder} holds no training, but {', '.join(others)}: give another --out, or move that")
        training = cls(settings, command, workers, anew=True)  # complains before anything is removed
        training.clear()
        training.keep_settings()
        return training

    @classmethod
    def resume(
        cls,
        folder: Path,
        given: dict[str, Any],
        workers: Callable[[Settings], WorkerGroup] = LocalWorkers,
        reporter: ProgressReporter | None = None,
    ) -> Training:
        """The training in a folder, from its newest checkpoint.

        Of the settings that are given, timesteps and minutes may be others than before.
        """
        try:
            kept = parse_json(read_text(folder / SETTINGS, LARGEST_SETTINGS))
            before, command = Settings.kept(kept["settings"], folder), str(kept["command"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{folder}: there is no training to go on with: {on_one_line(str(error))}") from None
        refuse_other_settings(given, before)
        refuse_code(folder / SETTINGS, before, given)
        if before.device == CUDA and not torch.cuda.is_available():
            raise ValueError(f"{folder} was trained on a GPU and goes on on one only; torch can use none here")
        changed = lengthened(before, **given)
        length = changed.length()
        if getattr(changed, length) != getattr(before, length):
            command += f" and then --resume {option(length)} {getattr(changed, length)}"
        training = cls(filled(changed), command, workers, reporter)
        training.keep_settings()
        return training

    def __init__(
        self,
        settings: Settings,
        command: str,
        workers: Callable[[Settings], WorkerGroup] = LocalWorkers,
        reporter: ProgressReporter | None = None,
        anew: bool = False,
    ) -> None:
        """On a cluster with other workers and another reporter. Goes on from the newest checkpoint, unless `anew`."""
        self.settings, self.command = settings, command
        self.folder = Path(settings.out)
        for name in FOLDERS:
            refuse_others(self.folder / name)
        self.reporter = reporter or ProgressReporter(Console(stderr=True))
        self.curve: list[dict[str, Any]] = []
        self.best: float | None = None
        self.seconds = self.session = 0.0  # spent learning: in all, and since this process started
        self.next_evaluation = self.next_checkpoint = 0
        self.stopping = self.stopped = False
        self.workers = workers(settings)
        self._cores = available_cores()
        newest = None if anew else checkpoint.newest(self.folder / checkpoint.FOLDER)
        with threads(self._threads):
            self.learner, notes = checkpoint.learner_from(newest, settings, self.workers.group)
        if notes:  # else it was stopped before there was anything to keep, and starts again
            self._go_on(notes)

    @property
    def _threads(self) -> int:
        """Of this process while it learns: workers fill the cores."""
        return self._cores if self.settings.workers == 1 else 1

    def _go_on(self, notes: dict[str, Any]) -> None:
        self.curve, self.best, self.seconds = notes["curve"], notes["best"], notes["seconds"]
        self.learner.progress = self.progress()  # of a length that may be another
        self.next_checkpoint = self._next_part(CHECKPOINTS)
        if self.curve:  # an evaluation that was cut short is made now
            part = self.part(self.curve[-1]["steps"], self.curve[-1]["seconds"])
            self.next_evaluation = int(part * self.settings.evaluations) + 1
        self.write_curve()

    def keep_settings(self) -> None:
        """Write down what this training is, for `resume`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {"command": self.command, "settings": self.settings.as_dict(), "software": software()}
        write_here(self.folder / SETTINGS, json.dumps(about, indent=2) + "\n")

    def clear(self) -> None:
        """Remove what a training has left in the folder, and nothing else."""
        checkpoints, log = self.folder / checkpoint.FOLDER, self.folder / LOG
        measured = [path for path in checkpoints.glob("*") if NAMED_BY_STEPS.fullmatch(path.name)]
        for path in (*measured, self.folder / BEST, self.folder / LAST):
            remove_folder(path, MODEL_FILES)
        remove_folder(checkpoints, [path.name for path in checkpoint.all_in(checkpoints)])
        remove_folder(log, [path.name for path in log.glob("events.out.tfevents.*")])
        for name in FILES:  # the settings last: as long as there are some, there is a training
            remove_file(self.folder / name)

    # ------------------------------------------------------------ running

    def run(self) -> None:
        """Train to the end, or until Ctrl-C."""
        self.log = SummaryWriter(str(self.folder / LOG))
        try:
            with self.reporter:
                if self.learner.progress == 1:
                    self.reporter.log(
                        f"this training is over; --resume with more {option(self.settings.length())} makes it longer"
                    )
                with self.workers.start(self.folder / checkpoint.FOLDER), interruptible(self, self.reporter.log):
                    with threads(self._threads):
                        self.learner.learn(self)
                    if self.stopped:
                        self._checkpoint()  # evaluating takes a while, and may be cut short
                    self._checkpoint(self._evaluate())
                self._end()
        finally:
            self.log.close()

    def goes_on(self) -> bool:
        """Whether another update comes; evaluates and saves first where that is due."""
        progress, settings = self.learner.progress, self.settings
        if progress < 1 and not self.stopping:  # after Ctrl-C all is saved before it is evaluated, see `run`
            if progress * settings.evaluations >= self.next_evaluation:
                self._checkpoint(self._evaluate())
            elif progress * CHECKPOINTS >= self.next_checkpoint:
                self._checkpoint()
        out_of_time = settings.timesteps > 0 and 0 < 60 * settings.minutes <= self.session
        self.stopped = progress < 1 and (self.stopping or out_of_time)
        if progress == 1 or self.stopped:
            return False
        self.workers.command(STEP, progress)
        self._update_began = time.monotonic()
        return True

    def after_update(self, metrics: dict[str, float]) -> None:
        """Write down an update, and show how far the training is."""
        learner, settings = self.learner, self.settings
        if not learner.networks.are_finite():
            raise ValueError(
                f"after {learner.decisions:,} decisions the weights are no numbers any more: train anew with a smaller "
                f"--learning-rate; the best model before is in {self.folder / BEST}"
            )
        spent = time.monotonic() - self._update_began
        self.seconds += spent
        self.session += spent
        learner.progress = self.progress()
        speed = settings.n_envs * settings.n_steps / spent
        self._log(metrics, speed)
        self.reporter.update(learner.progress, learner.decisions, speed, metrics)

    def progress(self) -> float:
        """The part of the training that is over: of its decisions or, if their number is open, of its minutes."""
        return self.part(self.learner.decisions, self.seconds)

    def part(self, decisions: int, seconds: float) -> float:
        """The part of the training that is over after so much of it."""
        settings = self.settings
        if settings.timesteps:
            return min(1.0, decisions / settings.timesteps)
        return min(1.0, seconds / (60 * settings.minutes))

    def _next_part(self, parts: int) -> int:
        """Which part comes next if the training has so many of the same length."""
        return int(self.learner.progress * parts) + 1

    def _log(self, metrics: dict[str, float], speed: float) -> None:
        """TensorBoard's figures, by the names of stable-baselines3."""
        steps = self.learner.decisions
        for name, value in (metrics | {"entropy_loss": -metrics["entropy"]}).items():
            self.log.add_scalar(f"{'rollout' if name.startswith('ep_') else 'train'}/{name}", value, steps)
        self.log.add_scalar("time/fps", speed, steps)

    def _end(self) -> None:
        """Draw the curve, and say what is to be said."""
        written = BytesIO()
        picture(self.curve, self.settings).savefig(written, format="png")
        write_here(self.folder / PICTURE, written.getvalue())
        if doubt := too_short(self.curve, self.settings):
            self.reporter.log(doubt)
        if self.stopped:
            self.reporter.log(f"stopped after {self.learner.decisions:,} decisions; --resume goes on")
        self.reporter.log(
            f"All is in {self.folder}: the model in best, its curve in curve.png and curve.jsonl. "
            f"`borneo arena policy:{self.folder / BEST} random merchant` compares it with bots."
        )

    def plot(self) -> Drawing:
        """The curve so far, which shows itself in a notebook."""
        return svg_of(self.curve, self.settings)

    # ------------------------------------------------------------ evaluating and saving

    def _evaluate(self) -> Model | None:
        """Play the arena, write down the result, and keep the model if it is the best so far; returns it."""
        steps, settings = self.learner.decisions, self.settings
        if self.curve and self.curve[-1]["steps"] == steps:
            return None  # it was evaluated already
        self.next_evaluation = self._next_part(settings.evaluations)
        model = model_of(self.learner, settings, self.command)
        found: list[Evaluation] = []
        with threads(self._cores):
            for against, count in product(settings.tables(), settings.counts()):
                found += evaluate(
                    Policy(model, budget=0), settings.task, against, players=count, games=settings.evaluation_games,
                    seed=settings.seed + EVAL_SEED_OFFSET, edition=settings.edition,
                )  # fmt: skip
        strength = [asdict(one) for one in found]
        self.curve.append({"steps": steps, "seconds": ceil(10 * self.seconds) / 10, "strength": strength})
        self.write_curve()
        for one in found:
            self.log.add_scalar(f"eval/{one.measure}/{one.players - 1} {one.against}", one.value, steps)
        model = with_strength(model, strength)
        keep_model(self.folder / LAST, model)
        reached = score(settings.task, strength)
        if self.best is None or reached >= self.best:
            self.best = reached
            keep_model(self.folder / BEST, model)
        self.reporter.evaluation(steps, found)
        return model

    def write_curve(self) -> None:
        """Write all evaluations, one a line."""
        lines = "".join(json.dumps(entry) + "\n" for entry in self.curve)
        write_here(self.folder / CURVE, lines)

    def _checkpoint(self, evaluated: Model | None = None) -> None:
        """Save all that the training needs to go on, and with it the model that was just evaluated, which stays."""
        self.next_checkpoint = self._next_part(CHECKPOINTS)
        notes = {"curve": self.curve, "best": self.best, "seconds": self.seconds}
        self.workers.command(CHECKPOINT, self.learner.progress)
        folder = self.folder / checkpoint.FOLDER
        checkpoint.save_all(folder, self.learner, notes)
        if evaluated is not None:
            keep_model(folder / named_by(self.learner.decisions), evaluated)
