"""The command `borneo train`: its options are the settings, one by one."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from borneo_env.console import AsJson
from borneo_train.extra import missing
from borneo_train.folders import owned
from borneo_train.settings import Settings, usual, where

MORE: dict[str, tuple[Any, Any]] = {
    "resume": (Annotated[bool, where("Go on with the training in --out, with its settings.", "--resume")], False),
    "fresh": (Annotated[bool, where("Remove the training in --out, and start anew.", "--fresh")], False),
    "cluster": (
        Annotated[
            str | None,
            where("Let workers learn on a cluster of Ray (needs the extra `ray`).", metavar="local|ADDRESS"),
        ],
        None,
    ),
    "as_json": (AsJson, False),
}


def train(context: typer.Context, **given: Any) -> None:
    """Train a policy by self-play (needs the extra `train`)."""
    resume, fresh, cluster, as_json = (given.pop(name) for name in MORE)
    if resume and fresh:
        raise ValueError("--resume goes on, and --fresh starts anew: give one of them")
    # Threads of torch that wait without sleeping take the cores from others, and from each other: on a busy machine
    # learning is several times slower with them.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        from borneo_train.cluster import Elsewhere, run_on
        from borneo_train.report import print_report
        from borneo_train.training import Training
        from borneo_train.workers import Workers
    except ModuleNotFoundError as error:
        raise ValueError(str(missing(error))) from None
    settings = Settings(**given)
    typed = {name for name in given if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"}
    settings.check_numbers(typed)
    command = shlex.join(["borneo", *sys.argv[1:]])
    company = Workers if cluster is None else Elsewhere
    with owned(Path(settings.out), "a training"):
        training = (
            Training.taken_up(settings, company, typed=typed)
            if resume
            else Training.begun(settings, command, fresh, company)
        )
        report = training.run() if cluster is None else run_on(cluster, training)
    if as_json:
        print(json.dumps([asdict(row) for row in report]))
    else:
        print_report(report, training.folder)
    if training.stopped and training.stopping:  # by somebody; minutes that are over are no interruption
        raise typer.Exit(130)


def _signature() -> inspect.Signature:
    hints = get_type_hints(Settings, include_extras=True)
    options = {field.name: (hints[field.name], field.default) for field in fields(Settings)} | MORE
    for name, (kind, _) in options.items():
        kind.__metadata__[0].show_default = usual(name) or True
    return inspect.Signature(
        [
            inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
                for name, (kind, default) in options.items()
            ),
        ]
    )


train.__signature__ = _signature()  # type: ignore[attr-defined]
train.__annotations__ = {name: option.annotation for name, option in _signature().parameters.items()}
