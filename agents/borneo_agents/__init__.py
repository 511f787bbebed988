"""Bots that play Borneo, and the arena in which they are compared.

Scripted bots are one file each (`contractor.py`, `climber.py`, `merchant.py`), compiled like the rules. What they
think with is in files of its own: `goods.py`, `hands.py`, `ladders.py`, `sharing.py`, `outlook.py`, `contests.py`,
`bargains.py`. `room.py` is their scratch paper, `scripted.py` the one door to them. Search bots (`rollout.py`,
`ismcts.py`) let them play in imagined games (`search.py`), judged by `chances.py`.
"""
