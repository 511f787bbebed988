"""Compiles what many tests use in one process, so that the others find machine code: `make tests` begins with it.

Together, entries are compiled faster than each in another process: the rules they share are read once.
"""

import numpy as np
from borneo_agents.policy.lookahead import lookahead_in_batch
from borneo_agents.policy.racing import race_options
from borneo_agents.scripted.agents import Merchant
from borneo_agents.scripted.dispatch import MERCHANT, Bots
from borneo_agents.search.ismcts import Ismcts
from borneo_agents.search.rollout import Rollout
from borneo_agents.search.trials import Trials
from borneo_agents.search.win_probability import win_probability
from bot_games import determinized

import borneo_env
from borneo_env import Batch, Ruleset, redact, resample
from borneo_env.agent import Views
from borneo_env.vector import Seats


def use_the_engine(batch):
    batch.step(batch.sample())
    batch.play_random(1)
    batch.refresh()
    batch.look(np.arange(len(batch)))
    batch.state(0)
    batch.scores()
    resample(redact(batch.games, 0), 0, np.random.default_rng(1))
    env = borneo_env.env()
    env.reset(seed=1)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    for dtype in ("int8", "float32"):
        Seats(2, batch.ruleset, seed=1, dtype=dtype)


def use_the_bots(batch):
    rows = np.arange(len(batch))
    views = Views(batch.ruleset, *batch.view(rows))
    for agent in (Merchant(), Rollout(budget=1), Ismcts(budget=1)):
        agent.act(views)
    determinized(batch.games, views.dice, 0)
    win_probability(batch.ruleset, batch.games)
    lookahead_in_batch(batch, rows)
    race_options(views, batch.mask.copy(), np.zeros(batch.mask.shape), 1)
    Trials(batch).worth(batch.mask.copy(), 1)
    bots, kinds = Bots(batch), np.full((len(batch), batch.ruleset.players), MERCHANT, np.int8)
    bots.choose(kinds, rows)
    bots.play(kinds, rows)


if __name__ == "__main__":
    games = Batch(2, Ruleset(), seed=1, finished="hold")
    use_the_engine(games)
    use_the_bots(games)
