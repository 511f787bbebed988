"""Bots that play by rules of thumb, compiled like the rules of the game.

One file has the rules of each bot; `dispatch` is the one door to them, `agents` has their classes, and `valuation/` is
what they think with.
"""
