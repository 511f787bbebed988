"""Batch: the same games at any size and on any number of threads; stepping, copies, files and wrong use."""

import io
import json
import os
import pickle
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from chi_square import FAR, deviation
from copies import Copy
from playing import RULESETS

from borneo_env import NO_ACTION, Batch, BatchFileError, Ruleset
from borneo_env.engine.state import CARDS, DISCARD, GAME, HAND, PHASES, PILE, TRADERS, WAREHOUSE
from kontor.engine import batch as batch_module
from kontor.engine import threads as threads_module

TINY = Ruleset(tables="tiny")

every = pytest.mark.parametrize("ruleset", [*RULESETS, pytest.param(TINY, id=TINY.name)])
several = pytest.mark.parametrize(
    "ruleset", [Ruleset(), Ruleset(players=3, traders=4, blackbeard=True), Ruleset("card", 5)], ids=lambda r: r.name
)


def state_of(batch):
    """Everything a batch holds, as bytes."""
    return (batch.games.tobytes(), batch.mask.tobytes(), batch.done.tobytes(), *(a.tobytes() for a in results(batch)))


def results(batch):
    return [batch.result[name] for name in ("scores", "places", "contracts")]


def running(batch):
    return (batch.player >= 0).any()


def indexed_actions(batch, numbers):
    """For each game the legal action with this number, counted round; NO_ACTION where it is over."""
    rows = [row.nonzero()[0] for row in batch.mask]
    return np.array([row[n % len(row)] if len(row) else NO_ACTION for row, n in zip(rows, numbers, strict=True)])


# Sizes and threads


@every
def test_a_batch_of_n_plays_the_games_of_n_batches_of_one(ruleset):
    together = Batch(5, ruleset, seed=5, first=10, finished="hold")
    alone = [Batch(1, ruleset, seed=5, first=10 + i, finished="hold") for i in range(5)]
    while running(together):
        actions = together.sample()
        assert [int(one.sample()[0]) for one in alone] == actions.tolist()
        together.step(actions)
        for i, one in enumerate(alone):
            one.step(actions[i : i + 1])
            assert one.games.tobytes() == together.games[i : i + 1].tobytes()
            assert np.array_equal(one.mask[0], together.mask[i])
            assert one.done[0] == together.done[i]
    assert not any(map(running, alone))
    assert np.array_equal(np.concatenate([one.scores() for one in alone]), together.scores())
    assert np.array_equal(np.concatenate([one.places() for one in alone]), together.places())


class CountingPool(ThreadPoolExecutor):
    """Threads that count the jobs they are given."""

    jobs = 0

    def submit(self, *arguments):
        self.jobs += 1
        return super().submit(*arguments)


@pytest.fixture
def pool(monkeypatch):
    """Let small batches use threads, too; yields the pool they use."""
    monkeypatch.setattr(batch_module, "GAMES_PER_THREAD", 2)
    with CountingPool(4) as pool:
        monkeypatch.setattr(threads_module, "_workers", lambda: pool)
        yield pool


def play_stepwise(batch, steps):
    for _ in range(steps):
        batch.step(batch.sample())


@several
@pytest.mark.parametrize("play", [play_stepwise, Batch.play_random])
def test_the_number_of_threads_does_not_matter(ruleset, play, pool):
    states, jobs = [], []
    for threads in (1, 2, 3):
        pool.jobs = 0
        batch = Batch(7, ruleset, seed=5, threads=threads)
        play(batch, 300)
        states.append((*state_of(batch), batch.scores().tobytes(), batch.sample().tobytes()))
        jobs.append(pool.jobs)
    assert jobs[0] == 0
    assert jobs[2] == 2 * jobs[1] > 0, "each further thread should get its part of every call"
    assert states[0] == states[1] == states[2]


def test_small_batches_do_not_wake_other_threads(monkeypatch):
    with CountingPool(4) as pool:
        monkeypatch.setattr(threads_module, "_workers", lambda: pool)
        Batch(2 * batch_module.GAMES_PER_THREAD - 1, threads=4)
        assert pool.jobs == 0
        Batch(2 * batch_module.GAMES_PER_THREAD, threads=4)
        assert pool.jobs > 0


def dealt_games(size, steps):
    """Each game a batch deals, by its number, with the place it was dealt to."""
    batch = Batch(size, TINY, seed=5)
    dealt = {int(game["number"]): (place, game.tobytes()) for place, game in enumerate(batch.games)}
    for _ in range(steps):
        batch.step(batch.sample())
        for place in batch.done.nonzero()[0]:
            dealt[int(batch.games["number"][place])] = (int(place), batch.games[place].tobytes())
    return dealt


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_place_i_of_n_plays_the_games_i_and_i_plus_n_and_so_on(size):
    dealt = dealt_games(size, 200)
    assert len(dealt) > 2 * size
    for number, (place, game) in dealt.items():
        assert number % size == place
        assert game == Batch(1, TINY, seed=5, first=number).games[0].tobytes()


def test_a_process_that_forks_after_using_threads_can_use_them_in_the_child(tmp_path):
    script = (
        "import os, signal\n"
        "from borneo_env import Batch\n"
        "def play():\n"
        "    batch = Batch(1024, tables='tiny', threads=2)\n"
        "    batch.play_random(20)\n"
        "    return batch.games.tobytes()\n"
        "games = play()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(60)  # threads that died in the fork would never answer\n"
        "    os._exit(0 if play() == games else 3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert Copy(script, place=tmp_path).said() == ("0", "")


# Copies


def test_a_copy_shares_nothing_and_plays_on_identically():
    batch = Batch(6, TINY, seed=5)
    batch.play_random(50)
    twin = batch.copy()
    saved = state_of(batch)
    batch.play_random(50)
    assert state_of(batch) != saved
    assert state_of(twin) == saved
    played = state_of(batch)
    twin.play_random(50)
    assert state_of(twin) == played
    twin.reset(9)
    assert (state_of(batch), batch.seed) == (played, 5)


# Reset and hold


@every
def test_done_and_result_are_right_at_the_step_a_game_ends(ruleset):
    """A held twin still has the finished games on the table: their points are its own count."""
    batch = Batch(4, ruleset, seed=5)
    held = Batch(4, ruleset, seed=5, finished="hold")
    rng = np.random.default_rng(0)
    known = [array.copy() for array in results(batch)]
    while running(held):
        over = held.player < 0
        numbers = rng.integers(1000, size=4)
        actions = np.where(over, indexed_actions(batch, numbers), indexed_actions(held, numbers))
        batch.step(actions)
        held.step(np.where(over, NO_ACTION, actions))
        ended = (held.player < 0) & ~over
        assert np.array_equal(held.done, ended)
        assert np.array_equal(batch.done[~over], ended[~over])
        for place in ended.nonzero()[0]:
            standing = (held.scores(), held.places(), held.contracts())
            for array, counted in zip(known, standing, strict=True):
                array[place, : ruleset.players] = counted[place]
            fresh = Batch(1, ruleset, seed=5, first=int(place) + 4)
            assert batch.games[place].tobytes() == fresh.games[0].tobytes()
        for array, shown, twin_shown in zip(known, results(batch), results(held), strict=True):
            assert np.array_equal(array[~over], shown[~over])
            assert np.array_equal(array, twin_shown)
    assert all(array[:, : ruleset.players].any() for array in known[:2])


def test_places_follow_points_then_contracts():
    batch = Batch(200, seed=5, finished="hold")
    batch.play_random()
    standings = zip(batch.scores(), batch.contracts(), batch.places(), strict=True)
    for scores, contracts, places in standings:
        merits = list(zip(scores.tolist(), contracts.tolist(), strict=True))
        assert places.tolist() == [1 + sum(other > mine for other in merits) for mine in merits]


def test_a_held_game_stays_on_the_table_and_takes_no_action():
    batch = Batch(3, TINY, seed=5, finished="hold")
    batch.play_random()
    assert (batch.player == -1).all()
    assert (batch.phase == PHASES.index("over")).all()
    assert not batch.mask.any()
    assert batch.legal_moves(1) == []
    assert (batch.sample() == NO_ACTION).all()
    games = batch.games.tobytes()
    batch.step([NO_ACTION] * 3)
    assert not batch.done.any()
    assert batch.play_random() == 0
    assert batch.games.tobytes() == games


def test_held_games_wait_for_the_others():
    batch = Batch(8, seed=5, finished="hold")
    while (batch.player >= 0).all():
        batch.step(batch.sample())
    waiting = batch.player < 0
    games = batch.games[waiting].tobytes()
    decisions = batch.play_random(3)
    assert decisions == 3 * (~waiting).sum()
    assert batch.games[waiting].tobytes() == games


def test_reset_deals_from_the_first_game_again():
    batch = Batch(4, TINY, seed=5, first=3)
    dealt = batch.games.tobytes(), batch.mask.tobytes()
    batch.play_random(100)
    batch.reset()
    assert (batch.games.tobytes(), batch.mask.tobytes()) == dealt
    assert not batch.done.any()


def test_reset_with_a_seed_equals_a_new_batch():
    batch = Batch(4, TINY, seed=5)
    batch.play_random(30)
    batch.reset(6)
    new = Batch(4, TINY, seed=6)
    assert batch.seed == 6
    assert batch.games.tobytes() == new.games.tobytes()
    batch.play_random(100)
    new.play_random(100)
    assert batch.games.tobytes() == new.games.tobytes()


def test_reset_where_deals_the_next_games_there_and_nowhere_else():
    batch = Batch(4, seed=5, first=3)
    batch.play_random(30)
    games, mask = batch.games.copy(), batch.mask.copy()
    batch.reset(where=[False, True, False, True])
    assert batch.games["number"].tolist() == [3, 4 + 4, 5, 6 + 4]
    for place, number in ((1, 8), (3, 10)):
        assert batch.games[place].tobytes() == Batch(1, seed=5, first=number).games[0].tobytes()
    for place in (0, 2):
        assert batch.games[place].tobytes() == games[place].tobytes()
        assert np.array_equal(batch.mask[place], mask[place])
    batch.reset(where=True)
    assert batch.games["number"].tolist() == [7, 12, 9, 14]


def test_a_held_game_is_done_once_whatever_is_reset_beside_it():
    batch = Batch(3, TINY, seed=5, finished="hold")
    batch.play_random()
    assert batch.done.all()
    batch.step([NO_ACTION] * 3)
    assert not batch.done.any()
    batch.reset(where=[True, False, False])
    assert (batch.player >= 0).tolist() == [True, False, False]
    assert not batch.done.any()


# Choices


@every
def test_the_legal_moves_are_those_of_the_mask_in_ascending_order(ruleset):
    batch = Batch(3, ruleset, seed=5, finished="hold", skip_forced=False)
    while running(batch):
        for place in range(3):
            phase = batch.phase_name(place)
            texts = [batch.actions.text(int(action), phase) for action in batch.mask[place].nonzero()[0]]
            assert batch.legal_moves(place) == texts
        batch.step(batch.sample())


@every
def test_skipping_forced_decisions_leads_to_the_same_positions(ruleset):
    quick = Batch(4, ruleset, seed=5, finished="hold", skip_forced=True)
    asked = Batch(4, ruleset, seed=5, finished="hold", skip_forced=False)
    rng = np.random.default_rng(0)
    forced = 0
    while True:
        while (alone := asked.mask.sum(1) == 1).any():
            forced += alone.sum()
            asked.step(np.where(alone, asked.mask.argmax(1), NO_ACTION))
        assert asked.games.tobytes() == quick.games.tobytes()
        assert np.array_equal(asked.mask, quick.mask)
        if not running(quick):
            break
        assert not (quick.mask.sum(1) == 1).any()
        actions = indexed_actions(quick, rng.integers(1000, size=4))
        quick.step(actions)
        asked.step(actions)
    assert forced > 0


def test_sample_is_uniform_over_the_legal_actions():
    batch = Batch(12, seed=5)
    batch.play_random(60)
    mask = batch.mask.copy()
    assert len(set(mask.sum(1))) > 3, "positions with different numbers of options are wanted"
    draws = np.array([batch.sample() for _ in range(10_000)])
    for place in range(len(batch)):
        counts = np.bincount(draws[:, place], minlength=mask.shape[1])
        assert not counts[~mask[place]].any()
        assert abs(deviation(counts[mask[place]])) < FAR


def test_sample_changes_nothing_but_the_stream_of_choices():
    batch = Batch(12, seed=5)
    before, twin = batch.games.copy(), batch.copy()
    batch.sample()
    assert (batch.games["rng"][:, 1] != before["rng"][:, 1]).all()
    batch.games["rng"][:, 1] = before["rng"][:, 1]
    assert state_of(batch) == state_of(twin)


@several
@pytest.mark.parametrize("finished", ["reset", "hold"])
def test_random_play_is_repeated_sampling_and_stepping(ruleset, finished):
    quick = Batch(6, ruleset, seed=5, finished=finished)
    stepped = quick.copy()
    for steps in (1, 40, 400):
        played, ended = 0, np.zeros(6, bool)
        for _ in range(steps):
            played += (stepped.player >= 0).sum()
            stepped.step(stepped.sample())
            ended |= stepped.done
        assert quick.play_random(steps) == played
        assert quick.games.tobytes() == stepped.games.tobytes()
        assert np.array_equal(quick.mask, stepped.mask)
        assert np.array_equal(quick.done, ended)
        for one, other in zip(results(quick), results(stepped), strict=True):
            assert np.array_equal(one, other)


# Files


def play_and_save(batch, steps, path):
    batch.play_random(steps)
    batch.save(path)
    return batch


@every
@pytest.mark.parametrize(("finished", "skip_forced"), [("reset", True), ("hold", False)])
def test_a_saved_batch_plays_on_identically(ruleset, finished, skip_forced, tmp_path):
    batch = Batch(5, ruleset, seed=5, first=8, finished=finished, skip_forced=skip_forced)
    for steps in (0, 25, 140):
        play_and_save(batch, steps, tmp_path / "batch")
        loaded = Batch.load(tmp_path / "batch")
        assert state_of(loaded) == state_of(batch)
        assert (loaded.ruleset, loaded.seed, loaded.first) == (ruleset, 5, 8)
        twin = batch.copy()
        for one in (loaded, twin):
            one.play_random(200)
        assert state_of(loaded) == state_of(twin)
        for one in (loaded, twin):
            one.reset()
        assert loaded.games.tobytes() == twin.games.tobytes()


def test_held_finished_games_are_saved_with_their_results(tmp_path):
    batch = Batch(8, TINY, seed=5, finished="hold")
    while not batch.done.any():
        batch.step(batch.sample())
    batch.save(tmp_path / "batch")
    loaded = Batch.load(tmp_path / "batch")
    assert state_of(loaded) == state_of(batch)
    assert loaded.done.any()
    batch.play_random()
    batch.step([NO_ACTION] * 8)
    batch.save(tmp_path / "batch")
    loaded = Batch.load(tmp_path / "batch")
    assert state_of(loaded) == state_of(batch)
    assert not loaded.done.any()


def test_a_file_can_be_loaded_for_another_number_of_threads(tmp_path):
    play_and_save(Batch(2, TINY, threads=1), 5, tmp_path / "batch")
    assert Batch.load(tmp_path / "batch", threads=3).threads == 3


@pytest.fixture
def saved(tmp_path):
    """The arrays of a batch saved in the middle of its games."""
    play_and_save(Batch(3, seed=5, finished="hold"), 60, tmp_path / "batch.npz")
    with np.load(tmp_path / "batch.npz") as file:
        return {name: file[name].copy() for name in file.files}


def load_again(arrays, tmp_path):
    np.savez(tmp_path / "again.npz", **arrays)
    return Batch.load(tmp_path / "again.npz")


def test_an_unchanged_file_loads(saved, tmp_path):
    assert load_again(saved, tmp_path).games.tobytes() == saved["games"].tobytes()


class Intruder:
    """Leaves a trace if it is ever unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return (Path.touch, (self.trace,))


def test_a_batch_from_memory_that_is_read_only_plays_on_in_its_own():
    """As when processes share a pickle's buffers."""
    batch, buffers = Batch(2, seed=3, threads=1), []
    data = pickle.dumps(batch, protocol=5, buffer_callback=buffers.append)
    kept = [bytes(buffer.raw()) for buffer in buffers]
    copies = [bytes(bytearray(content)) for content in kept]
    again = pickle.loads(data, buffers=kept)
    action = int(batch.mask[0].argmax())
    for one in (batch, again):
        one.step_game(0, action)
        one.step(one.sample())
    assert kept == copies
    assert again.games.tobytes() == batch.games.tobytes()


@pytest.mark.parametrize("name", ["about", "games", "scores"])
def test_load_never_unpickles(saved, name, tmp_path):
    trace = tmp_path / "unpickled"
    pickle.loads(pickle.dumps(Intruder(trace)))
    assert trace.exists(), "the trap works"
    trace.unlink()
    saved[name] = np.array([Intruder(trace)], dtype=object)
    with pytest.raises(BatchFileError, match=f"{name} has another type"):
        load_again(saved, tmp_path)
    assert not trace.exists()


def without(name):
    return lambda arrays: arrays.pop(name)


def other(name, change):
    def put_in(arrays):
        arrays[name] = change(arrays[name])

    return put_in


def about(**changes):
    return other("about", lambda told: np.array(json.dumps(json.loads(str(told)) | changes)))


def other_fields(games):
    names = [name for name in GAME.names if name != "padding"]
    return np.zeros(len(games), [(name, GAME[name]) for name in names])


# What is changed in the arrays of a file; words of the message.
NO_BATCHES = [
    *((without(name), f"named '{name}.npy'") for name in ("about", "games", "done", "scores", "places", "contracts")),
    (other("games", lambda games: games["place"]), "games has another type"),
    (other("games", other_fields), "games has another type"),
    (other("games", lambda games: games.view(np.uint8)), "games has another type"),
    (other("games", lambda games: games[:0]), "games"),
    (other("games", lambda games: games[None]), "another shape"),
    (other("games", lambda games: games[0]), "is not a saved batch"),
    (other("scores", lambda scores: scores[:2]), "scores has another shape"),
    (other("scores", lambda scores: scores[0]), "scores has another shape"),
    (other("scores", lambda scores: scores + 0.5), "scores has another type"),
    (other("places", lambda places: places.astype("U3")), "places has another type"),
    (other("done", lambda done: done.astype(np.float64)), "done has another type"),
    (about(format="borneo-batch/0"), "format"),
    (about(ruleset={"edition": "card", "players": 6, "traders": 3, "blackbeard": False}), "players"),
    (about(ruleset={"colour": "red"}), "colour"),
    (about(ruleset=[]), "Ruleset"),
    (about(tables={"cargo": [], "ports": [], "contracts": []}), "cargo"),
    (about(tables=None), "tables"),
    *((about(seed=seed), "seed") for seed in (-1, "7")),
    *((about(first=first), "first") for first in (-1, 1.5, 2**63)),
    (about(finished="burn"), "finished"),
    (about(skip_forced="yes"), "skip_forced"),
    *(
        (other("about", lambda _, text=text: np.array(text)), "is not a saved batch")
        for text in ("", "{", "[]", "{}", "3", "[" * 100_000)
    ),
]


@pytest.mark.parametrize(("change", "words"), NO_BATCHES)
def test_arrays_that_are_no_batch_are_refused_with_a_reason(saved, change, words, tmp_path):
    change(saved)
    with pytest.raises(BatchFileError, match=words):
        load_again(saved, tmp_path)


def break_card_in_two_places(game):
    """A card of player 0's hand is listed in the draw pile, too."""
    game["draw"][0] = np.flatnonzero(game["place"] == HAND)[0]


def break_lost_card(game):
    game["place"][np.flatnonzero(game["place"] == PILE)[0]] = DISCARD


def break_swapped_hand_cards(game):
    """A hand card and a card of the draw pile change places, but the pile still lists the old one."""
    hand, pile = np.flatnonzero(game["place"] == HAND)[0], game["draw"][0]
    game["place"][[hand, pile]] = PILE, HAND


def break_stranger_with_a_hand(game):
    game["place"][np.flatnonzero(game["place"][:CARDS] == DISCARD)[0]] = HAND + 4
    game["hand_size"][4] = 1


def break_port_in_a_hand(game):
    game["place"][CARDS] = HAND


def break_warehouse(game):
    card = np.flatnonzero(game["place"][:CARDS] == DISCARD)[0]
    game["clock"] += 1
    game["place"][card], game["since"][card] = WAREHOUSE + 1, game["clock"]


def add(name, *index, value=1):
    def change(game):
        if index:
            game[name][index] += value
        else:
            game[name] += value

    change.__name__ = f"{name} {'+' if value > 0 else '-'}"
    return change


def put(name, value):
    def change(game):
        game[name] = value

    change.__name__ = f"{name} = {value}"
    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (break_card_in_two_places, "draw lists"),
        (break_lost_card, "draw lists"),
        (break_swapped_hand_cards, "draw lists"),
        (break_stranger_with_a_hand, "only players have hands"),
        (break_port_in_a_hand, "only cargo cards are in hands"),
        (break_warehouse, "stock counts"),
        (add("hand_size", 1), "hand_size counts"),
        (add("hand_since", 2, 0), "hand_since tells"),
        (add("draw_left"), "draw lists"),
        (add("draw_left", value=-1), "draw lists"),
        (add("ports_left"), "port_pile lists"),
        (add("stock", 0, 0, 0), "stock counts"),
        (add("laid", 0), "laid counts"),
        (add("shown", 0, 0), "shown counts"),
        (add("supply", 0), "contracts are in supply"),
        (add("fulfilled", 1, 1), "contracts are in supply"),
        (add("height", 0), "gaps"),
        (add("placed", value=-1), "placed counts"),
        (put("open", [60, 60, 60]), "port"),
        (put("phase", len(PHASES)), "phase is from"),
        (put("phase", -1), "phase is from"),
        (put("phase", PHASES.index("over")), "somebody decides"),
        (put("phase", PHASES.index("place")), "placing ends"),
        (put("phase", PHASES.index("pay")), "a contract is paid"),
        (put("phase", PHASES.index("take")), "a port is shared"),
        (put("phase", PHASES.index("commit")), "a company is contested"),
        (put("player", -1), "somebody decides"),
        (put("player", 4), "player is a player"),
        (put("turn", 4), "turn is a player"),
        (put("pirates", 0), "pirate"),
        (put("clock", 0), "the clock is not behind"),
        (put("place", 0), "cargo cards are in the game"),
        (put("number", -1), "number is from"),
        (put("padding", 1), "padding is nothing"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_impossible_game_is_refused_with_a_reason(saved, change, reason, tmp_path):
    game = 2
    assert saved["games"]["phase"][game] == TRADERS, "another phase needs other changes"
    change(saved["games"][game])
    with pytest.raises(BatchFileError, match=f"game {game}.*{reason}"):
        load_again(saved, tmp_path)


def break_player(game):
    """Another player decides than should."""
    game["player"] = (game["player"] + 1) % 4


def break_turn(game):
    game["turn"] = (game["turn"] + 1) % 4


@pytest.mark.parametrize(
    ("phase", "change"),
    [
        ("place", break_player),
        ("contract", break_player),
        ("pay", add("owed", 0, value=4)),
        ("pay", break_player),
        ("traders", break_turn),
        ("commit", break_player),
        ("commit", put("fighters", 0)),
        ("commit", put("last_played", 59)),
        ("defend", break_player),
        ("keep", break_player),
        ("yield", break_player),
        ("ship", break_turn),
        ("ship", put("ended", 1)),
        ("take", break_player),
        ("drop", break_player),
        ("last contract", break_player),
        ("last contract", put("finished", 5)),
        ("last contract", put("ended", 0)),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_an_impossible_decision_is_refused(phase, change, tmp_path):
    """Such games could go wrong later, or keep `resample` searching for ever."""
    batch = Batch(1, seed=5, skip_forced=False)
    while batch.phase_name() != phase:
        batch.step(batch.sample())
    change(batch.games[0])
    batch.save(tmp_path / "batch")
    with pytest.raises(BatchFileError, match="game"):
        Batch.load(tmp_path / "batch")


@pytest.mark.parametrize("content", [b"", b"borneo", b"PK\x03\x04", b"\x93NUMPY", bytes(1000)])
def test_a_file_that_is_no_archive_is_refused(content, tmp_path):
    path = tmp_path / "batch.npz"
    path.write_bytes(content)
    with pytest.raises(BatchFileError, match="is not a saved batch"):
        Batch.load(path)


def test_a_plain_array_file_is_refused(saved, tmp_path):
    np.save(tmp_path / "games.npy", saved["games"])
    with pytest.raises(BatchFileError):
        Batch.load(tmp_path / "games.npy")


@pytest.mark.parametrize("path", ["missing.npz", "."])
def test_a_file_that_cannot_be_read_is_refused(path, tmp_path):
    with pytest.raises(BatchFileError, match="is not a saved batch"):
        Batch.load(tmp_path / path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_only_plain_files_are_opened(path, tmp_path):
    """A pipe that nobody writes to would never let go."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BatchFileError, match="not a plain file"):
        Batch.load(tmp_path / path)


def test_a_compressed_file_is_refused(saved, tmp_path):
    """It could be a bomb: ten thousand times as large as it looks."""
    np.savez_compressed(tmp_path / "small.npz", **saved | {"games": np.zeros(20_000, GAME)})
    assert (tmp_path / "small.npz").stat().st_size < 100_000
    with pytest.raises(BatchFileError, match="is compressed"):
        Batch.load(tmp_path / "small.npz")


def with_games(content, saved, tmp_path):
    """A file of a batch whose games are these bytes."""
    np.savez(tmp_path / "honest.npz", **saved)
    with zipfile.ZipFile(tmp_path / "honest.npz") as old, zipfile.ZipFile(tmp_path / "batch.npz", "w") as new:
        for name in old.namelist():
            new.writestr(name, content(old.read(name)) if name == "games.npy" else old.read(name))
    return tmp_path / "batch.npz"


def claim(_):
    """The head of an array of a trillion games, and nothing behind it."""
    head = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(GAME), "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(head, described)
    return head.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (claim, "games has 800,000,000,000,000 bytes; from 1 to"),
        (lambda games: games[:-800], "another length"),
        (lambda games: games + b"?", "another length"),
    ],
)
def test_an_array_has_as_many_bytes_as_it_says_and_not_too_many(content, words, saved, tmp_path):
    """What is too large is refused before it is made."""
    with pytest.raises(BatchFileError, match=words):
        Batch.load(with_games(content, saved, tmp_path))


def test_a_game_of_the_other_edition_is_refused(tmp_path):
    """Its ladders are longer than those of the edition that is named."""
    batch = Batch(1, edition="card", players=5, finished="hold")
    while batch.games["height"].max() <= 5:
        batch.step(batch.mask.argmax(1) if batch.phase_name() != "ship" else batch.sample())
        assert batch.player[0] >= 0, "a long ladder should come about"
    batch.save(tmp_path / "batch.npz")
    with np.load(tmp_path / "batch.npz") as file:
        arrays = {name: file[name].copy() for name in file.files}
    about = json.loads(str(arrays["about"]))
    about["ruleset"]["edition"] = "board"
    with pytest.raises(BatchFileError, match="a ladder is not too long"):
        load_again(arrays | {"about": np.array(json.dumps(about))}, tmp_path)


def test_a_truncated_file_is_refused(saved, tmp_path):
    path = tmp_path / "batch.npz"
    content = path.read_bytes()
    for length in range(0, len(content), len(content) // 60):
        path.write_bytes(content[:length])
        with pytest.raises(BatchFileError):
            Batch.load(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_damaged_file_loads_or_is_refused_and_nothing_else(saved, save, tmp_path):
    """Bytes of the file are overwritten at random, with and without compression."""
    path = tmp_path / "damaged.npz"
    save(path, **saved)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(120):
        damaged = bytearray(content)
        for at in rng.integers(len(content), size=2):
            damaged[at] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            Batch.load(path)
        except BatchFileError:
            refused += 1
    assert refused > 80
