"""A training from its settings to its report: what happens between two updates, and what is written."""

from __future__ import annotations

import json
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import torch
from borneo_agents.arena.result import Drawing
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.model import BEST, CARD, WEIGHTS, Model, ModelCard, read_model, write_model
from borneo_agents.policy.network import Layer
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from borneo_env.files import on_one_line, parse_json, read_text
from borneo_train import checkpoint
from borneo_train.checks import check, check_notes, filled, lengthened, refuse_code, refuse_other_settings
from borneo_train.folders import (
    clear_folder,
    folders_by_steps,
    move_folder,
    refuse_others,
    remove_file,
    remove_folder,
    write_here,
)
from borneo_train.learner import Learner
from borneo_train.network import layers_of_model
from borneo_train.report import Row, compare, draw_curve, plot_curve, too_short
from borneo_train.settings import CUDA, UNSEEN, Settings, option
from borneo_train.tasks import Measurement, evaluate, score
from borneo_train.telling import Teller
from borneo_train.together import AGREE, FREEZE, KEEP, ROUND, SETTLE
from borneo_train.workers import Company, Workers, one_thread

SOFTWARE = ("borneo-env", "numpy", "numba", "torch")
FREEZES = 20  # times in a training that the version in the other seats is replaced
TIMES_KEPT = 20  # checkpoints in a training, evenly, beside those at evaluations
CURVE, PICTURE, REPORT, SETTINGS = FILES = ("curve.jsonl", "curve.png", "report.json", "settings.json")
CHECKPOINTS, LAST, LOG = checkpoint.FOLDER, "last", "tensorboard"
FOLDERS = (CHECKPOINTS, BEST, LAST, LOG)
MODEL_FILES = (CARD, WEIGHTS)
NEW = ".new"  # how the name of a model's folder ends while it is written
LARGEST_SETTINGS = 2**20  # bytes
STOPPING = "stopping as soon as this round is learnt from; Ctrl-C again stops at once"


class Diverged(ValueError):
    """A learner whose weights are no numbers any more."""

    def __init__(self, best: Path, decisions: int) -> None:
        super().__init__(
            f"after {decisions:,} decisions the weights are no numbers any more: train anew with a smaller "
            f"--learning-rate; the best model before is in {best}"
        )


class Training:
    """A learner, and what happens between two of its updates."""

    @classmethod
    def begun(cls, settings: Settings, command: str, fresh: bool = False, company: type[Workers] = Workers) -> Training:
        """A new training; `fresh` removes one that is in its folder."""
        folder = Path(settings.out)
        holds = (folder / SETTINGS).exists()
        if holds and not fresh:
            raise ValueError(f"{folder} holds a training: --resume goes on, --fresh starts anew; or give another --out")
        others = [name for name in (*FILES, *FOLDERS) if not holds and os.path.lexists(folder / name)]
        if others:
            raise ValueError(f"{folder} holds no training, but {', '.join(others)}: give another --out, or move that")
        training = cls(filled(settings), command, company)  # complains before anything is removed
        training.clear()
        training.keep_settings()
        return training

    @classmethod
    def taken_up(
        cls,
        settings: Settings,
        company: Callable[[Settings], Company] = Workers,
        teller: Teller | None = None,
        typed: Collection[str] | None = None,
    ) -> Training:
        """The training in a folder, as its newest checkpoint has it; timesteps and minutes may be others.

        Other settings that were `typed` must be as they were; without that, those that are not as by default.
        """
        folder = Path(settings.out)
        try:
            kept = parse_json(read_text(folder / SETTINGS, LARGEST_SETTINGS))
            before, command = Settings.kept(kept["settings"], folder), str(kept["command"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{folder}: there is no training to go on with: {on_one_line(str(error))}") from None
        refuse_other_settings(settings, before, settings.typed() if typed is None else typed)
        refuse_code(folder / SETTINGS, before, settings)
        if before.device == CUDA and not torch.cuda.is_available():
            raise ValueError(f"{folder} was trained on a GPU and goes on on one only; torch can use none here")
        changed = lengthened(before, settings)
        length = changed.length()
        if getattr(changed, length) != getattr(before, length):
            command += f" and then --resume {option(length)} {getattr(changed, length)}"
        newest = checkpoint.newest(folder / CHECKPOINTS)
        training = cls(filled(changed), command, company, teller, going_on=newest is not None)
        if newest is not None:  # else it was stopped before there was anything to keep, and begins again
            notes = checkpoint.restore(newest, training.learner)
            check_notes(newest, notes, before)
            training.curve, training.best, training.seconds = notes["curve"], notes["best"], notes["seconds"]
            training.learner.progress = training.progress()  # of a length that may be another
            training.next_checkpoint, training.next_freeze = map(training.next_part, (TIMES_KEPT, FREEZES))
            if training.curve:  # one that was cut short is made now
                part = training.part(training.curve[-1]["steps"], training.curve[-1]["seconds"])
                training.next_evaluation = int(part * changed.evaluations) + 1
            training.write_curve()
        training.keep_settings()
        return training

    def __init__(
        self,
        settings: Settings,
        command: str,
        company: Callable[[Settings], Company] = Workers,
        teller: Teller | None = None,
        going_on: bool = False,
    ) -> None:
        """With other company and another teller on a cluster, where a command is on another machine.

        One that is going on takes up a checkpoint of its own next.
        """
        check(settings)
        self.settings, self.command = settings, command
        self.folder = Path(settings.out)
        for name in FOLDERS:
            refuse_others(self.folder / name)
        self.teller = teller or Teller(Console(stderr=True))
        self.curve: list[dict[str, Any]] = []
        self.best: float | None = None
        self.seconds = self.session = 0.0  # spent learning: in all, and since this process began
        self.next_evaluation = self.next_checkpoint = self.next_freeze = 0
        self.stopping = self.stopped = False
        self.workers = company(settings)
        with one_thread(settings.workers):
            self.learner = checkpoint.made(settings, self.workers.together, going_on)

    def keep_settings(self) -> None:
        """Write down what this training is, for those who go on with it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {"command": self.command, "settings": self.settings.as_dict(), "software": software()}
        write_here(self.folder / SETTINGS, json.dumps(about, indent=2) + "\n")

    def clear(self) -> None:
        """Remove what a training has left in the folder, and nothing else."""
        measured = [path for end in ("", NEW) for path in folders_by_steps(self.folder / CHECKPOINTS, MODEL_FILES, end)]
        for path in (*measured, *(self.folder / name for name in (BEST, LAST, BEST + NEW, LAST + NEW))):
            remove_folder(path, MODEL_FILES)
        checkpoint.clear(self.folder / CHECKPOINTS)
        log = self.folder / LOG
        remove_folder(log, [path.name for path in log.glob("events.out.tfevents.*")])
        for name in FILES:  # the settings last: as long as there are some, there is a training
            remove_file(self.folder / name)

    # ------------------------------------------------------------ running

    def run(self) -> list[Row]:
        """Train to the end, or until somebody stops it; returns how the learner compares with the bots."""
        self.log = SummaryWriter(str(self.folder / LOG))
        try:
            with self.teller:
                if self.learner.progress == 1:
                    self.teller.say(
                        f"this training is over; --resume with more {option(self.settings.length())} makes it longer"
                    )
                with self.workers.start(self.folder / CHECKPOINTS):
                    self._learn()
                return self._report()
        finally:
            self.log.close()

    def _learn(self) -> None:
        """Learn, measure and keep; somebody who presses Ctrl-C waits for that, or presses it again."""
        with self._listening():
            self._keep_what_is_due()
            self._order(AGREE)
            self.learner.agree()
            while self._goes_on():
                self._keep_what_is_due()
                self._update()
            if self.stopped:
                self._checkpoint()  # measuring takes a while, and may be cut short
            self._checkpoint(self._evaluate())

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Hear Ctrl-C, where this process can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._asked_to_stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def progress(self) -> float:
        """The part of the training that is over: of its decisions or, if their number is open, of its minutes."""
        return self.part(self.learner.decisions, self.seconds)

    def part(self, decisions: int, seconds: float) -> float:
        """The part of the training that is over after so much of it."""
        settings = self.settings
        if settings.timesteps:
            return min(1.0, decisions / settings.timesteps)
        return min(1.0, seconds / (60 * settings.minutes))

    def next_part(self, parts: int) -> int:
        """Which part comes next if the training has so many of the same length."""
        return int(self.learner.progress * parts) + 1

    def _goes_on(self) -> bool:
        """Whether there is more to learn, and nobody has stopped it."""
        limit = 60 * self.settings.minutes
        over = self.settings.timesteps > 0 and 0 < limit <= self.session
        more = self.learner.progress < 1
        self.stopped = more and (self.stopping or over)
        return more and not self.stopped

    def _keep_what_is_due(self) -> None:
        """Measure and keep the learner, or only keep it, where it is time for that."""
        progress = self.learner.progress
        if progress * self.settings.evaluations >= self.next_evaluation:
            self._checkpoint(self._evaluate())
        elif progress * TIMES_KEPT >= self.next_checkpoint:
            self._checkpoint()

    def _order(self, order: int) -> None:
        self.workers.order(order, self.learner.progress)

    def _update(self) -> None:
        """One rollout, and what is learnt from it."""
        learner, settings = self.learner, self.settings
        self._order(ROUND)
        began = time.monotonic()
        with one_thread(settings.workers):
            learner.play()
            figures = learner.learn()
        self._check_sound()
        spent = time.monotonic() - began
        self.seconds += spent
        self.session += spent
        learner.progress = self.progress()
        steps, speed = learner.decisions, settings.n_envs * settings.n_steps / spent
        self._log(figures, speed)
        self.teller.update(learner.progress, steps, speed, figures)
        if settings.frozen and learner.progress * FREEZES >= self.next_freeze:
            self._order(FREEZE)
            learner.freeze()
            self.next_freeze = self.next_part(FREEZES)

    def _asked_to_stop(self, *_: Any) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True
        self.teller.say(STOPPING)

    def _report(self) -> list[Row]:
        """Compare the best model with the bots, and draw the curve; whoever is in a hurry only gets the curve."""
        draw_curve(self.curve, self.settings, self.folder / PICTURE)
        if doubt := too_short(self.curve, self.settings):
            self.teller.say(doubt)
        if self.stopped:
            self.teller.say(f"stopped after {self.learner.decisions:,} decisions; --resume goes on")
        if self.stopping:
            return []
        counts = self.settings.counts()
        players = 4 if 4 in counts else counts[0]
        games, seed = self.settings.evaluation_games, self.settings.seed + UNSEEN + 1  # others than chose the best
        rows = compare(read_model(self.folder / BEST), self.settings.task, players=players, games=games, seed=seed)
        found = list(self.teller.comparing(rows))
        about = {"command": self.command, "doubt": doubt, "comparison": [asdict(row) for row in found]}
        write_here(self.folder / REPORT, json.dumps(about, indent=2) + "\n")
        return found

    def plot(self) -> Drawing:
        """The curve so far, which shows itself in a notebook."""
        return plot_curve(self.curve, self.settings)

    # ------------------------------------------------------------ measuring and keeping

    def _log(self, figures: dict[str, float], speed: float) -> None:
        """TensorBoard's figures, by the names of stable-baselines3."""
        steps = self.learner.decisions
        for name, value in (figures | {"entropy_loss": -figures["entropy"]}).items():
            self.log.add_scalar(f"{'rollout' if name.startswith('ep_') else 'train'}/{name}", value, steps)
        self.log.add_scalar("time/fps", speed, steps)

    def _settle(self) -> None:
        """Have nothing under way."""
        if self.learner.ahead is not None:
            self._order(SETTLE)
            self.learner.settle()
            self._check_sound()

    def _check_sound(self) -> None:
        """Stop a training whose weights are no numbers any more, before they are kept."""
        if not self.learner.is_sound():
            raise Diverged(self.folder / BEST, self.learner.decisions)

    def _evaluate(self) -> Model | None:
        """Play the arena, write down what came of it, and keep the model if it is the best so far; returns it."""
        self._settle()
        steps, settings = self.learner.decisions, self.settings
        if self.curve and self.curve[-1]["steps"] == steps:
            return None  # it was measured already
        self.next_evaluation = self.next_part(settings.evaluations)
        model = model_of(self.learner, self.command)
        found: list[Measurement] = []
        for against, count in product(settings.tables(), settings.counts()):
            found += evaluate(
                Policy(model, budget=0), settings.task, against, players=count, games=settings.evaluation_games,
                seed=settings.seed + UNSEEN, edition=settings.edition,
            )  # fmt: skip
        strength = [asdict(one) for one in found]
        self.curve.append({"steps": steps, "seconds": ceil(10 * self.seconds) / 10, "strength": strength})
        self.write_curve()
        for one in found:
            self.log.add_scalar(f"eval/{one.measure}/{one.players - 1} {one.against}", one.value, steps)
        model = replace(model, card=replace(model.card, strength=strength))
        keep_model(self.folder / LAST, model)
        reached = score(settings.task, strength)
        if self.best is None or reached >= self.best:
            self.best = reached
            keep_model(self.folder / BEST, model)
        self.teller.evaluation(steps, found)
        return model

    def write_curve(self) -> None:
        """Write all evaluations, one a line."""
        lines = "".join(json.dumps(entry) + "\n" for entry in self.curve)
        write_here(self.folder / CURVE, lines)

    def _checkpoint(self, measured: Model | None = None) -> None:
        """Save all that the training needs to go on, and with it the model that was just measured, which stays."""
        self._settle()
        self.next_checkpoint = self.next_part(TIMES_KEPT)
        notes = {"curve": self.curve, "best": self.best, "seconds": self.seconds}
        self._order(KEEP)
        path = checkpoint.save(self.folder / CHECKPOINTS, self.learner, notes)
        if measured is not None:
            keep_model(path, measured)


@torch.no_grad()
def model_of(learner: Learner, command: str) -> Model:
    """A learner as it is now."""
    settings = learner.settings
    card = ModelCard(
        edition=settings.edition,
        players=settings.counts(),
        task=settings.task,
        steps=learner.decisions,
        seed=settings.seed,
        command=command,
        settings=settings.as_dict(),
        software=software(),
    )
    quick = layers_of_model(learner.quick[0].layers()) if learner.quick else None
    critic = layers_of_model((learner.quick[1] if learner.quick else learner.critic).layers())  # that of searches
    values = float(learner.scale)  # of what the critic says
    critic[-1] = Layer(critic[-1].weights * values, critic[-1].biases * values)
    return Model(card, layers_of_model(learner.actor.layers()), critic, learner.others, quick)


def keep_model(folder: Path, model: Model) -> None:
    """Write a model into a folder, whose files are replaced once all of it is written."""
    new = folder.with_name(folder.name + NEW)
    clear_folder(new, MODEL_FILES)
    write_model(new, model)
    move_folder(new, folder)


def software() -> dict[str, str]:
    """The versions of what trains."""
    return {name: version(name) for name in SOFTWARE} | {"python": platform.python_version()}
