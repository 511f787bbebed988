"""Whatever a batch is handed is refused in words, or done: nothing is written beyond an array, and nothing hangs."""

import pickle
from functools import cache

import numpy as np
import pytest

from borneo_env import NO_ACTION, SPECTATOR, Batch, IllegalMove, Ruleset, redact
from borneo_env.engine.games import observe, results, state
from borneo_env.engine.observe import length, state_length
from borneo_env.engine.state import BOARD_SLOTS, CARDS, CHOICES, HAND
from borneo_env.render import Picture
from kontor.engine.batch_file import MOST_SAVED
from kontor.engine.check import BrokenGame

RULESET = Ruleset(players=3)
WIDTH = {"observe": length(BOARD_SLOTS), "state": state_length(BOARD_SLOTS)}
SEEN = {"observe": observe, "state": state}


@cache
def four_games():
    games = Batch(4, RULESET, seed=5, finished="hold")
    games.play_random(20)
    over = Batch(1, RULESET, seed=5, first=1, finished="hold")
    over.play_random()
    games.games[1] = over.games[0]
    games.refresh()
    assert (games.player >= 0).tolist() == [True, False, True, True]
    return games


@pytest.fixture
def batch():
    """Four held games, the second of them over."""
    return four_games().copy()


def all_of(batch):
    return batch.games.tobytes(), batch.mask.tobytes(), batch._desk.tobytes()


def legal(batch):
    """A legal action for each game."""
    return np.where(batch.player < 0, NO_ACTION, batch.mask.argmax(1))


def step_with(batch, place, action):
    """Step with this action for one game and legal ones for the others."""
    actions = legal(batch)
    actions[place] = action
    batch.step(actions)


# ---------------------------------------------------------------- refused


def make(_, given):
    return Batch(**{"size": 1} | given)


def each(name, *values):
    return [{name: value} for value in values]


def deal(batch, given):
    batch.deal_stacked(**{"game": 0, "start": 0, "draw": np.arange(CARDS), "ports": np.arange(12)} | given)


def row():
    return np.zeros(WIDTH["observe"], np.int8)


NO_GAMES = [-1, 4, 2**40, 1.0, True, "0", None, np.array([0, 1]), np.int64(-1)]
NO_SEATS = [3, -2, 2**40, 1.0, True, "0", [0, 1, 2, 3], [0.0] * 4, [[0] * 4]]
NO_ROWS = [[0.0, 1.0], [True, False], [[0, 1]], 3, "01", [None], [-1, 3], [3, 4], [3, 3], [2, 0]]
HUGE = [2**63, 2**64 - 1, 2**70, -(2**63) - 1, -(2**70)]
NOT_RECORDS = [np.zeros((2, 3)), np.zeros(3, np.int8), None, 5]

GAME = "there is no game .*; the batch has the games 0 to 3"
SEAT = r"a seat is a number from 0 to 2, or -1|one seat, or one for each"
ONE_SEAT = "a seat is the number of a player, or -1 for a spectator"
ROWS = "rows are different places of the batch, 0 to 3, in ascending order"
CARGO = "the 60 cargo cards has each number from 0 to 59 once"
PORTS = "the 12 ports in play has each number from 0 to 11 once"

# What is called with the batch and a wrong value; the wrong values; words of the message; the error if no ValueError.
REFUSALS = [
    (make, each("size", 0, -3, 2.0, True, 2**40, None), "a batch has at least 1 game, not "),
    (make, each("seed", -1, 2**64, 1.0, "7", False, np.float64(1), np.int64(-1)), "a seed is a whole number from 0"),
    (make, each("first", -1, 1.5, 2**63, True), "first is the number of a game"),
    (make, each("threads", 0, 1.5, True, np.float32(2)), "threads is a number from 1"),
    (make, each("finished", "x"), "'reset' or 'hold', not 'x'"),
    (make, each("players", 6), "3, 4 or 5 players, not 6"),
    (make, each("playerz", 3), "playerz", TypeError),
    (make, [{"ruleset": RULESET, "players": 3}], "either a ruleset or its fields, not both .*players", TypeError),
    (Batch.reset, [-1], "a seed is a whole number from 0"),
    (Batch.play_random, [True, 1.0, 2.5, -1, "3", 2**63], "steps is a number from 0, or None"),
    (lambda _, none: Batch(1).play_random(none), [None], "finished='hold'"),
    # actions
    (lambda batch, kind: batch.step(legal(batch).astype(kind)), [float, bool, str], "whole numbers", TypeError),
    (Batch.step, [np.array([0.0] * 4, object)], "whole numbers", TypeError),
    (Batch.step, [[0] * 3, [[0]] * 4, 0], "each of the 4 games"),
    (lambda batch, action: step_with(batch, 3, action), [-2, -400, 370, 2**40], "^game 3, player", IllegalMove),
    (lambda batch, action: batch.step([action], [2]), [370, *HUGE], "^game 2, player .* to 369", IllegalMove),
    (Batch.step, [[action] * 4 for action in HUGE], r"^game 0, player .*\(there are 0 to 369\)", IllegalMove),
    (Batch.check, [np.array([action] * 4, object) for action in HUGE], r"\(there are 0 to 369\)", IllegalMove),
    (Batch.step, [np.full(4, 2**64 - 1, np.uint64)], "^game 0, player", IllegalMove),
    (lambda batch, action: step_with(batch, 1, action), [0, 3, -2], "game 1 is over; give it NO_ACTION"),
    (lambda batch, action: batch.step_game(0, action), [1.0, True, "0", None, [1]], "a whole number", TypeError),
    (lambda batch, action: batch.step_game(0, action), [np.bool_(True)], "a whole number", TypeError),
    (lambda batch, action: batch.step_game(0, action), [NO_ACTION, -400, 370, *HUGE], "game 0, player", IllegalMove),
    # games, rows and seats
    (lambda batch, game: batch.step_game(game, 0), NO_GAMES, GAME),
    (lambda batch, game: batch.observe_game(game, 0, row()), NO_GAMES, GAME),
    (Batch.legal_moves, NO_GAMES, GAME),
    (Batch.phase_name, NO_GAMES, GAME),
    (Picture.of, NO_GAMES, GAME),
    (lambda batch, game: deal(batch, {"game": game}), NO_GAMES, GAME),
    (Batch.view, NO_ROWS, ROWS),
    (Batch.look, NO_ROWS, ROWS),
    (lambda batch, rows: batch.step([0, 0], rows), NO_ROWS, ROWS),
    (lambda batch, rows: batch.play(None, rows, (), (), ()), NO_ROWS, ROWS),
    (Batch.observe, NO_SEATS, SEAT),
    (Batch.state, [*NO_SEATS, None], SEAT),
    (lambda batch, seats: observe(RULESET, batch.games, seats), [*NO_SEATS, None], SEAT),
    (lambda batch, seats: state(RULESET, batch.games, seats), [*NO_SEATS, None], SEAT),
    (Batch.observe, [[0, 1], [0] * 5], "one for each of the 4 games"),
    (lambda batch, seat: batch.observe_game(0, seat, row()), [3, -2, 1.0, True, "0", None, [0]], ONE_SEAT),
    (lambda batch, seat: Picture.of(batch, 0, seat), [3, -2, 1.0, True, "0", [0]], ONE_SEAT),
    (lambda batch, out: batch.observe_game(0, 0, out), [np.zeros(5, np.int8), row()[None], None, 3], "out is an array"),
    (Batch.play_others, [3, SPECTATOR, -2, 0.0, [0, 1, 2, 3], None], "a number from 0 to 2|a spectator never"),
    # piles stacked by hand
    (deal, each("start", 3, -1, 0.0), "the start player is from 0 to 2, not "),
    (deal, each("draw", np.arange(59), np.arange(61), np.arange(1, 61), np.arange(60) - 1, np.arange(60) // 2), CARGO),
    (deal, each("draw", np.arange(60.0), np.arange(60)[None], 7, ["a"] * 60), CARGO),
    (deal, each("ports", np.arange(11), np.arange(14), [0] * 12, np.arange(12) + 60, []), PORTS),
    # records
    (lambda _, games: observe(RULESET, games, 0), NOT_RECORDS, "other fields"),
    (lambda _, games: state(RULESET, games, 0), NOT_RECORDS, "other fields"),
    (lambda _, games: results(RULESET, games), NOT_RECORDS, "other fields"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "wrong", "words", "error"),
    [
        pytest.param(call, value, words, *(error or [ValueError]), id=f"{words} {number}")
        for call, wrong, words, *error in REFUSALS
        for number, value in enumerate(wrong)
    ],
)
def test_wrong_use_is_refused_in_words_and_changes_nothing(batch, call, wrong, words, error):
    before = all_of(batch)
    with pytest.raises(error, match=words):
        call(batch, wrong)
    assert all_of(batch) == before and batch.seed == 5


@pytest.mark.parametrize("place", [0, 2, 3])
def test_every_masked_out_action_is_refused(batch, place):
    before = all_of(batch)
    from_behind = np.flatnonzero(batch.mask[place]) - len(batch.actions)
    for action in (*np.flatnonzero(~batch.mask[place]), *from_behind):
        with pytest.raises(IllegalMove, match=f"^game {place}, player {batch.player[place]}, phase "):
            step_with(batch, place, action)
    assert all_of(batch) == before


def test_the_complaint_names_game_player_phase_move_and_legal_moves(batch):
    while batch.phase_name(2) != "ship":
        batch.step(batch.sample())
    player = batch.player[2]
    elsewhere = np.flatnonzero(batch.games["place"][2, :CARDS] != HAND + player)[0]
    wrong, listed = f"'ship {elsewhere} 0' is not legal", ", ".join(batch.legal_moves(2))
    with pytest.raises(IllegalMove) as complaint:
        step_with(batch, 2, batch.actions.action(f"ship {elsewhere} 0", "ship"))
    assert str(complaint.value) == f"game 2, player {player}, phase ship: {wrong}; legal are: {listed}"


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize(
    "make_out",
    [
        lambda width: np.zeros((4, width - 1), np.int8),
        lambda width: np.zeros((4, width + 1), np.int8),
        lambda width: np.zeros((3, width), np.int8),
        lambda width: np.zeros((5, width), np.int8),
        lambda width: np.zeros(4 * width, np.int8),
        lambda width: np.zeros((1, 4, width), np.int8),
        lambda width: np.zeros((), np.int8),
        lambda width: read_only(np.zeros((4, width), np.int8)),
        lambda width: np.zeros((4, width), np.uint8),
        lambda width: np.zeros((4, width), np.bool_),
        lambda width: np.zeros((4, width), np.complex128),
        lambda width: np.zeros((4, width), ">i4"),
        lambda width: np.zeros((4, width), object),
        lambda width: np.zeros((4, width), "U1"),
        lambda width: [[0] * width] * 4,
        lambda width: bytearray(4 * width),
    ],
)
def test_an_array_that_does_not_fit_is_not_written_to(batch, name, make_out):
    out = make_out(WIDTH[name])
    before = bytes(out) if isinstance(out, bytearray) else repr(out)
    for look in (getattr(batch, name), lambda seats, out: SEEN[name](RULESET, batch.games, seats, out)):
        with pytest.raises(ValueError, match=r"out is an array of \(4, \d+\) that can be written to, of int8"):
            look(0, out)
    assert before == (bytes(out) if isinstance(out, bytearray) else repr(out))


# ---------------------------------------------------------------- done


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_an_array_that_fits_is_written_to(batch, name, dtype):
    for look in (getattr(batch, name), lambda seats, out=None: SEEN[name](RULESET, batch.games, seats, out)):
        out = np.full((4, WIDTH[name]), 99, dtype)
        assert look(1, out) is out
        assert np.array_equal(out, getattr(batch, name)(1))


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("seats", [0, 2, SPECTATOR, np.int8(1), np.uint64(2), [0, 1, 2, SPECTATOR], [1]])
def test_seats_of_players_and_spectators_are_seen_from(batch, name, seats):
    look = getattr(batch, name)
    rows = [look(int(seat))[i] for i, seat in enumerate(np.broadcast_to(seats, 4))]
    assert np.array_equal(look(seats), rows)
    assert np.array_equal(SEEN[name](RULESET, batch.games, seats), rows)


def test_one_game_is_observed_as_many_are(batch):
    out = np.zeros(WIDTH["observe"], np.float32)
    for game, seat in ((0, 2), (3, SPECTATOR), (np.int64(1), np.uint8(0))):
        batch.observe_game(game, seat, out)
        assert np.array_equal(out, batch.observe(int(seat))[game])


@pytest.mark.parametrize("kind", [list, np.int8, np.uint16, np.int64, object])
def test_actions_may_be_any_whole_numbers(kind):
    batch = Batch(4, RULESET, seed=5)
    twin = batch.copy()
    batch.step(legal(batch).tolist() if kind is list else legal(batch).astype(kind))
    twin.step(legal(twin))
    assert batch.games.tobytes() == twin.games.tobytes()


@pytest.mark.parametrize("kind", [int, np.int8, np.uint64])
def test_one_action_may_be_any_whole_number(batch, kind):
    twin = batch.copy()
    action = int(batch.mask[2].argmax())
    batch.step_game(kind(2), kind(action))
    twin.step([NO_ACTION, NO_ACTION, action, NO_ACTION])
    assert batch.games.tobytes() == twin.games.tobytes()


def test_rows_may_be_a_list(batch):
    assert np.array_equal(batch.look([0, 3])[0], batch.look(np.array([0, 3]))[0])


def test_a_stacked_game_has_its_streams_and_leaves_the_others_alone(batch):
    others = [0, 2, 3]
    before, number = batch.games[others].tobytes(), int(batch.games["number"][1])
    batch.deal_stacked(1, np.int64(2), list(range(CARDS)), range(12))
    assert batch.games[others].tobytes() == before
    assert batch.games["rng"][1].all() and batch.games["number"][1] == number
    picks = {int(batch.sample()[1]) for _ in range(40)}
    assert picks == set(np.flatnonzero(batch.mask[1])), "not always the first"
    batch.refresh()


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64])
def test_numbers_may_be_those_of_numpy(kind):
    batch = Batch(kind(3), RULESET, seed=kind(7), first=kind(5), threads=kind(1))
    twin = Batch(3, RULESET, seed=7, first=5, threads=1)
    assert batch.play_random(kind(50)) == twin.play_random(50)
    assert batch.games.tobytes() == twin.games.tobytes()
    numbers = (len(batch), batch.seed, batch.first, batch.threads)
    assert numbers == (3, 7, 5, 1) and {type(number) for number in numbers} == {int}


def test_the_last_number_is_followed_by_the_first():
    batch = Batch(2, Ruleset(tables="tiny"))
    batch.games["number"] = 2**63 - 1
    batch.reset(where=[True, False])
    assert batch.games["number"].tolist() == [1, 2**63 - 1]
    while batch.games["number"][1] > 2:
        batch.step(batch.sample())
    assert batch.games["number"][1] == 1
    batch.games["rng"][:, CHOICES] |= np.uint64(1)
    batch.refresh()


def test_a_file_holds_so_many_games(monkeypatch, tmp_path):
    monkeypatch.setattr("kontor.engine.batch_file.MOST_SAVED", 1)
    assert MOST_SAVED > 1_000_000
    with pytest.raises(ValueError, match="a file holds at most 1 games, not 2"):
        Batch(2).save(tmp_path / "batch")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- what a batch shows


@pytest.mark.parametrize("name", ["mask", "player", "phase", "done", "scores", "places", "contracts"])
@pytest.mark.parametrize("remade", [lambda batch: batch, Batch.copy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_what_a_batch_shows_stays_read_only(batch, name, remade):
    twin = remade(batch)
    shown = twin.result[name] if name in ("scores", "places", "contracts") else getattr(twin, name)
    for view in (shown, shown[:1], shown.view(), shown.T):
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True


def test_what_a_batch_shows_follows_its_games(batch):
    player, phase, mask, done = batch.player, batch.phase, batch.mask, batch.done
    seen = set()
    while (player >= 0).any():
        batch.step(batch.sample())
        assert (player == batch.games["player"]).all() and (phase == batch.games["phase"]).all()
        assert (mask.any(1) == (player >= 0)).all()
        seen.add(int(done.sum()))
    assert seen >= {0, 1}
    assert (batch.result["scores"][:, :3] == batch.scores()).all()
    twin = pickle.loads(pickle.dumps(batch))
    twin.reset()
    assert (twin.player >= 0).all() and (player < 0).all()


# ---------------------------------------------------------------- records written by hand


def test_a_record_that_cannot_be_is_refused_by_refresh(batch):
    batch.games["height"][2] = 100
    with pytest.raises(BrokenGame, match="game 2: not true: height is from"):
        batch.refresh()


def test_who_knows_what_was_written_may_skip_the_check(batch):
    batch.games["tally"][0] = 7  # it does no harm
    batch.refresh(check=False)
    with pytest.raises(BrokenGame, match="game 0"):
        batch.refresh()


def test_the_records_cannot_be_replaced(batch):
    with pytest.raises(AttributeError):
        batch.games = np.zeros(1)


@pytest.mark.parametrize("look_at", [observe, state])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("place", 120),
        ("height", 15),
        ("hand_size", 100),
        ("phase", 9),
        ("open", 120),
        ("draw_left", -1),
        ("ports_left", 16),
    ],
)
def test_records_that_cannot_be_are_not_looked_at(batch, look_at, name, value):
    views = redact(batch.games, 0)
    views[name] = value
    with pytest.raises(BrokenGame, match="game 0"):
        look_at(RULESET, views, 0)
