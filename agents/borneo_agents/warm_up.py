"""Compiles all that the package can compile, in several processes, so that nobody waits for it later."""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any

import numpy as np

from borneo_agents.policy.agent import Policy
from borneo_agents.policy.search import OptionSearch
from borneo_agents.scripted.agents import Merchant
from borneo_agents.scripted.dispatch import MERCHANT, Bots
from borneo_agents.scripted.valuation.win_probability import win_probability
from borneo_agents.search.ismcts import Ismcts
from borneo_env import Batch, Ruleset, env, redact, resample
from borneo_env.agent import Agent, Views
from borneo_env.vector import Seats
from kontor.compile.progress import progress

POLL_SECONDS = 0.2


def compile_all(processes: int, heard: Callable[[str], None]) -> None:
    """Compile all; `heard` is called with the name of each function that was not compiled before."""
    context = get_context("spawn")
    names: Any = context.Queue()
    with ProcessPoolExecutor(processes, context, _listen, (names,)) as pool:
        for jobs in (FIRST, AFTER):
            running = {pool.submit(job) for job in jobs}
            while running:
                done, running = wait(running, POLL_SECONDS)
                _hear(names, heard)
                for job in done:
                    job.result()
        _hear(names, heard)


def _listen(names: Any) -> None:
    progress.heard = names.put


def _hear(names: Any, heard: Callable[[str], None]) -> None:
    while True:
        try:
            heard(names.get(timeout=POLL_SECONDS / 10))
        except queue.Empty:
            return


def _some_games() -> Batch:
    return Batch(2, Ruleset(), seed=1, finished="hold")


def _asked(agent: Agent) -> None:
    batch = _some_games()
    agent.act(Views(batch.ruleset, *batch.view(np.arange(len(batch)))))


def use_engine() -> None:
    batch = _some_games()
    batch.step(batch.sample())
    batch.play_random(1)
    batch.refresh()
    batch.look(np.arange(len(batch)))
    batch.state(0)
    batch.scores()
    resample(redact(batch.games, 0), 0, np.random.default_rng(1))
    aec = env()
    aec.reset(seed=1)
    aec.step(int(aec.last()[0]["action_mask"].argmax()))
    for dtype in ("int8", "float32"):
        Seats(2, batch.ruleset, seed=1, dtype=dtype)


def use_bots() -> None:
    _asked(Merchant())


def use_search() -> None:
    _asked(Ismcts(budget=1))


def use_policy() -> None:
    batch = _some_games()
    views, search = Views(batch.ruleset, *batch.view(np.arange(len(batch)))), OptionSearch(Policy().model)
    log_probs = np.where(batch.mask, 0.0, -np.inf)
    search.with_budget(views, log_probs, 1)


def use_training() -> None:
    batch = _some_games()
    win_probability(batch.ruleset, batch.games)
    bots, kinds = Bots(batch), np.full((len(batch), batch.ruleset.players), MERCHANT, np.int8)
    bots.choose(kinds, np.arange(len(batch)))
    bots.play(kinds, np.arange(len(batch)))


# What the second needs of the first is found on disk.
FIRST = (use_bots, use_engine)
AFTER = (use_search, use_policy, use_training)
