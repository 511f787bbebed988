"""Leduc poker (Southey and others, 2005): a card each, one on the table, a round of bets before it and one after."""

from kontor import CHANCE, OVER, OWN, SEAT, Axis, Bounds, Dealing, Field, Game, Phase, action

FOLD, CALL, RAISE = range(3)
DEAL, FLOP, BET = range(3)
MOST_RAISES = 2  # in a round
STAKES = (2, 4)  # what a raise costs in each round


def begin(box, g):
    g.phase, g.player = BET, 0


def begin_again(box, g):
    g.phase, g.player, g.stage = BET, 0, 1


def legal_bet(box, g, options):
    n = 0
    if g.paid[g.player] < g.paid[1 - g.player]:
        options[n] = FOLD
        n += 1
    options[n] = CALL
    n += 1
    if g.raises < MOST_RAISES:
        options[n] = RAISE
        n += 1
    return n


def apply_bet(box, g, move):
    player, other = g.player, 1 - g.player
    g.said[g.stage, g.moves] = move
    g.moves += 1
    if move != FOLD:
        g.paid[player] = g.paid[other]
    if move == RAISE:
        g.paid[player] += STAKES[g.stage]
        g.raises += 1
    if move == FOLD:
        g.folded, g.player = player, OVER
    elif move == RAISE or g.moves == 1:
        g.player = other
    elif g.stage == 1:
        g.player = OVER
    else:
        g.moves, g.raises, g.phase, g.player = 0, 0, FLOP, CHANCE


def worth(g, player):
    rank = g.card[player] // 2
    return 3 + rank if rank == g.board // 2 else rank


def points(box, g, player):
    other = 1 - player
    if g.player != OVER or g.folded == player:
        return -1 - g.paid[player]
    if g.folded == other or worth(g, player) > worth(g, other):
        return 1 + g.paid[other]
    return -1 - g.paid[player] if worth(g, player) < worth(g, other) else 0


def bounds(ruleset):
    return Bounds(least=-13, most=13, total=0)


CARD = Axis("card", ("jack 1", "jack 2", "queen 1", "queen 2", "king 1", "king 2"), copies=1)
MOVE = Axis("move", ("fold", "call", "raise"))
LEDUC = Game(
    "leduc", title="Leduc poker", points=points, bounds=bounds,
    actions=(action("fold"), action("call"), action("raise")),
    fields=(
        Field("card", CARD, (SEAT,), "the card of each player", OWN),
        Field("board", CARD, (), "the card on the table"),
        Field("paid", (0, 12), (SEAT,), "chips in the pot beside the first one"),
        Field("stage", (0, 1), (), "the round of bets"),
        Field("said", MOVE, (2, 4), "the moves of each round"),
        Field("moves", (0, 4), (), "moves in this round"),
        Field("raises", (0, MOST_RAISES), (), "raises in this round"),
        Field("folded", SEAT, (), "who has folded"),
    ),
    phases=(
        Dealing("deal", "card", begin),
        Dealing("flop", "board", begin_again),
        Phase("bet", legal_bet, apply_bet, "Fold, call or raise?"),
    ),
)  # fmt: skip
