"""The `borneo` command: what it prints for people and for programs, and how it answers mistakes.

The command is run in this process through its entry point, as the installed script does; a few runs as a process of
its own show that nothing depends on that.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from borneo_agents.commands import arena as arena_command
from borneo_agents.commands.play import replay_words
from borneo_bench import speed
from copies import Copy
from rich.console import Console

import borneo_env
from borneo_env import cli
from borneo_env.commands import records
from borneo_env.console import in_colour
from borneo_env.pieces import plain
from borneo_env.record import read_record, record_games, replay, verify, write_record
from borneo_env.render import Animation, Picture, gallery
from borneo_env.ruleset import Ruleset, every_ruleset
from borneo_env.story import Told, agent_names, deed, named_company, tell
from kontor.engine.threads import available_cores

COMMANDS = [
    "actions", "agents", "observation", "manual", "rules", "pictures", "record", "verify", "show", "animate", "random",
    "play", "web", "replay", "arena", "train", "imitate", "bench", "warm-up", "new-bot"
]  # fmt: skip


class Answer(NamedTuple):
    status: int
    out: str
    err: str


Borneo = Callable[..., Answer]


@pytest.fixture
def borneo(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Borneo:
    """Run the command with a line of arguments, and more that may hold spaces."""

    def run(line: str, *more: Any) -> Answer:
        monkeypatch.setattr(sys, "argv", ["borneo", *line.split(), *map(str, more)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        answer = Answer(left.value.code or 0, *capsys.readouterr())
        assert "\x1b" not in answer.out + answer.err, "colours are for terminals"
        return answer

    return run


@pytest.fixture
def record_file(tmp_path: Path) -> Path:
    file = tmp_path / "game.jsonl"
    write_record(file, record_games(Ruleset(players=3, tables="tiny"), 1, seed=1, agents=["random"] * 3)[0])
    return file


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_a_terminal_has_colours_unless_they_are_unwanted(no_color, coloured, monkeypatch, record_file, capsys):
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys, "argv", ["borneo", "show", str(record_file), "--at", "3"])
    with suppress(SystemExit):
        cli.main()
    assert ("\x1b[" in capsys.readouterr().out) == coloured
    assert in_colour(sys.stdout) == coloured


def test_a_game_that_is_over_can_be_seen_again(tmp_path):
    kept = replay_words(tmp_path / "my game.jsonl")
    assert kept == f"`borneo replay '{tmp_path}/my game.jsonl'` shows the game again, move by move."
    assert "`--record FILE`" in replay_words(None) and "`borneo replay FILE`" in replay_words(None)


# ---------------------------------------------------------------- help


def test_every_command_is_tested_here():
    names = [command.name or command.callback.__name__ for command in cli.app.registered_commands]
    assert sorted(names) == sorted(COMMANDS)


def test_help_lists_the_commands(borneo):
    answer = borneo("--help")
    assert answer.status == 0
    assert all(command in answer.out for command in COMMANDS)


def test_every_command_of_ours_has_its_panel(borneo):
    assert set(COMMANDS) <= set(cli.PANEL_OF)
    out = borneo("--help").out
    assert all(panel in out for panel in cli.PANELS) and cli.OTHERS not in out


def test_the_rules_of_the_game_have_a_panel_of_their_own(borneo):
    for command in ("arena", "play", "record"):
        options, rules = borneo(f"{command} --help").out.split("Which Borneo is played")
        assert "--seed" in options and "--edition" not in options
        assert "--edition" in rules and "--blackbeard" in rules


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, borneo):
    answer = borneo(f"{command} --help")
    assert answer.status == 0
    assert "Usage: " in answer.out
    assert command in answer.out
    assert "--json" in answer.out


def test_help_is_quick_because_nothing_is_compiled(tmp_path):
    code = (
        "import sys, borneo_env.cli\nsys.argv = ['borneo', '--help']\ntry: borneo_env.cli.main()\n"
        "except SystemExit: pass\nprint('record' in sys.modules, 'borneo_env.record' in sys.modules)"
    )
    said, _ = Copy(code, place=tmp_path, anew=True).said()
    assert said.splitlines()[-1] == "False False"


def test_nothing_is_left_to_compile_after_warm_up(borneo):
    """`make test` begins with it. It also names what it compiles: see `test_progress.py`."""
    answer = borneo("warm-up --jobs 1 --json")
    assert (answer.status, json.loads(answer.out)["functions"]) == (0, 0)


def test_without_a_compiler_there_is_nothing_to_warm_up(borneo, monkeypatch):
    monkeypatch.setattr("kontor.compile.INTERPRETED", True)
    answer = borneo("warm-up")
    assert answer.status == 2
    assert "unset it" in answer.err


# ---------------------------------------------------------------- record, verify, show


def test_record_verify_and_show_some_games(borneo, tmp_path):
    folder = tmp_path / "a" / "new" / "folder"
    answer = borneo("record --games 5 --players 4 --edition board --agents random --seed 1 --legal", "--out", folder)
    assert (answer.status, answer.out) == (0, f"5 records of board-4 in {folder}\n")
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"board-4-seed1-game{number:05}.jsonl" for number in range(5)]
    answer = borneo("verify", *files)
    assert (answer.status, answer.out) == (0, "5 of 5 records are right\n")
    answer = borneo("show", files[3])
    assert answer.status == 0
    assert answer.out.splitlines() == list(tell(read_record(files[3])))
    assert all("legal" in line for line in read_record(files[3])[1:-1] if "move" in line)


def test_the_records_are_those_of_the_library(borneo, tmp_path):
    borneo("record --games 3 --players 3 --edition card --seed 9 --out", tmp_path)
    written = [read_record(file) for file in sorted(tmp_path.iterdir())]
    assert written == record_games(Ruleset("card", 3), 3, seed=9, agents=["random"] * 3)


@pytest.mark.parametrize("games", [100, 101])
def test_games_are_numbered_on_whatever_is_played_at_once(games, borneo, tmp_path):
    answer = borneo(f"record --games {games} --players 3 --tables tiny --seed 5 --json --out", tmp_path)
    assert len(json.loads(answer.out)) == games
    last = read_record(tmp_path / f"board-3-own-cards-seed5-game{games - 1:05}.jsonl")
    ruleset = Ruleset(players=3, tables="tiny")
    assert [last] == record_games(ruleset, 1, seed=5, agents=["random"] * 3, first=games - 1)


def test_record_takes_the_variants_and_one_agent_per_seat(borneo, tmp_path):
    answer = borneo(
        "record --players 3 --four-traders --blackbeard --agents random,random,random --json --out", tmp_path
    )
    [file] = json.loads(answer.out)
    header = read_record(file)[0]
    assert header["ruleset"] == {"edition": "board", "players": 3, "traders": 4, "blackbeard": True}
    assert header["agents"] == ["random"] * 3


def test_record_with_own_cards(borneo, tmp_path):
    (tmp_path / "own.toml").write_text('base = "tiny"\ncontracts = []\n')
    answer = borneo("record --json --tables", tmp_path / "own.toml", "--out", tmp_path / "out")
    [file] = json.loads(answer.out)
    assert read_record(file)[0]["contracts"] == dict.fromkeys(("each-1", "same-4", "each-2", "same-8", "each-3"), 0)
    assert verify(read_record(file)).done[0]


def test_show_as_json(borneo, record_file):
    answer = borneo("show --json", record_file)
    assert json.loads(answer.out) == list(tell(read_record(record_file)))


def test_show_tells_everything_if_asked(borneo, record_file):
    little, all_of_it = borneo("show", record_file), borneo("show --all", record_file)
    assert set(little.out.splitlines()) < set(all_of_it.out.splitlines())
    assert "fulfils no contract" in all_of_it.out


def test_show_a_position(borneo, record_file, tmp_path):
    record = read_record(record_file)
    moves = [line for line in record if "move" in line]
    answer = borneo("show --at 5", record_file)
    assert answer.status == 0 and "\x1b" not in answer.out
    moment = list(replay(record))[4]
    names = agent_names(record[0]["agents"])
    last_move = plain(deed(moment.batch.ruleset, moment.before, moment.line["player"], moment.move), names)
    assert answer.out == Picture(moment.batch.ruleset, moment.after, None, last_move, names).ansi(False)
    assert names[0] in answer.out
    answer = borneo("show --at 0 --json", record_file)
    assert json.loads(answer.out) == {"moves": 0, "last_move": "", "pictures": []}
    assert "wins\n" in borneo(f"show --at {len(moves)}", record_file).out
    for wrong in (-1, len(moves) + 1):
        answer = borneo(f"show --at {wrong}", record_file)
        assert answer.status == 2 and f"from 0 to {len(moves)}, not {wrong}" in answer.err


def test_show_draws_a_position(borneo, record_file, tmp_path):
    picture, end = tmp_path / "five.svg", tmp_path / "end.svg"
    assert borneo("show --at 5 --svg", picture, record_file).out == f"{picture}: the board after 5 moves\n"
    assert borneo("show --svg", end, record_file).status == 0
    name = agent_names(read_record(record_file)[0]["agents"])[0]
    assert name in picture.read_text() and picture.read_text() != end.read_text()
    assert borneo("show --at 5 --png", tmp_path / "five.png", record_file).status == 0
    assert "pays as two" not in picture.read_text()
    assert borneo("show --at 5 --legend --svg", picture, record_file).status == 0
    assert "pays as two" in picture.read_text()
    assert "add --png FILE or --svg FILE" in borneo("show --legend", record_file).err
    assert (tmp_path / "five.png").read_bytes().startswith(b"\x89PNG")


def test_companies_have_their_colours_and_nothing_else_has(monkeypatch):
    shown = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=200)
    monkeypatch.setattr(records, "out", shown)
    records.print_told(Told("shared", ("Shared distribution: ", named_company(0), ".")))
    assert shown.file.getvalue() == "    Shared distribution: \x1b[31mred\x1b[0m.\n"


# ---------------------------------------------------------------- animate


def test_animate_writes_a_film(borneo, record_file, tmp_path):
    film = tmp_path / "a.svg"
    answer = borneo("animate", record_file, "--out", film, "--seat", "-1", "--seconds", "0.5", "--legend")
    assert answer.status == 0, answer.err
    made = Animation.of(read_record(record_file), -1, seconds=0.5, legend=True)
    assert film.read_text(encoding="utf-8") == made.svg()
    assert answer.out == f"{film}: {len(made.pictures)} pictures, {film.stat().st_size / 1e6:.1f} MB\n"
    told = json.loads(borneo("animate --json --every-decision", record_file, "--out", film).out)
    assert told["bytes"] == film.stat().st_size and told["pictures"] > len(made.pictures)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--out", "a.mp4"], "a.mp4: an animation is saved as .gif or .svg"),
        (["--out", "no/folder/a.svg"], "no/folder/a.svg: cannot be written: No such file or directory"),
        (["--width", "9999999"], "an animation is 160 to 2560 pixels wide, not 9999999"),
        (["--seconds", "0"], "a picture is shown for 0.05 to 60 seconds, not 0"),
        (["--seconds", "nan"], "a picture is shown for 0.05 to 60 seconds, not nan"),
        (["--seat", "3"], "seat 3 does not exist; use 0 to 2, -1 for a spectator, or None for all hands face up"),
    ],
)
def test_a_film_that_cannot_be_made(arguments, reason, borneo, record_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    answer = borneo("animate", record_file, *arguments)
    assert (answer.status, answer.out, answer.err.strip()) == (2, "", f"error: {reason}")
    assert sorted(tmp_path.iterdir()) == before


def test_a_broken_record_is_no_film(borneo, record_file, tmp_path):
    record_file.write_text("".join(record_file.read_text().splitlines(keepends=True)[:-1]))
    answer = borneo("animate", record_file, "--out", tmp_path / "a.svg")
    assert answer.status == 2 and "the file ends before the game and its result do" in answer.err
    assert not (tmp_path / "a.svg").exists()


# ---------------------------------------------------------------- random and bench


def test_random_as_json(borneo):
    answer = borneo("random --games 30 --seed 3 --json")
    rows = json.loads(answer.out)
    assert [row["ruleset"] for row in rows] == [ruleset.name for ruleset in every_ruleset()]
    for row, ruleset in zip(rows, every_ruleset(), strict=True):
        assert row["games"] == 30
        assert row["decisions_per_game"] == pytest.approx(row["decisions"] / 30)
        assert row["decisions_per_second"] > 0
        assert row["winner_mean_score"] > row["mean_score"] > 0
        assert len(row["win_share_from_start_player"]) == ruleset.players
        assert sum(row["win_share_from_start_player"]) == pytest.approx(1)


def test_random_prints_a_table_and_a_story(borneo):
    answer = borneo("random --games 5 --seed 1")
    assert answer.status == 0
    assert "5 random games of each ruleset, seed 1" in answer.out
    story = list(tell(record_games(Ruleset(), 1, seed=1, agents=["random"] * 4)[0]))
    assert answer.out.splitlines()[-len(story) :] == story


@pytest.mark.parametrize("edition", ["board", "card"])
def test_observation_prints_the_layout(borneo, edition):
    blocks = json.loads(borneo(f"observation --edition {edition} --json").out)
    assert blocks[0]["start"] == 0
    assert all(block["stop"] == after["start"] for block, after in pairwise(blocks))
    told = borneo(f"observation --edition {edition}").out
    assert str(blocks[-1]["stop"]) in told and "warehouse" in told


@pytest.mark.parametrize("missing", ["resvg_py", "PIL.Image", "font_source_serif_pro"])
def test_without_the_extra_nothing_is_begun(missing, borneo, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    answer = borneo("pictures --out", tmp_path / "new")
    assert answer.status == 2 and not (tmp_path / "new").exists()
    [line] = answer.err.splitlines()
    assert line.startswith("error: pictures need ") and "pip install '.[render]'" in line


def test_pictures_are_drawn(borneo, tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "PNG_WIDTH", 320)
    files = json.loads(borneo("pictures --json --out", tmp_path).out)
    assert len(files) == 7 and all(Path(file).stat().st_size > 1000 for file in files)


@pytest.fixture
def small_bench(monkeypatch):
    """Few and small batches, and little play before the clock starts."""
    monkeypatch.setattr(speed, "MIXING", 1)
    monkeypatch.setattr(speed, "SIZES", (16, 64))
    monkeypatch.setattr(speed, "VECTOR_SIZES", (4, 16))


def test_bench_measures_the_engine(borneo, small_bench):
    answer = borneo("bench --seconds 0.001 --players 3 --json")
    measured = json.loads(answer.out)
    assert measured["ruleset"] == "board-3"
    assert 0 < measured["game_bytes"] < 1024
    rows = [row for row in measured["measured"] if row["who"] == "borneo"]
    cores = {1, available_cores()}
    ways = ("compiled loop", "sample and step", "step and observe")
    engine = {(how, size, threads) for how in ways for size in speed.SIZES for threads in cores}
    vector = {("vector env", size, threads) for size in speed.VECTOR_SIZES for threads in cores}
    single = {("env()", 1, 1), ("raw_env()", 1, 1)}
    assert {(row["how"], row["games"], row["threads"]) for row in rows} == engine | vector | single
    assert all(row["per_second"] > 0 for row in rows)


# ---------------------------------------------------------------- mistakes

MISTAKES = {  # arguments, and what the one line says
    "record --agents clever": "there is no agent 'clever'; known are: ",
    "record --agents random,random": "2 agents for 4 players; give one name, or one per seat",
    "record --players 2": "3, 4 or 5 players, not 2",
    "record --edition dice": "edition 'dice' does not exist; use one of board, card",
    "record --four-traders": "four traders are a variant of the board edition with 3 players",
    "record --edition card --blackbeard": "Blackbeard's secret is a variant of the board edition",
    "record --games 0": "--games is a number from 1, not 0",
    "record --seed -1": "a seed is a whole number from 0 to 2**64 - 1, not -1",
    "record --tables nowhere.toml": "nowhere.toml: cannot be read",
    "record --out /dev/null/x": "Not a directory",
    "actions --edition dice": "edition 'dice' does not exist; use one of board, card",
    "random --games 0": "a batch has at least 1 game, not 0",
    "random --threads 0": "threads is a number from 1, or None for all cores, not 0",
    "bench --edition card --blackbeard": "Blackbeard's secret",
    "show nowhere.jsonl": "nowhere.jsonl: line 1: the file cannot be read: No such file or directory",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake_is_one_line_and_status_2(arguments, borneo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = borneo(arguments)
    assert answer.status == 2
    [said] = answer.err.splitlines()
    assert said.startswith("error: ")
    assert MISTAKES[arguments] in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", ["dance", "record --players four", "record --games 1.5", "verify", "show", "bench --seconds soon"]
)
def test_arguments_that_are_no_arguments(arguments, borneo):
    answer = borneo(arguments)
    assert answer.status == 2
    assert "Usage: " in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("option", ["", "--json", "--all"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "line 1: the file is empty"),
        (b"\xff\xfe", "line 1: the file is not text in UTF-8"),
        (b"{}", "line 1: format"),
        (b'{"format": "borneo-record/1", "agents": 5}', "line 1: "),
        (b'{"format": "borneo-record/1", "agents": null, "ruleset": 1, "deal": []}', "line 1: "),
    ],
)
def test_show_a_broken_file(content, reason, option, borneo, tmp_path):
    (tmp_path / "broken").write_bytes(content)
    answer = borneo(f"show {option}", tmp_path / "broken")
    assert answer.status == 2
    assert f"error: {tmp_path / 'broken'}: {reason}" in answer.err


def test_show_tells_a_cut_off_game_up_to_where_it_breaks(borneo, record_file):
    lines = record_file.read_text().splitlines(keepends=True)
    record_file.write_text("".join(lines[:-5]))
    answer = borneo("show", record_file)
    assert "Turn 1: player" in answer.out
    assert answer.status == 2
    assert f"line {len(lines) - 4}: the file ends before the game" in answer.err


def test_ctrl_c_leaves_no_half_written_record(borneo, tmp_path, monkeypatch):
    replaced, replace = [], Path.replace

    def interrupted(path, place):
        if replaced:
            raise KeyboardInterrupt
        replaced.append(place)
        return replace(path, place)

    monkeypatch.setattr(Path, "replace", interrupted)
    answer = borneo("record --games 3 --players 3 --tables tiny --seed 1 --out", tmp_path)
    assert answer.status != 0 and "Traceback" not in answer.err
    [file] = tmp_path.iterdir()
    assert file == replaced[0]
    assert verify(read_record(file)).done[0]


NASTY = "[bold]\x1b[2J\n[/]"


def test_names_of_files_are_neither_markup_nor_orders_to_the_terminal(borneo, tmp_path, record_file):
    spelt = str(tmp_path / "[bold]\\x1b[2J\\n[") + "/]"
    odd = tmp_path / NASTY
    assert borneo("show", odd).err == f"error: {spelt}: line 1: the file cannot be read: No such file or directory\n"
    assert borneo("verify", odd).out.startswith(f"{spelt}: line 1: the file cannot")
    out = borneo("record --players 3 --tables tiny --out", odd).out
    assert out == f"1 records of board-3-own-cards in {spelt}\n"
    assert borneo("record --edition", NASTY).err.startswith(r"error: edition '[bold]\x1b[2J\n[/]' does not exist")
    assert borneo("record --tables", odd).err.startswith(f"error: {spelt}: cannot be read: ")
    assert borneo("play --continue", odd).err.startswith(f"error: {spelt}: cannot be read: ")


def test_the_folder_of_an_arena_is_no_markup(capsys):
    with pytest.raises(typer.Exit):
        arena_command._say_what_is_kept(None, 10, Path(NASTY))
    assert capsys.readouterr().err == (
        "Stopped: nothing is finished yet; the same command goes on with [bold]\\x1b[2J\\n[/].\n"
    )


def test_a_mistake_told_by_the_installed_script():
    script = shutil.which("borneo", path=str(Path(sys.executable).parent))
    assert script, "the package is not installed"
    done = subprocess.run([script, "record", "--players", "9"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "error: Borneo is for 3, 4 or 5 players, not 9\n"


# ---------------------------------------------------------------- commands of other packages


class Found:
    """An entry point."""

    def __init__(self, name, command):
        self.name, self._command = name, command

    def load(self):
        if isinstance(self._command, Exception):
            raise self._command
        return self._command


def test_a_command_that_cannot_be_loaded_is_left_out(monkeypatch, capsys):
    def greet():
        """Say hello."""

    found = [Found("greet", greet), Found("broken", ImportError("no such module")), Found("record", greet)]
    monkeypatch.setattr(cli, "entry_points", lambda group: found)
    names = [command.name for command in cli._make_app().registered_commands]
    assert "greet" in names and "broken" not in names and names.count("record") == 1
    said = capsys.readouterr().err
    assert "the command broken cannot be loaded: ImportError: no such module" in said
    assert "the command record cannot be loaded: ValueError: the name is taken by borneo itself" in said


def test_a_command_of_another_package_has_a_panel_of_its_own(monkeypatch, capsys):
    def fly():
        """Fly away."""

    monkeypatch.setattr(cli, "entry_points", lambda group: [Found("fly", fly)])
    with pytest.raises(SystemExit):
        cli._make_app()(["--help"])
    ours, others = capsys.readouterr().out.split(cli.OTHERS)
    assert "Fly away." in others and "Fly away." not in ours


def test_the_version_is_told(borneo):
    assert borneo("--version").out == f"borneo-env {borneo_env.__version__}\n"
