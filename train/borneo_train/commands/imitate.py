"""The command `borneo imitate`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from borneo_env.console import AsJson
from borneo_train.commands.options import with_options
from borneo_train.extra import missing
from borneo_train.run.folders import owned
from borneo_train.supervised.config import BCConfig

WHERE = "Where"
Agent = Annotated[str, typer.Argument(help="The agent to imitate; or several, with commas between them.")]
Out = Annotated[Path, typer.Option(help="Folder for the policy.", rich_help_panel=WHERE)]
Minutes = Annotated[float, typer.Option(help="Minutes to learn for.", rich_help_panel=WHERE)]
Timesteps = Annotated[
    int, typer.Option(help="Decisions to learn from instead; only so it is repeatable.", rich_help_panel=WHERE)
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Replace the policy in --out.", rich_help_panel=WHERE)]


@with_options(BCConfig)
def imitate(
    agent: Agent,
    *,
    out: Out = Path("out/imitation"),
    minutes: Minutes = 5.0,
    timesteps: Timesteps = 0,
    fresh: Fresh = False,
    as_json: AsJson = False,
    **given: Any,
) -> None:
    """Train a network to play as an agent does: behaviour cloning (needs the extra `train`)."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # see `borneo train`
    try:
        from borneo_train.supervised.run import SupervisedRun
    except ModuleNotFoundError as error:
        raise ValueError(str(missing(error))) from None
    with owned(out, "an imitation"):
        run = SupervisedRun(BCConfig(agent, **given), out, timesteps, minutes, fresh)
        found = run.run(shlex.join(["borneo", *sys.argv[1:]]))
    if as_json:
        print(json.dumps(asdict(found)))
    else:
        share = found.words(".1f", 0.01)
        print(f"{share} % of the decisions of unseen games are those of {agent}; play it as policy:{out}")
    if run.stopping:
        raise typer.Exit(130)
