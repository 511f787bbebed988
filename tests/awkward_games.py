"""Games that are awkward on purpose, for rooms that must work for any game."""

from kontor import OVER, OWN, SEAT, Axis, Field, Game, Phase, action

DRAW, STOP = range(2)


def apply_draw(box, g, move):
    """A player who draws has another turn at once; to stop lets the other go on, and the second stop ends the game."""
    if move == DRAW:
        g.taken[g.player] += 1
    else:
        g.stops += 1
        g.player = OVER if g.stops == box.players else g.stops


def legal_draw(box, g, options):
    options[0], options[1] = DRAW, STOP
    if g.taken[g.player] < 3:
        return 2
    options[0] = STOP
    return 1


def below_nothing(box, g, player):
    return -int(g.taken[player])


def nobody(box, g, player):
    return False


# Two turns in a row, points below nothing, and nobody ever wins.
PATIENCE = Game(
    "patience", points=below_nothing, wins=nobody, actions=(action("draw"), action("stop", declines=True)),
    fields=(
        Field("taken", (0, 3), (SEAT,), "how many each has drawn"),
        Field("stops", (0, 2), (), "how many have stopped"),
    ),
    phases=(Phase("draw", legal_draw, apply_draw, "Draw or stop?"),),
)  # fmt: skip


def set_out(box, g):
    g.phase, g.player = 0, 0
    for player in range(box.players):
        g.purse[player] = 10 + player


def apply_leave(box, g, move):
    """The first player may end the game before anybody else is asked."""
    g.purse[g.player] -= 1
    g.player = OVER if move == 1 or g.player == box.players - 1 else g.player + 1


def purse(box, g, player):
    return int(g.purse[player])


CHOICE = Axis("choice", ("stay", "leave"))
LEAVE = Game(
    "leave", points=purse, setup=set_out, players=(2, 4), actions=(action("choose", choice=CHOICE),),
    fields=(Field("purse", (0, 20), (SEAT,), "what each has", OWN),),
    phases=(Phase("choose", None, apply_leave, "Stay or leave?"),),
    telltale={"choose": False},
    rules={"fill_secrets": lambda box, g, seat, room: None, "can_be_filled": lambda box, g, seat, room: True},
)  # fmt: skip
