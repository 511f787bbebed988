"""Kuhn poker with every function written out, so that tests can put a mistake into any: see wrong_kuhn.py."""

from kontor import CHANCE, OVER, OWN, SEAT, Axis, Field, Game, Phase, action


def in_play(box, card):
    return card <= box.players  # two players take no ace


CARD = Axis("card", ("jack", "queen", "king", "ace"), copies=1, there=in_play)
MOVE = Axis("move", ("pass", "bet"))
DEAL, BET = range(2)


def setup(box, g):
    g.phase, g.player = DEAL, CHANCE


def legal_deal(box, g, cards):
    n = 0
    for card in range(box.players + 1):
        dealt = False
        for player in range(box.players):
            dealt = dealt or g.card[player] == card
        if not dealt:
            cards[n] = card
            n += 1
    return n


def apply_deal(box, g, card):
    g.card[g.dealt] = card
    g.dealt += 1
    if g.dealt == box.players:
        g.phase, g.player = BET, 0


def legal_bet(box, g, options):
    options[0], options[1] = 0, 1
    return 2


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


KUHN = Game(
    "kuhn", title="Kuhn poker", players=(2, 3), setup=setup, points=points,
    fields=(
        Field("card", CARD, (SEAT,), "the card of each player", OWN),
        Field("dealt", (0, 3), (), "cards dealt"),
        Field("said", MOVE, (6,), "the moves so far"),
        Field("moves", (0, 5), (), "how many there are"),
        Field("opened", (0, 3), (), "the number of the move that bet first, or 0"),
    ),
    actions=(action("pass"), action("bet")),
    outcomes=(action("deal", card=CARD),),
    phases=(Phase("deal", legal_deal, apply_deal), Phase("bet", legal_bet, apply_bet, "Pass or bet?")),
)  # fmt: skip
