"""Bots that play Borneo, and the arena in which they are compared.

`scripted/` has bots that play by rules of thumb, `search/` those that search, `policy/` trained networks as agents, and
`human/` games with people. `arena/` measures agents against each other, and `statistics/` says how sure that is.
"""
