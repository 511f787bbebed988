"""What the examples with other libraries share: a reward, and how often a learner wins against random players."""

import json
import time
from dataclasses import asdict

import torch
from borneo_agents.arena import play_arena

from borneo_env.rewards import REWARDS

NO_CHANCE = -1e9  # the logit of an action that is not legal


def reward(ruleset, before, after):
    """The win at the end, and something for points on the way to it: wins alone are too rare to learn from."""
    return REWARDS["win"](ruleset, before, after) + REWARDS["score-delta"](ruleset, before, after) / 20


def network(inputs, outputs):
    """A network with one hidden layer."""
    return torch.nn.Sequential(torch.nn.Linear(inputs, 128), torch.nn.ReLU(), torch.nn.Linear(128, outputs))


class Player:
    """A network as an agent, which takes the legal action it likes most: in the arena, or as an opponent."""

    memoryless = True  # so it is asked for many games at once

    def __init__(self, actor):
        self.actor = actor

    def act(self, views):
        with torch.no_grad():
            logits = self.actor(torch.as_tensor(views.observe()).float())
        return logits.masked_fill(~torch.as_tensor(views.mask), NO_CHANCE).argmax(1).numpy()


class Experiment:
    """A training between two measurements: how often the learner wins, alone at tables of three random players."""

    def __init__(self, library, actor, games, seed):
        self.library, self.player, self.games, self.seed = library, Player(actor), games, seed
        self.before, self.begun = self._wins(), time.monotonic()

    def end(self, decisions, as_json):
        """Measure once more, and print what was learnt from so many decisions of the learner."""
        seconds, after = time.monotonic() - self.begun, self._wins()
        if as_json:
            told = {"library": self.library, "decisions": decisions, "seconds": round(seconds, 1), "seed": self.seed}
            print(json.dumps(told | {"before": self.before, "after": after}))
        else:
            print(f"{self.library} learnt from {decisions:,} decisions in {seconds:.0f} s")
            for when, share in (("before", self.before), ("after", after)):
                print("{0:6}: wins {value:.1%} ({low:.1%} to {high:.1%}) of {games} games".format(when, **share))

    def _wins(self):
        """With a 95 % interval, on other deals than it learns from."""
        agents, seed = {"learner": self.player, "random": "random"}, self.seed + 1
        rows = play_arena(agents, lineups="challenge", games=self.games, seed=seed, chunk=500).lone_seats
        share = next(row for row in rows if row.agent == "learner")
        return {"games": share.games, "seed": seed} | asdict(share.win_share)
