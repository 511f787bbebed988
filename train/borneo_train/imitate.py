"""The command `borneo imitate`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from borneo_env.console import AsJson, Edition
from borneo_train.extra import missing
from borneo_train.folders import owned

Agent = Annotated[str, typer.Argument(help="Who is imitated: an agent, or several with commas between them.")]
Guest = Annotated[str, typer.Option(help="Who has one seat of most games; else the network itself.")]
Among = Annotated[str, typer.Option(help="A bot that has all seats of each game but one, where the agent is asked.")]
Phases = Annotated[str, typer.Option(help="Learn its decisions of these phases alone, such as ship or take,drop.")]
Out = Annotated[Path, typer.Option(help="Folder for the policy.")]
Minutes = Annotated[float, typer.Option(help="Minutes to learn for.")]
Timesteps = Annotated[int, typer.Option(help="Decisions to learn from instead; only so it is repeatable.")]
Counts = Annotated[str, typer.Option("--players", help="Player counts, all learnt by one policy.")]
Kind = Annotated[str, typer.Option(help="tied: what it learns of a company holds for all; or plain.")]
Actor = Annotated[str, typer.Option(help="Width and number of the layers.")]
Envs = Annotated[int, typer.Option(help="Games played side by side.")]
Batch = Annotated[int, typer.Option(help="Decisions in each step of the optimiser.")]
Epochs = Annotated[int, typer.Option(help="How often each decision is learnt from, about.")]
Start = Annotated[str, typer.Option(help="Folder of a policy, to begin with what its actor has learnt.")]
Rate = Annotated[float, typer.Option(help="Of Adam, at first; falls to a fiftieth.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Replace the policy in --out.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto: cuda where there is a card. Games stay on the CPU.")]
Seed = Annotated[
    int, typer.Option(help="With --timesteps, on the same kind of CPU, the same seed gives the same policy.")
]


def imitate(
    agent: Agent,
    guest: Guest = "",
    among: Among = "",
    phases: Phases = "",
    out: Out = Path("out/imitation"),
    minutes: Minutes = 5.0,
    timesteps: Timesteps = 0,
    players: Counts = "3,4,5",
    edition: Edition = "board",
    network: Kind = "tied",
    actor: Actor = "256x2",
    n_envs: Envs = 1536,
    batch_size: Batch = 1024,
    n_epochs: Epochs = 2,
    learning_rate: Rate = 1e-3,
    start: Start = "",
    device: Device = "auto",
    seed: Seed = 0,
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> None:
    """Train a network to play as an agent does (needs the extra `train`)."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # see `borneo train`
    try:
        from borneo_train.imitation import Imitator, Lesson
        from borneo_train.watching import Watching, checked
    except ModuleNotFoundError as error:
        raise ValueError(str(missing(error))) from None
    lesson = Lesson(
        agent, guest, among, phases, players, edition, network, actor, n_envs,
        n_epochs=n_epochs, batch_size=batch_size, learning_rate=learning_rate, start=start, device=device, seed=seed,
    )  # fmt: skip
    with owned(out, "an imitation"):
        watching = Watching(lambda: Imitator(checked(lesson)), out, timesteps, minutes, fresh)
        watching.run_and_tell(f"of the decisions of unseen games are those of {agent}", as_json)
