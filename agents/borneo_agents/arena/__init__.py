"""The arena: agents measured against each other, on the same deals and from all seats.

Its rooms, each of which imports only those above it:

    design/     the settings, and the tournament they make: who plays whom, in which seats, on which deals
    play/       chunks of games side by side, and agents that are asked whatever they do
    store/      the folder of a run, the digests of the code that played, records of games
    workers/    processes that play chunks, how they are watched, and what follows from the faults of agents
    report/     tables, plots and pages of what came of it
    ray/        chunks as tasks on the machines of a cluster, with the files of their agents
    run, result play_arena, from the first deal to the tables; a result that shows and writes itself

What a game of Borneo leaves behind and how play is measured stands in `borneo_env.outcomes`, which the arena reads by
the names that are declared there.
"""

from borneo_agents.arena.design.config import ArenaConfig
from borneo_agents.arena.report.tables import Progress
from borneo_agents.arena.result import ArenaResult
from borneo_agents.arena.run import ArenaStopped, play_arena
from kontor.traces import asks_agents

__all__ = ["ArenaConfig", "ArenaResult", "ArenaStopped", "Progress", "play_arena"]

asks_agents(__file__)
