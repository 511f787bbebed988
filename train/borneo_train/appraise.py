"""The command `borneo appraise`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from borneo_env.console import AsJson
from borneo_train.extra import missing
from borneo_train.folders import owned
from borneo_train.imitate import Batch, Device, Epochs, Fresh, Kind, Minutes, Out, Rate, Seed

Folder = Annotated[str, typer.Argument(help="Folder of the policy whose critic learns.", show_default=False)]
Others = Annotated[str, typer.Option(help="Folder of a policy that plays as the others do, for its searches.")]
Shippers = Annotated[str, typer.Option(help="Folder of one that ships as they do; else --others ships as well.")]
Among = Annotated[str, typer.Option(help="The bot that has all seats but the policy's.")]
Tables = Annotated[int, typer.Option(help="Tables to learn from instead; only so it is repeatable.")]
Envs = Annotated[int, typer.Option(help="Games played side by side, to their ends.")]


def appraise(
    policy: Folder,
    others: Others = "",
    shippers: Shippers = "",
    among: Among = "merchant",
    out: Out = Path("out/appraised"),
    minutes: Minutes = 5.0,
    timesteps: Tables = 0,
    network: Kind = "tied",
    n_envs: Envs = 512,
    batch_size: Batch = 2048,
    n_epochs: Epochs = 2,
    learning_rate: Rate = 4e-4,
    device: Device = "auto",
    seed: Seed = 0,
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> None:
    """Teach the critic of a policy what others' turns are worth, for its search (needs the extra `train`)."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # see `borneo train`
    try:
        from borneo_train.appraisal import Appraisal, Appraiser
        from borneo_train.watching import Watching, checked
    except ModuleNotFoundError as error:
        raise ValueError(str(missing(error))) from None
    lesson = Appraisal(
        policy, others, shippers, among, network, n_envs, n_epochs, batch_size, learning_rate, device, seed
    )
    with owned(out, "an appraisal"):
        watching = Watching(lambda: Appraiser(checked(lesson)), out, timesteps, minutes, fresh)
        watching.run_and_tell("of a win is how far it is off at others' turns of unseen games", as_json)
