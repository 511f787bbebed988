"""The command `borneo train`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from borneo_env.console import AsJson
from borneo_train.commands.options import with_options
from borneo_train.extra import missing
from borneo_train.run.config import Settings, check_numbers, usual
from borneo_train.run.folders import owned

WHERE = "Where"
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the training in --out, with its settings.", rich_help_panel=WHERE)
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Remove the training in --out, and start anew.", rich_help_panel=WHERE)
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Let workers learn on a cluster of Ray (needs the extra `ray`).",
        metavar="local|ADDRESS",
        rich_help_panel=WHERE,
    ),
]


@with_options(Settings, usual)
def train(
    context: typer.Context,
    *,
    resume: Resume = False,
    fresh: Fresh = False,
    cluster: Cluster = None,
    as_json: AsJson = False,
    **given: Any,
) -> None:
    """Train a policy by self-play (needs the extra `train`)."""
    if resume and fresh:
        raise ValueError("--resume goes on, and --fresh starts anew: give one of them")
    # Threads of torch that wait without sleeping take the cores from others, and from each other: on a busy machine
    # learning is several times slower with them.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        from borneo_train.distributed.local import LocalWorkers
        from borneo_train.distributed.ray import RayWorkers, run_on
        from borneo_train.run.training import Training
    except ModuleNotFoundError as error:
        raise ValueError(str(missing(error))) from None
    settings = Settings(**given)
    sources = {name: context.get_parameter_source(name) for name in given}
    typed = {name: given[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}
    check_numbers(settings, typed)
    command = shlex.join(["borneo", *sys.argv[1:]])
    workers = LocalWorkers if cluster is None else RayWorkers
    with owned(Path(settings.out), "a training"):
        if resume:
            training = Training.resume(settings.out, typed, workers)
        else:
            training = Training.create(settings, command, fresh, workers)
        if cluster is None:
            training.run()
        else:
            run_on(cluster, training)
    if as_json:
        print(json.dumps(training.curve))
    if training.stopped and training.stopping:  # by Ctrl-C; minutes that are over are no interruption
        raise typer.Exit(130)
