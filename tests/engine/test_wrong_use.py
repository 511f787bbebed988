"""Whatever a batch is handed is refused in words, or done: nothing is written beyond an array, and nothing hangs."""

import pickle

import numpy as np
import pytest

from borneo_env import NO_ACTION, SPECTATOR, Batch, IllegalMove, Ruleset, redact
from borneo_env.engine.batch_file import MOST_SAVED
from borneo_env.engine.check import BrokenGame
from borneo_env.engine.games import observe, results, state
from borneo_env.engine.observe import length, state_length
from borneo_env.engine.state import BOARD_SLOTS, CARDS, CHOICES
from borneo_env.render import Picture

RULESET = Ruleset(players=3)
WIDTH = {"observe": length(BOARD_SLOTS), "state": state_length(BOARD_SLOTS)}


@pytest.fixture
def batch():
    games = Batch(4, RULESET, seed=5, finished="hold")
    games.play_random(20)
    return games


def all_of(batch):
    return batch.games.tobytes(), batch.mask.tobytes(), batch._desk.tobytes()


@pytest.fixture(params=["observe", "state"])
def look(request, batch):
    """Both ways to observe, or to see the whole table, as a function of seats and out; with how long a row is."""
    method, function = getattr(batch, request.param), {"observe": observe, "state": state}[request.param]

    def both(seats, out=None):
        given = None if out is None else out.copy()
        if given is not None:
            given.flags.writeable = out.flags.writeable
        found = method(seats, out)
        assert np.array_equal(found, function(RULESET, batch.games, seats, given))
        return found

    both.ways = [method, lambda seats, out=None: function(RULESET, batch.games, seats, out)]
    both.width = WIDTH[request.param]
    return both


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "make",
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
def test_an_array_that_does_not_fit_is_not_written_to(look, make):
    out = make(look.width)
    before = bytes(out) if isinstance(out, bytearray) else repr(out)
    for way in look.ways:
        with pytest.raises(ValueError, match=r"out is an array of \(4, \d+\) that can be written to, of int8"):
            way(0, out)
    assert before == (bytes(out) if isinstance(out, bytearray) else repr(out))


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_an_array_that_fits_is_written_to(look, dtype):
    out = np.full((4, look.width), 99, dtype)
    assert look(1, out) is out
    assert np.array_equal(out, look(1))


@pytest.mark.parametrize("seats", [3, -2, 2**40, 1.0, True, "0", None, [0, 1, 2, 3], [0.0] * 4, [[0] * 4]], ids=repr)
def test_seats_that_do_not_exist_are_refused(look, seats):
    for way in look.ways:
        if way.__name__ == "observe" and seats is None:
            continue  # the deciding players
        with pytest.raises(ValueError, match=r"a seat is a number from 0 to 2, or -1|one seat, or one for each"):
            way(seats)


@pytest.mark.parametrize("seats", [[0, 1], [0] * 5])
def test_there_is_one_seat_for_each_game(look, seats):
    for way in look.ways:
        with pytest.raises(ValueError, match="one for each of the 4 games"):
            way(seats)


@pytest.mark.parametrize("seats", [0, 2, SPECTATOR, np.int8(1), np.uint64(2), [0, 1, 2, SPECTATOR], [1]])
def test_seats_of_players_and_spectators_are_seen_from(look, seats):
    rows = [look(int(seat))[i] for i, seat in enumerate(np.broadcast_to(seats, 4))]
    assert np.array_equal(look(seats), rows)


def test_one_game_is_observed_as_many_are(batch):
    out = np.zeros(WIDTH["observe"], np.float32)
    for game, seat in ((0, 2), (3, SPECTATOR), (np.int64(1), np.uint8(0))):
        batch.observe_game(game, seat, out)
        assert np.array_equal(out, batch.observe(int(seat))[game])


@pytest.mark.parametrize("seat", [3, -2, 1.0, True, "0", None, [0]])
def test_one_game_has_the_same_seats(batch, seat):
    with pytest.raises(ValueError, match="a seat is the number of a player, or -1 for a spectator"):
        batch.observe_game(0, seat, np.zeros(WIDTH["observe"], np.int8))
    with pytest.raises(ValueError, match="a seat is" if seat is not None else "no game"):
        Picture.of(batch, 0 if seat is not None else 9, seat)


@pytest.mark.parametrize("out", [np.zeros(5, np.int8), np.zeros((1, WIDTH["observe"]), np.int8), None, 3])
def test_one_game_needs_an_array_of_its_own(batch, out):
    with pytest.raises(ValueError, match="out is an array of"):
        batch.observe_game(0, 0, out)


@pytest.mark.parametrize("game", [-1, 4, 2**40, 1.0, True, "0", None, np.array([0, 1]), np.int64(-1)], ids=repr)
def test_games_that_do_not_exist_are_refused(batch, game):
    before = all_of(batch)
    out = np.zeros(WIDTH["observe"], np.int8)
    uses = (
        lambda: batch.step_game(game, int(batch.mask[0].argmax())),
        lambda: batch.observe_game(game, 0, out),
        lambda: batch.legal_moves(game),
        lambda: batch.phase_name(game),
        lambda: Picture.of(batch, game),
        lambda: batch.deal_stacked(game, 0, np.arange(CARDS), np.arange(12)),
    )
    for use in uses:
        with pytest.raises(ValueError, match=r"there is no game .*; the batch has the games 0 to 3"):
            use()
    assert all_of(batch) == before and not out.any()


@pytest.mark.parametrize("action", [1.0, True, "0", None, [1], np.bool_(True)], ids=repr)
def test_one_action_is_a_whole_number(batch, action):
    with pytest.raises(TypeError, match="an action is a whole number"):
        batch.step_game(0, action)


@pytest.mark.parametrize("action", [NO_ACTION, -400, 370, 2**64 - 1, np.uint64(2**64 - 1)])
def test_one_action_is_legal_or_refused(batch, action):
    before = all_of(batch)
    with pytest.raises(IllegalMove, match="game 0, player"):
        batch.step_game(0, action)
    assert all_of(batch) == before


@pytest.mark.parametrize("kind", [list, lambda actions: np.array(actions, object)], ids=["list", "objects"])
@pytest.mark.parametrize("action", [2**63, 2**64 - 1, 2**70, -(2**63) - 1, -(2**70)], ids=repr)
def test_actions_beyond_64_bits_are_illegal_ones(batch, action, kind):
    before, legal = all_of(batch), int(batch.mask[0].argmax())
    for use in (batch.step, batch.check):
        with pytest.raises(IllegalMove, match=rf"game 1, player .*'action {action} .there are 0 to 369."):
            use(kind([legal, action, action, legal]))
    with pytest.raises(IllegalMove, match=f"game 2, player .*action {action} "):
        batch.step(kind([action]), [2])
    assert all_of(batch) == before


def test_actions_may_be_objects_that_are_whole_numbers(batch):
    twin = batch.copy()
    actions = batch.mask.argmax(1)
    batch.step(np.array(actions.tolist(), object))
    twin.step(actions)
    assert batch.games.tobytes() == twin.games.tobytes()


@pytest.mark.parametrize("kind", [int, np.int8, np.uint64])
def test_one_action_may_be_any_whole_number(batch, kind):
    twin = batch.copy()
    action = int(batch.mask[2].argmax())
    batch.step_game(kind(2), kind(action))
    twin.step([NO_ACTION, NO_ACTION, action, NO_ACTION])
    assert batch.games.tobytes() == twin.games.tobytes()


@pytest.mark.parametrize("rows", [[0.0, 1.0], [True, False], [[0, 1]], 3, "01", [None]], ids=repr)
def test_rows_are_whole_numbers(batch, rows):
    before = all_of(batch)
    for use in (batch.view, batch.look, lambda rows: batch.step([0, 0], rows)):
        with pytest.raises(ValueError, match="rows are different places of the batch"):
            use(rows)
    with pytest.raises(ValueError, match="rows are different places of the batch"):
        batch.play(None, rows, (), (), ())
    assert all_of(batch) == before


def test_rows_may_be_a_list(batch):
    assert np.array_equal(batch.look([1, 3])[0], batch.look(np.array([1, 3]))[0])


@pytest.mark.parametrize("seats", [3, SPECTATOR, -2, 0.0, [0, 1, 2, 3], None])
@pytest.mark.parametrize("finished", ["hold", "reset"])
def test_others_are_played_for_seats_that_exist(seats, finished):
    batch = Batch(4, RULESET, seed=5, finished=finished)
    before = all_of(batch)
    with pytest.raises(ValueError, match=r"a seat is a number from 0 to 2|a spectator never decides"):
        batch.play_others(seats)
    assert all_of(batch) == before


# Piles stacked by hand


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"start": 3}, "the start player is from 0 to 2, not 3"),
        ({"start": -1}, "the start player is from 0 to 2"),
        ({"start": 0.0}, "the start player is from 0 to 2"),
        ({"draw": np.arange(59)}, "the 60 cargo cards has each number from 0 to 59 once"),
        ({"draw": np.arange(61)}, "the 60 cargo cards"),
        ({"draw": np.arange(1, 61)}, "the 60 cargo cards"),
        ({"draw": np.arange(60) - 1}, "the 60 cargo cards"),
        ({"draw": np.arange(60) // 2}, "the 60 cargo cards"),
        ({"draw": np.arange(60.0)}, "the 60 cargo cards"),
        ({"draw": np.arange(60)[None]}, "the 60 cargo cards"),
        ({"draw": 7}, "the 60 cargo cards"),
        ({"draw": ["a"] * 60}, "the 60 cargo cards"),
        ({"ports": np.arange(11)}, "the 12 ports in play has each number from 0 to 11 once"),
        ({"ports": np.arange(14)}, "the 12 ports in play"),
        ({"ports": [0] * 12}, "the 12 ports in play"),
        ({"ports": np.arange(12) + 60}, "the 12 ports in play"),
        ({"ports": []}, "the 12 ports in play"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_stacked_piles_have_every_thing_once(batch, arguments, reason):
    before = all_of(batch)
    with pytest.raises(ValueError, match=reason):
        batch.deal_stacked(**{"game": 1, "start": 0, "draw": np.arange(CARDS), "ports": np.arange(12)} | arguments)
    assert all_of(batch) == before


def test_a_stacked_game_has_its_streams_and_leaves_the_others_alone(batch):
    others = [0, 2, 3]
    before, number = batch.games[others].tobytes(), int(batch.games["number"][1])
    batch.deal_stacked(1, np.int64(2), list(range(CARDS)), range(12))
    assert batch.games[others].tobytes() == before
    assert batch.games["rng"][1].all() and batch.games["number"][1] == number
    picks = {int(batch.sample()[1]) for _ in range(40)}
    assert picks == set(np.flatnonzero(batch.mask[1])), "not always the first"
    batch.refresh()


# Records written by hand


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


@pytest.mark.parametrize("games", [np.zeros((2, 3)), np.zeros(3, np.int8), None, 5])
def test_only_records_are_looked_at(games):
    for use in (lambda: observe(RULESET, games, 0), lambda: state(RULESET, games, 0), lambda: results(RULESET, games)):
        with pytest.raises(ValueError, match="other fields"):
            use()


# What a batch shows


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


# Numbers


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64])
def test_numbers_may_be_those_of_numpy(kind):
    batch = Batch(kind(3), RULESET, seed=kind(7), first=kind(5), threads=kind(1))
    twin = Batch(3, RULESET, seed=7, first=5, threads=1)
    assert batch.play_random(kind(50)) == twin.play_random(50)
    assert batch.games.tobytes() == twin.games.tobytes()
    numbers = (len(batch), batch.seed, batch.first, batch.threads)
    assert numbers == (3, 7, 5, 1) and {type(number) for number in numbers} == {int}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"size": True}, "a batch has at least 1 game, not True"),
        ({"size": 2**40}, "a batch has at least 1 game"),
        ({"size": None}, "a batch has at least 1 game"),
        ({"first": True}, "first is the number of a game"),
        ({"seed": False}, "a seed is a whole number from 0"),
        ({"seed": np.float64(1)}, "a seed is a whole number from 0"),
        ({"seed": np.int64(-1)}, "a seed is a whole number from 0"),
        ({"threads": True}, "threads is a number from 1"),
        ({"threads": np.float32(2)}, "threads is a number from 1"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_other_things_than_numbers_are_refused(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        Batch(**{"size": 1} | arguments)


@pytest.mark.parametrize("steps", [True, 1.0, -1, "3", 2**63])
def test_random_play_wants_a_whole_number_of_steps(batch, steps):
    with pytest.raises(ValueError, match="steps is a number from 0, or None"):
        batch.play_random(steps)


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
    monkeypatch.setattr("borneo_env.engine.batch_file.MOST_SAVED", 1)
    assert MOST_SAVED > 1_000_000
    with pytest.raises(ValueError, match="a file holds at most 1 games, not 2"):
        Batch(2).save(tmp_path / "batch")
    assert not list(tmp_path.iterdir())
