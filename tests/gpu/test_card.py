"""Games on a CUDA card beside the same games on the CPU, byte for byte: `make gpu-test` on a machine with a card."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from borneo_env import NO_ACTION, Batch, IllegalMove, Ruleset, Seats, every_ruleset, redact, resample
from borneo_env.rewards import REWARDS

torch = pytest.importorskip("torch")
pytest.importorskip("numba_cuda")

from borneo_env.gpu import CardFull, GpuBatch, GpuSeats  # noqa: E402  # without numba-cuda there is nothing to import

pytestmark = pytest.mark.gpu

GAMES = 20_000
BOARD = Ruleset()
every = pytest.mark.parametrize("ruleset", every_ruleset(), ids=lambda ruleset: ruleset.name)


def tensor(array):
    return torch.as_tensor(array, device="cuda")


def assert_same(on_card, batch):
    """Records, options, results and masks are the same bytes."""
    copied = on_card.to_cpu()
    assert copied.games.tobytes() == batch.games.tobytes()
    assert np.array_equal(copied.mask, batch.mask)
    for name in batch._desk.dtype.names:
        if name != "options":  # behind the last one lies what was there before
            assert np.array_equal(copied._desk[name], batch._desk[name]), name
    assert copied.forced().tolist() == batch.forced().tolist()


@every
def test_records_masks_and_results_are_those_of_the_cpu(ruleset):
    on_card, batch = GpuBatch(GAMES, ruleset, seed=7), Batch(GAMES, ruleset, seed=7)
    assert_same(on_card, batch)
    for steps in (1, 30, 60, 200):
        assert on_card.play_random(steps) == batch.play_random(steps) == steps * GAMES
        assert_same(on_card, batch)
    assert batch.games["number"].max() >= GAMES, "no game has ended"
    for mine, theirs in zip(on_card.results(), (batch.scores(), batch.places()), strict=True):
        assert np.array_equal(np.asarray(mine), theirs)
    for name, values in batch.result.items():
        assert np.array_equal(np.asarray(on_card.result[name]), values)


@every
def test_observations_states_views_and_imagined_games_are_those_of_the_cpu(ruleset):
    batch = Batch(GAMES, ruleset, seed=8)
    batch.play_random(90)
    on_card = GpuBatch.of(batch)
    assert np.array_equal(np.asarray(on_card.observe()), batch.observe())
    for seat in (-1, 0, ruleset.players - 1):
        assert np.array_equal(np.asarray(on_card.observe(seat)), batch.observe(seat))
        assert np.array_equal(np.asarray(on_card.state(seat)), batch.state(seat))
        assert on_card.redact(seat).numpy().tobytes() == redact(batch.games, seat).tobytes()
        imagined = on_card.copy()
        imagined.resample(seat, np.random.default_rng(5))
        theirs = batch.copy()
        theirs.games[:] = resample(batch.games, seat, np.random.default_rng(5))
        theirs.refresh(check=False)
        assert_same(imagined, theirs)
    assert_same(on_card, batch)
    assert np.array_equal(np.asarray(on_card.draw_seats()), batch.draw_seats())


@every
def test_given_actions_are_played_as_on_the_cpu(ruleset):
    on_card, batch = GpuBatch(GAMES, ruleset, seed=9, finished="hold"), Batch(GAMES, ruleset, seed=9, finished="hold")
    for kind in (torch.int16, torch.int32, torch.int64):
        for _ in range(40):
            actions = batch.sample()
            assert np.array_equal(np.asarray(on_card.sample()), actions)
            actions[::7] = NO_ACTION
            on_card.step(torch.as_tensor(actions, device="cuda").to(kind), check=kind is not torch.int64)
            batch.step(actions)
        assert_same(on_card, batch)
    assert on_card.play_random() == batch.play_random()
    assert_same(on_card, batch)
    where = np.arange(GAMES) % 3 == 0
    on_card.reset(where=torch.as_tensor(where, device="cuda"))
    batch.reset(where=where)
    assert_same(on_card, batch)
    seats = batch.draw_seats()
    on_card.play_others(torch.as_tensor(seats, device="cuda"))
    batch.play_others(seats)
    assert_same(on_card, batch)
    on_card.reset(11)
    batch.reset(11)
    assert_same(on_card, batch)


@pytest.mark.parametrize("size", [1, 1000, 1_000_000])
def test_batches_of_any_size_are_those_of_the_cpu(size):
    on_card, batch = GpuBatch(size, seed=3, skip_forced=size > 1), Batch(size, seed=3, skip_forced=size > 1)
    for _ in range(2):
        on_card.play_random(70)
        batch.play_random(70)
        assert_same(on_card, batch)
    for kind in (torch.float32, torch.float16):
        out = torch.empty((size, 969), dtype=kind, device="cuda")
        on_card.observe(out=out)
        assert np.array_equal(out.cpu().numpy(), batch.observe())


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("ruleset", [BOARD, Ruleset("card", 5)], ids=lambda ruleset: ruleset.name)
def test_seats_on_the_card_are_those_of_the_cpu(ruleset, reward):
    on_card = GpuSeats(2000, ruleset, seed=4, reward=reward, whole_table=reward == "win")
    seats = Seats(2000, ruleset, seed=4, reward=reward, whole_table=reward == "win")
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(60):
        actions = (seats.mask * rng.random(seats.mask.shape)).argmax(1)
        on_card.step(torch.as_tensor(actions, device="cuda"))
        seats.step(actions)
        for name in ("observation", "mask", "reward", "done", "seat"):
            assert np.array_equal(np.asarray(getattr(on_card, name)), getattr(seats, name)), name
        for name in ("final_observation", "final_scores", "final_places", "final_seat"):
            mine, theirs = np.asarray(getattr(on_card, name)), getattr(seats, name)
            assert np.array_equal(mine[seats.done], theirs[seats.done]), name
        ended += seats.done.sum()
    assert ended > 1000


def test_all_seats_get_their_rewards():
    on_card = GpuSeats(1000, seed=4, seat="all", reward="place")
    batch = Batch(1000, seed=4, finished="hold")
    for _ in range(200):
        actions = batch.sample()
        on_card.step(actions, check=False)
        before = batch.games.copy()
        batch.step(actions)
        over = batch.player < 0
        assert np.array_equal(np.asarray(on_card.done), over)
        rewards = REWARDS["place"](BOARD, before, batch.games)
        assert np.array_equal(np.asarray(on_card.reward), rewards.astype(np.float32))
        batch.reset(where=over)
        assert np.array_equal(np.asarray(on_card.seat), batch.player)
        assert np.array_equal(np.asarray(on_card.observation), batch.observe())


def test_opponents_may_be_a_function():
    def first_option(observation, mask):
        assert tensor(observation).shape == (500, 969)
        return tensor(mask).to(torch.int8).argmax(1)

    on_card = GpuSeats(500, seed=4, seat=2, opponents=first_option)
    batch = Batch(500, seed=4, finished="hold")
    ended = 0
    for _ in range(80):
        while ((batch.player >= 0) & (batch.player != 2)).any():
            waits = (batch.player >= 0) & (batch.player != 2)
            batch.step(np.where(waits, batch.mask.argmax(1), NO_ACTION))
        assert np.array_equal(np.asarray(on_card.mask), batch.mask)
        actions = batch.mask.argmax(1)
        on_card.step(actions)
        batch.step(actions)
        while ((batch.player >= 0) & (batch.player != 2)).any():
            waits = (batch.player >= 0) & (batch.player != 2)
            batch.step(np.where(waits, batch.mask.argmax(1), NO_ACTION))
        over = batch.player < 0
        ended += over.sum()
        assert np.array_equal(np.asarray(on_card.done), over)
        batch.reset(where=over)
    assert ended


def test_an_illegal_action_changes_nothing_and_is_named():
    on_card, batch = GpuBatch(1000, seed=5), Batch(1000, seed=5)
    actions = batch.sample()
    np.asarray(on_card.sample())
    actions[[77, 800]] = 369
    for wrong in (torch.as_tensor(actions, device="cuda"), actions):
        with pytest.raises(IllegalMove) as told:
            on_card.step(wrong)
        with pytest.raises(IllegalMove) as expected:
            batch.step(actions)
        assert str(told.value) == str(expected.value)
        assert_same(on_card, batch)
    on_card.step(actions, check=False)
    actions[[77, 800]] = NO_ACTION
    batch.step(actions)
    assert_same(on_card, batch)
    on_card.step(batch.sample())  # what went unchecked is forgotten


def test_seats_that_do_not_exist_are_refused():
    batch = GpuBatch(10)
    for seats in (4, torch.full((10,), 4, device="cuda")):
        with pytest.raises(ValueError, match="a seat is a number from 0 to 3"):
            batch.observe(seats)
    assert np.array_equal(
        np.asarray(batch.observe(torch.zeros(10, dtype=torch.int64, device="cuda"))), batch.observe(0)
    )


def test_copies_files_and_taken_games_play_on_identically(tmp_path):
    on_card = GpuBatch(50, seed=6, finished="hold")
    on_card.play_random(40)
    on_card.save(tmp_path / "games.npz")
    others = [on_card.copy(), GpuBatch.load(tmp_path / "games.npz"), on_card.take(np.arange(50))]
    expected = on_card.to_cpu()
    expected.play_random()
    for batch in (on_card, *others):
        batch.play_random()
        assert_same(batch, expected)
    imagined = on_card.take([3] * 100 + [4])
    assert (imagined.games.numpy()[:100].tobytes(), len(imagined)) == (100 * on_card.games.numpy()[3].tobytes(), 101)


def test_torch_shares_the_memory():
    batch = GpuBatch(1000, seed=1)
    shared = {"mask": tensor(batch.mask), "player": tensor(batch.player), "places": tensor(batch.result["places"])}
    for _ in range(3):
        batch.play_random(80)
        copied = batch.to_cpu()
        assert np.array_equal(shared["mask"].cpu().numpy(), copied.mask)
        assert np.array_equal(shared["player"].cpu().numpy(), copied.player)
        assert np.array_equal(shared["places"].cpu().numpy(), copied.result["places"])
    assert shared["mask"].dtype is torch.bool


class Packed:
    """An array that only speaks DLPack."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **wishes):
        return self.tensor.__dlpack__(**wishes)


def test_actions_come_through_dlpack():
    on_card, batch = GpuBatch(100, seed=1), Batch(100, seed=1)
    on_card.step(Packed(torch.as_tensor(batch.sample(), device="cuda")))
    batch2 = Batch(100, seed=1)
    batch2.step(batch2.sample())
    assert np.array_equal(np.asarray(on_card.mask), batch2.mask)


def test_two_streams_play_side_by_side():
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    batches, expected = [], []
    for seed, stream in enumerate(streams):
        with torch.cuda.stream(stream):
            batches.append(GpuBatch(4096, seed=seed))
        expected.append(Batch(4096, seed=seed))
    for _ in range(100):
        for batch, stream in zip(batches, streams, strict=True):
            with torch.cuda.stream(stream):
                mask = tensor(batch.mask)
                batch.step(mask.to(torch.int8).argmax(1), check=False)
    for batch, stream, on_cpu in zip(batches, streams, expected, strict=True):
        for _ in range(100):
            on_cpu.step(on_cpu.mask.argmax(1))
        with torch.cuda.stream(stream):
            assert_same(batch, on_cpu)


def test_a_stream_of_its_own_waits_for_nobody_and_is_waited_for():
    """The default stream is busy all the time: nothing made on another may be zeroed late, or read early."""
    stream = torch.cuda.Stream()
    torch.cuda._sleep(2_000_000_000)
    on_card, batch = GpuBatch(4096, seed=1, stream=stream), Batch(4096, seed=1)
    assert on_card.stream == stream.cuda_stream
    for _ in range(20):
        on_card.step(on_card.sample())
        batch.step(batch.sample())
    seen = on_card.observe().numpy()
    assert_same(on_card, batch)
    assert np.array_equal(seen, batch.observe())
    actions = torch.as_tensor(batch.mask.argmax(1), device="cuda")
    torch.cuda._sleep(500_000_000)
    late = actions + 0  # written when the default stream has slept
    on_card.step(late, check=False)
    batch.step(batch.mask.argmax(1))
    assert_same(on_card, batch)


def test_a_full_card_is_told_and_the_games_go_on():
    on_card, batch = GpuBatch(1000, seed=2), Batch(1000, seed=2)
    free, _ = torch.cuda.mem_get_info()
    hog = torch.empty(free - 2**30, dtype=torch.uint8, device="cuda")
    with pytest.raises(CardFull, match=r"no room for an array .* GiB are free"):
        GpuBatch(5_000_000)
    on_card.play_random(50)
    batch.play_random(50)
    assert_same(on_card, batch)
    del hog
    torch.cuda.empty_cache()
    assert len(GpuBatch(100)) == 100


SECOND = """
from borneo_env.gpu import GpuBatch
batch = GpuBatch(10, seed=1)
batch.play_random(5)
batch.observe()
print(batch.to_cpu().games["place"].sum())
"""


def test_kernels_are_kept_on_disk(tmp_path):
    """What this process compiled, or the first of two, nobody compiles again."""
    environment = os.environ | {"BORNEO_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SECOND]
    runs = [subprocess.run(command, capture_output=True, text=True, env=environment, check=True) for _ in range(2)]
    assert "compiling step for the card, about" in runs[0].stderr
    assert "compiling" not in runs[1].stderr
    assert runs[0].stdout == runs[1].stdout


def test_the_examples_of_the_documents_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "gpu.md").read_text(encoding="utf-8")
    for example in re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(example.replace("range(300)", "range(100)"), {})
    wins = [int(percent) for percent in re.findall(r"wins (\d+)%", capsys.readouterr().out)]
    assert wins[-1] > 35, "the learner has learnt nothing"
