"""Settings of behaviour cloning: the options of `borneo imitate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class BCConfig:
    """Options"""

    agent: Annotated[str, "The agent that is imitated; or several, with commas between them."]
    roll_in: Annotated[str, "Agent that has one seat of most games (roll-in policy); by default the network."] = ""
    players: Annotated[str, "Player counts, all learnt by one policy."] = "3,4,5"
    edition: Annotated[str, "board (2008) or card (2007)."] = "board"
    network: Annotated[str, "tied: weights shared over companies, spices and ports; or plain."] = "tied"
    actor: Annotated[str, "Width and number of the layers."] = "256x2"
    n_envs: Annotated[int, "Games played side by side."] = 1536
    n_steps: Annotated[int, "Decisions in each game between two updates."] = 16
    n_epochs: Annotated[int, "Passes through the decisions, about."] = 2
    batch_size: Annotated[int, "Decisions in each step of the optimiser."] = 1024
    learning_rate: Annotated[float, "Learning rate of Adam at the start; falls linearly to a fiftieth."] = 1e-3
    start: Annotated[str, "Folder of a policy: start with its actor."] = ""
    device: Annotated[str, "cpu, cuda, or auto: cuda where there is a card. Games stay on the CPU."] = "auto"
    seed: Annotated[int, "With --timesteps, on the same kind of CPU, the same seed gives the same policy."] = 0
