"""dev: indexes of weights and their defaults."""
import numpy as np
NAMES = {}
def _w(name, value):
    NAMES[name] = (len(NAMES), value)
    return len(NAMES) - 1
INCOME = _w("INCOME", 4.8)      # spices per distribution all players together
REACH_EACH = _w("REACH_EACH", .8)
REACH_SAME = _w("REACH_SAME", .4)
SECOND = _w("SECOND", .7)
DENY = _w("DENY", .2)
UNIT = _w("UNIT", 1.9)
HOLD = _w("HOLD", .8)
OUTLOOK = _w("OUTLOOK", .6)
OWN_TURN = _w("OWN_TURN", .3)
RANK1 = _w("RANK1", .45)
RANK2 = _w("RANK2", .07)
RANK3 = _w("RANK3", .07)
RANK4 = _w("RANK4", .04)
RANK_HORIZON = _w("RANK_HORIZON", 3.0)
CARD = _w("CARD", .2)
CARD_MAJOR = _w("CARD_MAJOR", .3)
CARD_TOP = _w("CARD_TOP", .2)
FRESH = _w("FRESH", 0.0)
PASS_CONTRACT = _w("PASS_CONTRACT", .3)
OWED = _w("OWED", 1.6)
DENY_TAKE = _w("DENY_TAKE", .15)
ATTACK_MARGIN = _w("ATTACK_MARGIN", .05)
LOST_ATTACK = _w("LOST_ATTACK", 1.2)
HANDFLAG = _w("HANDFLAG", .1)
DENY_RANK = _w("DENY_RANK", .3)
CARD_FULL = _w("CARD_FULL", .5)
LEADER = _w("LEADER", .05)
LATER = _w("LATER", .45)
END_WIN = _w("END_WIN", 4.0)
RANK_HAND = _w("RANK_HAND", .25)
FLOW = _w("FLOW", 0.)
RUNG2 = _w("RUNG2", .22)
FIRST_OF = _w("FIRST_OF", .3)
DEFAULT = np.zeros(64)
for _i, _v in NAMES.values():
    DEFAULT[_i] = _v
