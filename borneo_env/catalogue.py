"""The catalogue of Borneo's agents; see `kontor.catalogue`."""

from functools import partial

from borneo_env.agent import AGENTS
from kontor import catalogue as kontor
from kontor.catalogue import REQUIRED, Argument, Entry

__all__ = ["REQUIRED", "Argument", "Entry", "catalogue", "entry"]

catalogue, entry = partial(kontor.catalogue, AGENTS), partial(kontor.entry, AGENTS)
