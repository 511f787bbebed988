"""Bots for one game at a time: a subclass of `Bot` has a method `decide(view, options)`."""

from __future__ import annotations

from borneo_env.view import Option, View
from kontor import bot
from kontor.bot import NotAnOption

__all__ = ["Bot", "NotAnOption"]


class Bot(bot.Bot):
    __doc__ = bot.Bot.__doc__

    def decide(self, view: View, options: list[Option]) -> Option:
        """One of the options."""
        raise NotImplementedError(f"{type(self).__name__} has no method decide(self, view, options)")
