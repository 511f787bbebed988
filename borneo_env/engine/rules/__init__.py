"""The rules, one file per chapter of RULES.md; in each, `legal_x` and `apply_x` stand side by side.

`legal_x(box, g, options)` writes the ids of the legal actions into `options`, ascending, and returns how many there
are; `apply_x(box, g, action)` carries one out. Both work on one GAME record `g` and the BOX record of its ruleset.
They allocate nothing and raise nothing, so that they compile for any processor; callers check legality first.
"""
