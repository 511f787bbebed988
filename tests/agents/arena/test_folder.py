"""Folders of the arena: runs go on, files are whole, and what strangers have put there is refused."""

from __future__ import annotations

import csv
import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import types
import zipfile
from pathlib import Path

import numpy as np
import pytest
from arena_games import TINY, Faulty, First, Last, Raising, alive, crash, here, same_games
from borneo_agents.arena import ArenaStopped, play_arena
from borneo_agents.arena.play.calls import CRASH
from borneo_agents.arena.store import sources
from borneo_agents.arena.store.folder import Folder
from borneo_agents.arena.store.scratch import PREFIX, scratch_folder

from borneo_env import cli
from borneo_env.agent import find_agent
from borneo_env.record import read_record, verify
from kontor.compile import rule

SLOW = """
import os
import time


class Slow:
    def act(self, views):
        time.sleep(float(os.environ.get("SLOWLY", 0)))
        return views.mask.argmax(1)
"""
HELPER = """
from kontor.compile import rule

FACTOR = 2

@rule
def scaled(x):
    return FACTOR * x
"""
COMPILED_BOT = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "elsewhere"))
from helper import scaled
from kontor.compile import entry

@entry
def first(x):
    return scaled(x)

class Bot:
    def act(self, views):
        return views.mask.argmax(1)
"""
STOPPED = "arena random slow_bot:Slow --players 3 --tables tiny --games 48 --chunk 6 --seed 4 --out kept --jobs 1"


@pytest.fixture
def slow_bot(bots, monkeypatch):
    monkeypatch.setenv("SLOWLY", "0.001")
    (bots / "slow_bot.py").write_text(SLOW)
    return "slow_bot:Slow"


@pytest.fixture
def unbroken():
    """The games of the slow bot, by one that is not."""
    return here({"random": "random", "slow_bot:Slow": First()}, games=48, seed=4)


def times_of(chunks):
    return {file.name: file.stat().st_mtime_ns for file in chunks.glob("*.npz")}


def command_in_a_copy():
    """The command in a copy of this process; returns its number, and what waits for its exit code."""
    process = os.fork()
    if not process:
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.argv = ["borneo", *STOPPED.split()]
            with open("out.txt", "w") as sys.stdout, open("err.txt", "w") as sys.stderr:
                cli.main()
        except SystemExit as left:
            code = left.code
        finally:
            os._exit(code)
    return process, lambda: os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_a_run_that_was_interrupted_goes_on_to_the_same_result(slow_bot, unbroken, forks, monkeypatch):
    process, exit_code = command_in_a_copy()
    chunks, by_then = Path("kept/chunks"), time.monotonic() + 60
    while len(list(chunks.glob("*.npz"))) < 2 and time.monotonic() < by_then:
        time.sleep(0.01)
    os.kill(process, signal.SIGINT)
    assert exit_code() == 130
    kept = times_of(chunks)
    assert 2 <= len(kept) < 8, "it was stopped in the middle"
    assert not Path("kept/results.json").exists()
    assert "the same command goes on with kept" in Path("err.txt").read_text()
    assert slow_bot in Path("out.txt").read_text(), "and shows what was played"
    monkeypatch.delenv("SLOWLY")
    monkeypatch.setattr(sys, "argv", ["borneo", *STOPPED.split()])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert not left.value.code
    found = json.loads(Path("kept/results.json").read_text())
    assert found.pop("command") == f"borneo {STOPPED}"
    wanted = json.loads(json.dumps(unbroken.as_dict()))
    assert wanted.pop("command") is None
    assert found == wanted
    assert Path("kept/games.csv").read_text() == unbroken.games_csv()
    assert times_of(chunks).items() >= kept.items(), "what was finished is not played again"


def played_in_a_copy(**settings):
    """The number of a copy of this process that is playing with workers, and goes on when this returns."""
    process = os.fork()
    if not process:
        try:
            play_arena(["random", "slow_bot:Slow"], TINY, games=48, chunk=6, seed=4, **settings)
        finally:
            os._exit(1)
    return process


def killed(process, chunks):
    """Kill it as soon as there are games in the folder of chunks."""
    while not list(chunks()):
        assert os.waitpid(process, os.WNOHANG) == (0, 0)
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def test_a_run_that_was_killed_goes_on_to_the_same_result(slow_bot, unbroken, forks, monkeypatch):
    chunks = Path("kept/chunks")
    killed(played_in_a_copy(jobs=1, out="kept"), lambda: chunks.glob("*1.npz"))
    kept = times_of(chunks)
    assert 2 <= len(kept) < 8, "it was stopped in the middle"
    monkeypatch.delenv("SLOWLY")
    again = play_arena(["random", slow_bot], TINY, games=48, chunk=6, seed=4, jobs=0, out="kept")
    assert same_games(again, unbroken)
    assert times_of(chunks).items() >= kept.items(), "what was finished is not played again"


def test_ctrl_c_in_this_process_gives_what_was_played(tmp_path):
    class Impatient:
        calls = 0

        def watch(self, progress):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt

    with pytest.raises(ArenaStopped) as stopped:
        here(["random", First()], games=60, chunk=6, out=tmp_path, watch=Impatient().watch)
    assert len(stopped.value.result.outcomes) == 18
    assert not stopped.value.result.complete


def test_a_digest_does_not_depend_on_what_else_is_imported(monkeypatch):
    merchant = find_agent("merchant")
    before = sources.digest_of(merchant)
    name = "borneo_agents.scripted.another"
    module = types.ModuleType(name)
    module.compiled = rule(lambda x: x)
    monkeypatch.setitem(sys.modules, name, module)
    assert sources.digest_of(merchant) == before


def test_an_agent_whose_fingerprint_fails_is_taken_for_a_new_one_each_time():
    class Shy(First):
        @property
        def fingerprint(self):
            raise RuntimeError("mine alone")

    assert sources.digest_of(Shy()) != sources.digest_of(Shy())


def test_what_a_compiled_bot_calls_in_another_package_is_in_its_digest(bots):
    """A third package counts by what is compiled of it, wherever it lies."""
    (bots / "elsewhere").mkdir()
    (bots / "elsewhere" / "helper.py").write_text(HELPER)
    (bots / "compiled_bot.py").write_text(COMPILED_BOT)
    found = []
    for factor in (2, 30):  # of another length: byte code is known by time and size
        (bots / "elsewhere" / "helper.py").write_text(HELPER.replace("FACTOR = 2", f"FACTOR = {factor}"))
        for name in ("helper", "compiled_bot"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        found.append(sources.digest_of(find_agent("compiled_bot:Bot")))
    assert found[0] != found[1]


def test_more_games_go_on_from_those_there_are(tmp_path):
    agents = {"random": "random", "last": Last()}
    fewer = here(agents, games=30, out=tmp_path, chunk=12)
    more = here(agents, games=60, chunk=None, out=tmp_path)
    assert more.tournament.chunk == fewer.tournament.chunk == 2, "deals; the last chunk had one only"
    assert same_games(more, here(agents, games=60))
    assert more.outcomes[:30].tobytes() == fewer.outcomes.tobytes()
    assert same_games(fewer, here(agents, games=30, chunk=None, out=tmp_path)), "and fewer are the first of them"


def test_nothing_is_played_twice_in_a_folder(tmp_path):
    agents = {"random": "random", "last": Last()}
    played = here(agents, games=30, out=tmp_path)
    silent = {"random": "random", "last": Raising(AssertionError("asked again"))}
    assert same_games(played, here(silent, games=30, out=tmp_path))


def test_damaged_chunks_are_played_again(tmp_path, capsys):
    agents = ["random", First()]
    played = here(agents, games=24, chunk=6, out=tmp_path)
    for deal, damage in enumerate([b"", b"PK\x03\x04 nonsense", None]):
        chunk = tmp_path / "chunks" / f"{deal + 1:09}.npz"
        chunk.write_bytes(chunk.read_bytes()[:-300] if damage is None else damage)
    assert same_games(played, here(agents, games=24, chunk=6, out=tmp_path))
    assert capsys.readouterr().err.count("its games are played again") == 3
    assert same_games(played, here(agents, games=24, chunk=6, out=tmp_path))
    assert capsys.readouterr().err == "", "once"


def test_fresh_removes_nothing_else(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    here(["random", First()], games=6, out=tmp_path, fresh=True)
    here(["random", First()], games=6, out=tmp_path, fresh=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_games_lost_by_a_fault_are_recorded_as_far_as_they_went(tmp_path):
    agents = {"random": "random", "faulty": Faulty(crash)}
    played = here(agents, games=30, out=tmp_path, records=True)
    lost = {f"game{fault.game:07}.jsonl": fault for fault in played.faults}
    assert {file.name for file in (tmp_path / "records" / "unfinished").iterdir()} == set(lost)
    whole = list((tmp_path / "records").glob("*.jsonl"))
    assert len(whole) + len(lost) == 30
    for file in whole:
        verify(read_record(file))
    for name, fault in lost.items():
        lines = read_record(tmp_path / "records" / "unfinished" / name)
        asked = [line for line in lines[1:] if "move" in line and not line.get("forced")]
        assert len(asked) == played.outcomes[fault.game]["decisions"].sum()


def test_games_csv_has_a_row_for_each_game(tmp_path):
    played = here({"random": "random", "faulty": Faulty(crash)}, games=30)
    rows = list(csv.DictReader(played.games_csv().splitlines()))
    assert len(rows) == 30
    for row, game in zip(rows, played.outcomes, strict=True):
        assert [int(row[f"score {seat}"]) for seat in range(3)] == game["scores"].tolist()
        assert [int(row[f"place {seat}"]) for seat in range(3)] == game["places"].tolist()
        names = [row[f"agent {seat}"] for seat in range(3)]
        assert names == [played.tournament.agents[agent] for agent in game["seats"]]
        two = "2 random + faulty" if names.count("random") == 2 else "random + 2 faulty"
        assert row["line-up"] == two
        assert (row["fault"] == CRASH) == (game["offender"] >= 0) == (row["reason"] == "ValueError: cannot decide")


# ---------------------------------------------------------------- files of strangers


def forged(change):
    """A chunk as it is but for a change."""

    def forge(path):
        with np.load(path) as file:
            parts = dict(file)
        change(parts)
        np.savez_compressed(path, **parts)

    return forge


def archive(kind, size):
    def forge(path):
        with zipfile.ZipFile(path, "w", kind) as file:
            for name in ("outcomes", "faults", "seconds", "traces"):
                with file.open(f"{name}.npy", "w", force_zip64=True) as part:
                    np.lib.format.write_array_header_1_0(
                        part, {"descr": "|u1", "fortran_order": False, "shape": (size,)}
                    )
                    for _ in range(size // 2**20):
                        part.write(bytes(2**20))

    return forge


def pickled(path):
    np.savez(path, outcomes=np.array([Path("x")]), faults=np.array("[]"), seconds=np.zeros(2), traces=np.array("[]"))


FORGERIES = {
    "bomb": (archive(zipfile.ZIP_DEFLATED, 2**21), "unpacks to more"),
    "other packing": (archive(zipfile.ZIP_BZIP2, 2**10), "unpacks to more"),
    "pickle": (pickled, "allow_pickle"),
    "other seats": (forged(lambda parts: parts["outcomes"]["seats"].sort()), "other games"),
    "other deals": (forged(lambda parts: parts["outcomes"]["deal"].fill(7)), "other games"),
    "fewer games": (forged(lambda parts: parts.update(outcomes=parts["outcomes"][:-1])), "another kind or number"),
    "no place": (forged(lambda parts: parts["outcomes"]["places"].fill(0)), "impossible places"),
    "no winner": (forged(lambda parts: parts["outcomes"]["places"].fill(2)), "nobody has won"),
    "no rank": (forged(lambda parts: parts["outcomes"]["rank"].fill(np.nan)), "impossible rank"),
    "no offender": (forged(lambda parts: parts["outcomes"]["offender"].fill(5)), "impossible offender"),
    "no fault": (forged(lambda parts: parts["outcomes"]["offender"].fill(1)), "other faults"),
    "a fault": (forged(lambda parts: parts.update(faults=np.array('[[6, 0, 0, "<b>", "x"]]'))), "other faults"),
    "no faults": (forged(lambda parts: parts.update(faults=np.array("[[1]]"))), "missing"),
    "a trace": (forged(lambda parts: parts.update(traces=np.array('[[0, "crash", 0, "x"]]'))), "other tracebacks"),
    "no seconds": (forged(lambda parts: parts.update(seconds=np.array([np.nan, 1]))), "seconds"),
    "less": (forged(lambda parts: parts.pop("seconds")), "no chunk"),
}


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    """A folder with the games of a run, to be copied, and what they came to."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("borneo_agents.arena.result.report", lambda *_: "")
        return folder, here(["random", First()], games=12, chunk=6, out=folder)


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_chunk_is_to_be_played_again(what, finished_run, tmp_path, capsys):
    folder, played = finished_run
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    forge, reason = FORGERIES[what]
    forge(tmp_path / "chunks" / "000000001.npz")
    first, second = (Folder(tmp_path).load(played.tournament, deals) for deals in played.tournament.chunks)
    assert first.outcomes.tobytes() == played.outcomes[:6].tobytes()
    assert second is None
    said = capsys.readouterr().err
    assert re.search(rf"000000001.npz: .*{reason}.*; its games are played again\n$", said)
    assert said.count("\n") == 1


# ---------------------------------------------------------------- nothing is left behind


def test_what_a_killed_run_has_half_written_is_removed(tmp_path):
    here(["random", First()], games=6, out=tmp_path)
    left = [tmp_path / f".borneo-{1:016x}", tmp_path / "chunks" / f".borneo-{2:016x}"]
    new = tmp_path / "chunks" / f".borneo-{3:016x}"
    for file in (*left, new):
        file.touch()
    for file in left:
        os.utime(file, (1, 1))
    here(["random", First()], games=6, out=tmp_path)
    assert [file.exists() for file in (*left, new)] == [False, False, True], "the new one may be of a run under way"


def test_what_killed_runs_have_left_for_the_time_being_goes_with_a_later_run(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, new = tmp_path / f"{PREFIX}old", tmp_path / f"{PREFIX}new"
    for folder in (old, new):
        (folder / "chunks").mkdir(parents=True)
    os.utime(old, (1, 1))
    with scratch_folder() as other, scratch_folder() as one:
        os.utime(other.path, (1, 1))
        with scratch_folder():
            assert other.path.is_dir() and one.path.is_dir(), "of runs under way"
        assert not old.exists() and new.exists()
    assert list(tmp_path.iterdir()) == [new]


def test_workers_end_with_the_run_that_is_killed(slow_bot):
    with open("slow_bot.py", "a") as file:
        print("\n\nwith open('workers', 'a') as file:\n    print(os.getpid(), file=file)", file=file)
    process = played_in_a_copy(jobs=1, out="kept")
    killed(process, lambda: Path("kept/chunks").glob("*.npz"))
    workers, by_then = set(Path("workers").read_text().split()) - {str(process)}, time.monotonic() + 60
    assert workers
    while any(map(alive, workers)) and time.monotonic() < by_then:
        time.sleep(0.05)
    assert not any(map(alive, workers))


# ---------------------------------------------------------------- versions of a bot


def test_the_program_is_all_of_its_code():
    files = {file.name for package in sources.PROGRAM for file in sources.code_below(Path(package.__path__[0]))}
    assert {"batch.py", "merchant.py", "match.py", "agent.py"} <= files


# ---------------------------------------------------------------- names


def test_names_are_quoted_in_files(tmp_path):
    played = here({'a,"b': "random", "<i>&": First()}, games=6)
    played.write(tmp_path)
    rows = list(csv.DictReader((tmp_path / "games.csv").read_text().splitlines()))
    assert {row["agent 0"] for row in rows} == {'a,"b', "<i>&"}
    page = (tmp_path / "report.html").read_text()
    assert "<i>" not in page
    assert "&lt;i&gt;&amp;" in page
    assert json.loads((tmp_path / "results.json").read_text())["settings"]["agents"] == ['a,"b', "<i>&"]
