"""Training by self-play: masked PPO of sb3-contrib over thousands of games at once.

One rollout plays every game on for some decisions of its learner; one update learns from all of them. Between the two,
everything is in one state that a checkpoint can hold.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import torch
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.model import Model, ModelCard, read_model, write_model
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

from borneo_env.agent import UnknownAgent, check_registered, find_agent
from borneo_env.files import on_one_line, parse_json, read_text
from borneo_env.ruleset import EDITIONS, PLAYER_COUNTS, Ruleset
from borneo_train import checkpoint
from borneo_train.buffer import LeanBuffer
from borneo_train.folders import (
    clear_folder,
    folders_by_steps,
    move_folder,
    refuse_others,
    remove_file,
    remove_folder,
    write_here,
)
from borneo_train.lessons import lessons, teach
from borneo_train.network import Network, TablePolicy, policy_of, usual_scale
from borneo_train.opponents import CASTS, MODEL_FILES, NOBODY, Cast, League
from borneo_train.practice import Practice
from borneo_train.report import Row, compare, draw_curve
from borneo_train.rewards import REWARDS
from borneo_train.settings import Settings, numbers, shape
from borneo_train.tasks import TASKS, Measurement, evaluate, score
from borneo_train.telling import Teller
from borneo_train.vec_env import BorneoVecEnv

SOFTWARE = ("borneo-env", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
LEAST = 0.1  # what is left of learning rate and entropy reward at the end
MAY_CHANGE = ("steps", "minutes", "device")  # when a training is taken up again
LEAGUE_GROWS = 40  # times in a training, evenly
TIMES_KEPT = 20  # checkpoints in a training, evenly, beside those at evaluations
CURVE, PICTURE, REPORT, SETTINGS = FILES = ("curve.jsonl", "curve.png", "report.json", "settings.json")
CHECKPOINTS, BEST, LAST, LEAGUE, LOG = FOLDERS = ("checkpoints", "best", "last", "league", "tensorboard")
NEW = ".new"  # how the name of a model's folder ends while it is written
LARGEST_SETTINGS = 2**20  # bytes
MOST = 1e15  # steps, seconds and measures are smaller
UNSEEN = 1_000_000  # added to the seed for games in which a learner is measured: it has not learnt from their deals
LESSON_SHARE = 2  # of the games played side by side, one in so many for a lesson, which has all their decisions


class Finished(Exception):
    """The training ends before its last step: by Ctrl-C, or because its minutes are over."""


class Training(BaseCallback):
    """A learner, its games and opponents, and what happens between two rollouts."""

    @classmethod
    def begun(cls, settings: Settings, command: str, fresh: bool = False) -> Training:
        """A new training; `fresh` removes one that is in its folder."""
        folder = Path(settings.out)
        holds = (folder / SETTINGS).exists()
        if holds and not fresh:
            raise ValueError(f"{folder} holds a training: --resume goes on, --fresh starts anew; or give another --out")
        others = [name for name in (*FILES, *FOLDERS) if not holds and os.path.lexists(folder / name)]
        if others:
            raise ValueError(f"{folder} holds no training, but {', '.join(others)}: give another --out, or move that")
        training = cls(settings.filled(), command)  # complains about wrong settings before anything is removed
        training.clear()
        training.keep_settings()
        return training

    @classmethod
    def taken_up(cls, settings: Settings) -> Training:
        """The training in a folder, as its newest checkpoint has it; steps, minutes and device may be others."""
        folder = Path(settings.out)
        try:
            kept = parse_json(read_text(folder / SETTINGS, LARGEST_SETTINGS))
            before, command = Settings.kept(kept["settings"], folder), str(kept["command"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{folder}: there is no training to go on with: {on_one_line(str(error))}") from None
        refuse_other_settings(settings, before)
        if settings.against != before.against:  # else somebody has given it, who may run what they like
            refuse_code(folder / SETTINGS, before.tables())
        changed = replace(
            before,
            steps=settings.steps or before.steps,
            device=settings.device or before.device,
            minutes=settings.minutes,
        )
        if changed.steps != before.steps:
            command += f" and then --resume --steps {changed.steps}"
        training = cls(changed, command)
        newest = checkpoint.newest(folder / CHECKPOINTS)
        if newest is not None:  # else it was stopped before there was anything to keep, and begins again
            notes = checkpoint.restore(newest, training.learner, training.games)
            check_notes(newest, notes, before)
            training.take_up(notes)
        training.keep_settings()
        return training

    def __init__(self, settings: Settings, command: str) -> None:
        super().__init__()
        check(settings)
        self.settings, self.command = settings, command
        self.reward = REWARDS[settings.reward or settings.task]
        self.counts = numbers(settings.players, "--players")
        self.folder = Path(settings.out)
        for name in FOLDERS:
            refuse_others(self.folder / name)
        self.league = League(self.folder / LEAGUE)
        self.cast = Cast(settings.opponents)
        self.teller = Teller(settings, Console(stderr=True))
        self.curve: list[dict[str, Any]] = []
        self.best: float | None = None
        self.seconds = 0.0  # of earlier sessions
        self.next_evaluation = self.next_member = self.next_checkpoint = 0
        self.stopping = self.stopped = False
        device = torch.device(settings.device)
        torch.set_float32_matmul_precision("high")  # of no effect on a CPU
        self.current, self.earlier = Network(device), Network(device)
        self.games = self._make_games()
        self.learner = self._make_learner(device)
        for network in (self.current, self.earlier):
            network.load(self._model())

    # ------------------------------------------------------------ making

    def _make_games(self) -> BorneoVecEnv:
        settings = self.settings
        return BorneoVecEnv(
            settings.games,
            self.cast,
            (self.current, self.earlier),
            players=self.counts,
            reward=self.reward,
            whole_table=settings.whole_table,
            lookahead=settings.lookahead,
            seed=settings.seed,
            edition=settings.edition,
        )

    def _make_learner(self, device: torch.device) -> MaskablePPO:
        settings = self.settings
        kind = partial(Practice, turns=settings.trials) if settings.trials else MaskablePPO
        learner = kind(
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
                "lookahead": settings.lookahead,
                "actor": shape(settings.actor, "--actor"),
                "critic": shape(settings.critic, "--critic"),
            },
            seed=settings.seed,
            device=device,
        )
        assert isinstance(learner.rollout_buffer, LeanBuffer)
        learner.rollout_buffer.generator = torch.Generator().manual_seed(settings.seed)
        return learner

    def keep_settings(self) -> None:
        """Write down what this training is, for those who go on with it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {"command": self.command, "settings": self.settings.as_dict(), "software": software()}
        write_here(self.folder / SETTINGS, json.dumps(about, indent=2) + "\n")

    def clear(self) -> None:
        """Remove what a training has left in the folder, and nothing else."""
        checkpoint.clear(self.folder / CHECKPOINTS)
        models = [self.folder / name for name in (BEST, LAST, BEST + NEW, LAST + NEW)]
        for ending in ("", NEW):
            models += folders_by_steps(self.league.folder, MODEL_FILES, ending)
        for path in (*models, self.league.folder):
            remove_folder(path, MODEL_FILES)
        log = self.folder / LOG
        remove_folder(log, [path.name for path in log.glob("events.out.tfevents.*")])
        for name in FILES:  # the settings last: as long as there are some, there is a training
            remove_file(self.folder / name)

    def take_up(self, notes: dict[str, Any]) -> None:
        """Go on where a checkpoint was made; what was written after it is played anew."""
        self.curve, self.best, self.seconds = notes["curve"], notes["best"], notes["seconds"]
        self.next_evaluation, self.next_member = notes["next_evaluation"], notes["next_member"]
        for member in self.league.members():
            if member.name not in notes["league"]:
                remove_folder(member, MODEL_FILES)
        self.cast.has_earlier = bool(self.league.members())
        self._write_curve()

    # ------------------------------------------------------------ running

    def run(self) -> list[Row]:
        """Train to the last step, or until somebody stops it; returns how the learner compares with the bots."""
        self.began = time.monotonic()
        settings, learner = self.settings, self.learner
        learner.set_logger(configure(str(self.folder / LOG), ["tensorboard"]))
        before = signal.signal(signal.SIGINT, self._asked_to_stop)
        try:
            with self.teller:
                try:
                    if settings.lessons and learner._last_obs is None:
                        self._teach()
                    left = settings.steps - learner.num_timesteps
                    if left > 0:
                        learner.learn(left, callback=self, reset_num_timesteps=False)
                except Finished:
                    self.stopped = True
                self._evaluate()
                self._checkpoint()
                return self._report()
        finally:
            signal.signal(signal.SIGINT, before)
            learner.logger.close()

    def _report(self) -> list[Row]:
        """Compare the best model with the bots, and draw the curve; whoever is in a hurry only gets the curve."""
        draw_curve(self.curve, self.settings, self.folder / PICTURE)
        if self.stopped:
            self.teller.say(f"stopped after {self.learner.num_timesteps:,} steps; --resume goes on")
        if self.stopping:
            return []
        players = 4 if 4 in self.counts else self.counts[0]
        games, seed = self.settings.evaluation_games, self.settings.seed + UNSEEN + 1  # others than chose the best
        rows = compare(read_model(self.folder / BEST), self.settings.task, players=players, games=games, seed=seed)
        found = list(self.teller.comparing(rows))
        about = {"command": self.command, "comparison": [asdict(row) for row in found]}
        write_here(self.folder / REPORT, json.dumps(about, indent=2) + "\n")
        return found

    def _teach(self) -> None:
        settings = self.settings
        course = lessons(
            [Ruleset(edition=settings.edition, players=count) for count in self.counts],
            settings.games // LESSON_SHARE,
            reward=self.reward,
            whole_table=settings.whole_table,
            lookahead=settings.lookahead,
            seed=settings.seed + 1,  # other games than those it will play itself
            device=self.learner.device,
        )
        teach(self.learner, course, settings.lessons, settings.lesson_rate, self._after_lesson)

    def _after_lesson(self, steps: int, agreed: float) -> None:
        self.teller.lesson(steps, agreed)
        if self.stopping:
            raise Finished

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
            self.next_checkpoint = steps
        if steps >= self.next_checkpoint:
            self._checkpoint()
            self.next_checkpoint = steps + settings.steps // TIMES_KEPT
        over = 0 < 60 * settings.minutes < time.monotonic() - self.began
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
            keep_model(self.league.place_for(steps), model)
            for member in self.league.to_leave():
                remove_folder(member, MODEL_FILES)
            self.next_member = steps + self.settings.steps // LEAGUE_GROWS
            self.cast.has_earlier = True
        drawn = self.league.draw(self.games.rng)
        if drawn is not None:
            self.earlier.load(read_model(drawn))

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
        for against, count in product(settings.tables(), self.counts):
            found += evaluate(
                Policy(model, determinizations=0), settings.task, against, players=count,
                games=settings.evaluation_games, seed=settings.seed + UNSEEN,
            )  # fmt: skip
        strength = [asdict(one) for one in found]
        self.curve.append({"steps": steps, "seconds": round(self._elapsed(), 1), "strength": strength})
        self._write_curve()
        for one in found:
            name = f"arena/{one.measure} against {one.against}/{one.players} players"
            self.learner.logger.record(name, one.value)
        self.learner.logger.dump(steps)
        model = replace(model, card=replace(model.card, strength=strength))
        keep_model(self.folder / LAST, model)
        reached = score(settings.task, strength)
        if self.best is None or reached >= self.best:
            self.best = reached
            keep_model(self.folder / BEST, model)
        self.teller.evaluation(steps, found)

    def _write_curve(self) -> None:
        lines = "".join(json.dumps(entry) + "\n" for entry in self.curve)
        write_here(self.folder / CURVE, lines)

    def _checkpoint(self) -> None:
        if self.learner._last_obs is None:
            return
        notes = {
            "curve": self.curve,
            "best": self.best,
            "seconds": self._elapsed(),
            "next_evaluation": self.next_evaluation,
            "next_member": self.next_member,
            "league": [member.name for member in self.league.members()],
        }
        checkpoint.save(self.folder / CHECKPOINTS, self.learner, self.games, notes)

    def _model(self) -> Model:
        """The learner as it is now."""
        policy = policy_of(self.learner)
        return Model(self._card(), policy.actor_layers(), policy.option_head_parts())

    def _card(self) -> ModelCard:
        return ModelCard(
            edition=self.settings.edition,
            players=self.counts,
            task=self.settings.task,
            lookahead=self.settings.lookahead,
            steps=self.learner.num_timesteps,
            seed=self.settings.seed,
            command=self.command,
            settings=self.settings.as_dict(),
            software=software(),
        )


def check(settings: Settings) -> None:
    """Complain about settings nothing can be trained with."""
    choices: dict[str, Iterable[str]] = {
        "task": TASKS,
        "reward": ("", *REWARDS),
        "opponents": CASTS,
        "edition": EDITIONS,
    }
    for name, known in choices.items():
        if getattr(settings, name) not in known:
            told = ", ".join(word for word in known if word)
            raise ValueError(f"--{name} {getattr(settings, name)!r} is not known; use one of {told}")
    counts = numbers(settings.players, "--players")
    if len(set(counts)) < len(counts) or not set(counts) <= set(PLAYER_COUNTS):
        raise ValueError(f"--players wants some of 3,4,5, each once, not {settings.players!r}")
    for name in ("steps", "games", "horizon", "minibatch", "epochs", "evaluate_every", "evaluation_games"):
        if getattr(settings, name) < 1:
            raise ValueError(f"--{name.replace('_', '-')} is a number from 1, not {getattr(settings, name)}")
    if settings.trials < 0:
        raise ValueError(f"--trials is a number of turns, or 0 for none, not {settings.trials}")
    if settings.trials and settings.task != "win":
        raise ValueError("trials are measured by win probability: use --task win with them, or --trials 0")
    if settings.trials and settings.reward:
        raise ValueError(
            f"trials are measured by win probability and not by --reward {settings.reward!r}: leave out one of the two"
        )
    if settings.trials and settings.lookahead and settings.lessons:
        raise ValueError(
            "lessons are of no use with lookahead features and trials: the learner is told the merchant's moves, and "
            "has no critic; leave out --lessons, --lookahead or --trials"
        )
    if settings.opponents == NOBODY and not settings.trials:
        raise ValueError("a learner that decides for every seat has nothing to win: use --trials, or other --opponents")
    if settings.device.partition(":")[0] not in ("cpu", "cuda"):
        raise ValueError(f"--device is cpu or cuda, not {settings.device!r}")
    if settings.device.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError("there is no GPU that torch can use; train with --device cpu")
    for name in settings.tables():
        find_agent(name)


def keep_model(folder: Path, model: Model) -> None:
    """Write a model into a folder, whose files are replaced once all of it is written."""
    new = folder.with_name(folder.name + NEW)
    clear_folder(new, MODEL_FILES)
    write_model(new, model)
    move_folder(new, folder)


def check_notes(path: Path, notes: dict[str, Any], settings: Settings) -> None:
    """Complain about notes of a checkpoint that no training has made."""
    measures = [measure.name for measure in TASKS[settings.task]]
    measured = set(product(measures, settings.tables(), numbers(settings.players, "--players")))
    try:
        values = [notes[name] for name in ("seconds", "next_evaluation", "next_member")] + [notes["best"] or 0]
        for entry in notes["curve"]:
            found = [Measurement(**one) for one in entry["strength"]]
            if {(one.measure, one.against, one.players) for one in found} != measured:
                raise ValueError("the curve is that of another training")
            values += [entry["steps"], *(value for one in found for value in (one.value, one.low or 0, one.high or 0))]
        if not all(type(value) in (int, float) and abs(value) < MOST for value in values):
            raise ValueError("a number is none, or too large")
        if not set(map(type, notes["league"])) <= {str}:
            raise ValueError("the league has names that are no texts")
    except (ValueError, KeyError, TypeError) as error:
        told = on_one_line(str(error))
        raise checkpoint.CheckpointError(f"{path}: cannot go on from this checkpoint: its notes: {told}") from None


def refuse_code(path: Path, agents: Iterable[str]) -> None:
    """Complain about an agent in a file that is no registered one: finding it would run code that the file names."""
    try:
        for agent in agents:
            check_registered(agent)
    except UnknownAgent as error:
        raise UnknownAgent(f"{path}: {error}; if you trust this one, resume with --against and its name") from None


def refuse_other_settings(given: Settings, before: Settings) -> None:
    """Complain about what cannot be changed once a training has begun; what is left at its default was not given."""
    usual = Settings()
    for name, value in before.as_dict().items():
        wish = getattr(given, name)
        if name not in MAY_CHANGE and wish not in (value, getattr(usual, name)):
            may = ", ".join(f"--{other}" for other in MAY_CHANGE)
            raise ValueError(
                f"the training has --{name.replace('_', '-')} {value} and cannot go on with {wish}: only {may} "
                "may change; leave it out, or train anew with another --out"
            )


def software() -> dict[str, str]:
    """The versions of what trains."""
    return {name: version(name) for name in SOFTWARE} | {"python": platform.python_version()}


def falling(left: float) -> float:
    """1 at the start of a training and LEAST at its end, where nothing is left of it."""
    return LEAST + (1 - LEAST) * left
