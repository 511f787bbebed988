"""Kuhn poker with mistakes that authors make: each a change of its text, the check that finds it, and its words."""

from pathlib import Path
from typing import NamedTuple

KUHN = Path(__file__).with_name("whole_kuhn.py").read_text(encoding="utf-8")
FOR_TWO = ("players=(2, 3)", "players=(2,)")
RULES = "setup=setup,"
OTHER = "1 - g.player"


class Mistake(NamedTuple):
    changes: tuple[tuple[str, str], ...]
    check: str
    words: str  # in the finding
    verdict: str = "failed"

    def text(self) -> str:
        """The game with the mistake in it."""
        text = KUHN
        for old, new in (FOR_TWO, *self.changes):
            assert old in text, f"{old!r} is not in Kuhn poker"
            text = text.replace(old, new)
        return text


def with_rules(functions: str, rules: str) -> tuple[tuple[str, str], ...]:
    """Functions before the game, given to it in place of those that follow from its fields."""
    names = "from kontor import LUCK, below\nfrom kontor.layout import laid_out\n"
    return (("def has_bet", f"{names}{functions}\n\ndef has_bet"), (RULES, f"{RULES} rules={{{rules}}},"))


PEEPS = """
def observe(box, g, seat, out):
    out[0] = g.card[0]

def layout(ruleset):
    return laid_out([("a card", (Axis("card", ("of player 0",)),), "")])
"""
SHOWS = """
def blank(box, g, seat):
    g.rng[:] = 0
    g.number = 0
"""
UNEVEN = """
def fill(box, g, seat, room):
    for player in range(box.players):
        if g.card[player] == -2:
            skip = below(g, LUCK, 4) == 0
            for card in range(3):
                free = g.card[0] != card and g.card[1] != card
                if free and not skip:
                    g.card[player] = card
                    break
                skip = skip and not free
"""
CARELESS = """
def fill(box, g, seat, room):
    for player in range(box.players):
        if g.card[player] == -2:
            g.card[player] = below(g, LUCK, 3)
"""
DEALT_BY_RULES = (
    ("def setup(box, g):\n    g.phase, g.player = DEAL, CHANCE", """from kontor import LUCK, below

def setup(box, g):
    g.card[0] = below(g, LUCK, 3)
    g.card[1] = (g.card[0] + 1 + below(g, LUCK, 2)) % 3
    g.phase, g.player = BET, 0"""),
    ("    outcomes=(action(\"deal\", card=CARD),),\n", ""),
    ("there=in_play", "there=in_play"),
)  # fmt: skip
ENDS = "g.player = OVER if g.moves == asked else g.moves % box.players"
MISTAKES = {
    "sees another's card": Mistake(
        with_rules(PEEPS, "'observe': observe, 'layout': layout"),
        "observations tell what a view tells", "block a card",
    ),
    "options tell another's card": Mistake(
        (("    return 2\n", f"    return 2 if g.card[{OTHER}] == 2 else 1\n"),),
        "twins look the same in observation and mask", "legal_bet gives seat",
    ),
    "a card is not blanked": Mistake(
        with_rules(SHOWS, "'blank_secrets': blank"), "redacted records hide what their fields say", "is shown card",
    ),
    "deals unevenly": Mistake(
        with_rules(UNEVEN, "'fill_secrets': fill"), "resampling deals as chance does", "is uneven",
    ),
    "deals a card twice": Mistake(
        with_rules(CARELESS, "'fill_secrets': fill"), "resampling deals as chance does", "no deal leads to",
    ),
    "deals unevenly, dealt by rules": Mistake(
        (*DEALT_BY_RULES, *with_rules(UNEVEN, "'fill_secrets': fill")),
        "resampling deals as chance does", "not as if dealt anew: card",
    ),
    "another generator": Mistake(
        (("def setup(box, g):\n", "import numpy as np\ndef setup(box, g):\n    np.random.randint(2)\n"),),
        "draws only through below", "setup uses numpy.random, at ",
    ),
    "the players' dice": Mistake(
        (("g.moves += 1\n", "g.moves += 1\n    below(g, CHOICES, 2)\n"),
         ("def setup", "from kontor.templates.dice import CHOICES, below\n\ndef setup")),
        "the dice of players are no chance", "apply_bet draws from CHOICES",
    ),
    "a field out of its range": Mistake(
        (('Field("moves", (0, 5)', 'Field("moves", (0, 1)'),),
        "every field in its range", "moves is from 0 to 1: moves = 2, after apply_bet",
    ),
    "options fall": Mistake(
        (("options[0], options[1] = 0, 1", "options[0], options[1] = 1, 0"),),
        "options ascending, distinct, never none", "legal_bet lists [1, 0]",
    ),
    "no options": Mistake(
        (("    return 2\n", "    return 0 if g.moves == 2 else 2\n"),),
        "options ascending, distinct, never none", "legal_bet lists nothing",
    ),
    "an option does nothing": Mistake(
        (("def apply_bet(box, g, move):\n", "def apply_bet(box, g, move):\n    if move == 0 and g.moves == 1:\n"
          "        return\n"),),
        "each option changes the record", "'pass' changes nothing: apply_bet",
    ),
    "no end": Mistake(
        ((ENDS, "g.player = g.moves % 2\n    if g.moves > 4:\n        g.moves, g.opened = 0, 0"),),
        "games end", "did not end in 60 decisions",
    ),
    "beyond an array": Mistake(
        (("g.said[g.moves] = move", "g.said[g.moves + 5] = move"),), "rules run", "apply_bet, ",
    ),
    "places that are none": Mistake(
        ((RULES, f"{RULES} places=place,"), ("def has_bet", "def place(box, g, player):\n    return 3\n\ndef has_bet")),
        "results add up", "places [3, 3] do not agree with points",
    ),
    "a weight of nothing": Mistake(
        (('Phase("deal", legal_deal, apply_deal)', 'Phase("deal", legal_deal, apply_deal, "", weigh)'),
         ("def has_bet", "def weigh(box, g, card):\n    return card\n\ndef has_bet")),
        "outcomes as likely as they say", "weigh says [0, 1, 2] of [0, 1, 2]",
    ),
    "never reached": Mistake(
        (('action("bet"))', 'action("bet"), action("fold"))'),), "every action is reached", "'fold'", "warned",
    ),
    "a text with a space": Mistake((('action("pass")', 'action("pass ")'),), "texts are plain", "'pass '", "warned"),
    "a secret number": Mistake(
        (('        Field("dealt"', '        Field("mood", (0, 3), (), "a number", "nobody"),\n        Field("dealt"'),),
        "what is hidden can be dealt anew", "nobody says how mood is dealt anew", "warned",
    ),
}  # fmt: skip
RIGHT = Mistake(DEALT_BY_RULES, "resampling deals as chance does", "by rejection", "ok")
