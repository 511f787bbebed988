"""Which options learn best? Ray Tune tries some, and stops early what wins little: `python train/examples/ray_tune.py`.

Every trial is a training of its own, on one core. After each evaluation it reports how often it wins in the arena
against three of a bot. Of the trials that have come as far, the worse half is stopped (ASHA). Needs the extras `train`
and `ray`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from borneo_agents.cluster import LOCAL, joined
from borneo_train.run.config import Settings
from borneo_train.run.progress import ProgressReporter
from borneo_train.run.tasks import Evaluation
from borneo_train.run.training import Training
from ray import tune
from ray.tune.schedulers import ASHAScheduler
from ray.tune.search.basic_variant import BasicVariantGenerator
from rich.console import Console

OPTIONS = {
    "learning_rate": tune.loguniform(3e-4, 1e-2),
    "ent_coef": tune.loguniform(3e-3, 6e-2),
    "gae_lambda": tune.choice([0.9, 0.95, 0.97, 0.99]),
    "margin_coef": tune.choice([0.0, 0.25, 0.5, 1.0]),
}


class TuneReporter(ProgressReporter):
    """Reports every evaluation; Tune may end the trial there."""

    def evaluation(self, steps: int, found: list[Evaluation]) -> None:
        tune.report({"wins": found[0].value, "decisions": steps})


def trial(options: dict[str, Any], settings: dict[str, Any]) -> None:
    """One training with some options."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Settings(**settings | options, device="cpu", workers=1, out=Path(folder) / "training")
        training = Training.create(wanted, "ray_tune.py")
        training.reporter = TuneReporter(Console(quiet=True))
        training.run()


def main(
    trials: Annotated[int, typer.Option(help="Sets of options that are tried.")] = 8,
    timesteps: Annotated[int, typer.Option(help="Decisions of a trial that is not stopped.")] = 1_000_000,
    evaluations: Annotated[int, typer.Option(help="Moments at which a trial may be stopped.")] = 8,
    games: Annotated[int, typer.Option(help="Games of an evaluation.")] = 400,
    against: Annotated[str, typer.Option(help="The bot.")] = "merchant",
    cores: Annotated[int, typer.Option(help="Trials at a time, on this machine.")] = 2,
    seed: int = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search for good options of a training."""
    settings = {
        "players": "4", "timesteps": timesteps, "evaluations": evaluations, "evaluation_games": games,
        "against": against, "seed": seed,
    }  # fmt: skip
    with joined(LOCAL, cores), tempfile.TemporaryDirectory() as storage:
        tuner = tune.Tuner(
            tune.with_resources(tune.with_parameters(trial, settings=settings), {"cpu": 1}),
            param_space=OPTIONS,
            tune_config=tune.TuneConfig(
                metric="wins", mode="max", num_samples=trials, search_alg=BasicVariantGenerator(random_state=seed),
                scheduler=ASHAScheduler(max_t=evaluations + 1, grace_period=2, reduction_factor=2),
            ),
            run_config=tune.RunConfig(storage_path=storage, verbose=0),
        )  # fmt: skip
        results = tuner.fit()
    found = [(one.metrics, one.config) for one in results if one.metrics and "wins" in one.metrics]
    found.sort(key=lambda one: (one[0]["decisions"], one[0]["wins"]), reverse=True)
    if as_json:
        print(
            json.dumps([{"options": options, "wins": m["wins"], "decisions": m["decisions"]} for m, options in found])
        )
        return
    for metrics, options in found:
        told = ", ".join(f"{name} {value:.3g}" for name, value in options.items())
        print(f"{metrics['decisions']:>9,} decisions, {100 * metrics['wins']:5.1f} % wins: {told}")


if __name__ == "__main__":
    typer.run(main)
