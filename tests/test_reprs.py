"""How things show themselves at a prompt and in a notebook."""

from borneo_agents.arena import play_arena

import borneo_env
from borneo_env import Batch, BorneoEnv, BorneoVectorEnv


def test_a_batch_says_how_many_games_go_on():
    batch = Batch(1200, seed=5, finished="hold")
    assert repr(batch) == "<Batch of 1,200 games of board-4, seed 5; 1,200 go on>"
    assert "<td>place</td><td>1,200</td>" in batch._repr_html_()
    batch.play_random()
    assert repr(batch).endswith("; 0 go on>") and "<td>over</td><td>1,200</td>" in batch._repr_html_()


def test_environments_say_who_decides_or_why_nobody_does():
    env = borneo_env.raw_env(players=3)
    assert repr(env) == "<raw_env of board-3: No game yet: reset() deals one.>"
    env.reset(seed=1)
    assert repr(env) == f"<raw_env of board-3: {env.agent_selection} decides, phase place>"
    while not any(env.terminations.values()):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert repr(env) == "<raw_env of board-3: the game is over>"
    seat = BorneoEnv(seat=2)
    assert repr(seat) == "<BorneoEnv of board-4: No game yet: reset() deals one.>"
    seat.reset(seed=1)
    assert repr(seat) == "<BorneoEnv of board-4: the learner sits at 2>"
    assert repr(BorneoVectorEnv(3)) == "BorneoVectorEnv(num_envs=3)"


def test_a_result_of_the_arena_shows_the_standings():
    result = play_arena({"a": "random", "<b>": "random"}, players=3, games=12, chunk=12, seed=1, jobs=0)
    head, columns, *rows = repr(result).splitlines()
    assert head.endswith("12 games of board-3: 2 deals, 6 games each (round-robin), seed 1")
    assert columns.split() == ["agent", "wins,", "%", "max,", "%", "place", "points"]
    assert {row.split()[0] for row in rows} == {"a", "<b>"}
    page = result._repr_html_()
    assert "<th>place</th>" in page and "<td>&lt;b&gt;</td>" in page and page.count("<tr>") == 3


def test_the_package_shows_its_public_names():
    assert set(dir(borneo_env)) == {"__version__", *borneo_env.__all__}
    assert all(hasattr(borneo_env, name) for name in dir(borneo_env))
