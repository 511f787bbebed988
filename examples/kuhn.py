"""Kuhn poker (1950), for two or three: a card each, a chip each in the pot, and one bet."""

from kontor import OVER, OWN, SEAT, Axis, Bounds, Dealing, Field, Game, Phase, action

DEAL, BET = range(2)


def in_play(box, card):
    return card <= box.players  # two players take no ace


def begin(box, g):
    g.phase, g.player = BET, 0


def apply_bet(box, g, move):
    g.said[g.moves] = move
    g.moves += 1
    if g.opened == 0 and move == 1:
        g.opened = g.moves
    asked = g.opened + box.players - 1 if g.opened > 0 else box.players
    g.player = OVER if g.moves == asked else g.moves % box.players


def has_bet(box, g, player):
    return g.said[player] == 1 or g.said[player + box.players] == 1


def points(box, g, player):
    pot, best = 0, -1
    for other in range(box.players):
        pot += 1 + has_bet(box, g, other)
        if (g.opened == 0 or has_bet(box, g, other)) and g.card[other] > best:
            best = g.card[other]
    return pot * (g.player == OVER and g.card[player] == best) - 1 - has_bet(box, g, player)


def bounds(ruleset):
    return Bounds(least=-2, most=4, total=0)


CARD = Axis("card", ("jack", "queen", "king", "ace"), copies=1, there=in_play)
KUHN = Game(
    "kuhn", title="Kuhn poker", players=(2, 3), points=points, bounds=bounds,
    actions=(action("pass"), action("bet")),
    fields=(
        Field("card", CARD, (SEAT,), "the card of each player", OWN),
        Field("said", Axis("move", ("pass", "bet")), (6,), "the moves so far"),
        Field("moves", (0, 5), (), "how many there are"),
        Field("opened", (0, 3), (), "the number of the move that bet first, or 0"),
    ),
    phases=(Dealing("deal", "card", begin), Phase("bet", None, apply_bet, "Pass or bet?")),
)  # fmt: skip
