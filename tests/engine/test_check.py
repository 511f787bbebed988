"""What `check_games` lets pass: every real game at every step, and nothing that cannot be played to its end."""

from functools import cache

import numpy as np
import pytest

from borneo_env import PHASES, Batch, Ruleset, every_ruleset
from borneo_env.engine.hiding import redact
from borneo_env.engine.state import FIELDS, GAME, HAND, OVER, SEATS
from kontor.engine.check import BrokenGame, check_games, check_readable

RULESETS = [*every_ruleset(), Ruleset(tables="tiny"), Ruleset("card", 3, tables="tiny")]
every = pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: f"{ruleset.name}-{ruleset.players}")
FREE = ("rng", "number")  # any value will do
CHANGED = [field for field in FIELDS if field.name not in (*FREE, "padding")]


@cache
def positions_of(ruleset, games, seed):
    """All positions of some random games."""
    batch = Batch(games, ruleset, seed=seed, finished="hold", skip_forced=False)
    found = [batch.games.copy()]
    while (batch.player >= 0).any():
        batch.step(batch.sample())
        found.append(batch.games[batch.player >= 0])
    return np.concatenate([*found, batch.games])


@every
def test_every_position_of_a_real_game_passes(ruleset):
    positions = positions_of(ruleset, 5, 2)
    check_games(ruleset, positions)
    check_readable(ruleset, positions)
    check_readable(ruleset, redact(positions, 1))
    assert set(positions["phase"].tolist()) >= {PHASES.index(name) for name in ("place", "ship", "take", "over")}


def change(game, others, rng):
    """One number of a record becomes another, one more or less, or its neighbour's; or a field is another game's."""
    field = CHANGED[rng.integers(len(CHANGED))]
    values = game[field.name].reshape(-1)
    i, j = rng.integers(values.size, size=2)
    how = rng.integers(4)
    if how == 0:
        values[i] = rng.integers(field.low, min(field.high(SEATS), 100), endpoint=True)
    elif how == 1:
        values[i] = np.clip(int(values[i]) + int(rng.choice([-1, 1])), field.low, field.high(SEATS))
    elif how == 2:
        values[i], values[j] = int(values[j]), int(values[i])
    else:
        values[:] = others[field.name][rng.integers(len(others))].reshape(-1)


def accepted(ruleset, positions, times, rng):
    """Changed positions of all phases that pass nevertheless, and how many do not."""
    phases = [positions[positions["phase"] == phase] for phase in range(len(PHASES))]
    phases = [some for some in phases if len(some)]
    passed, refused = [], 0
    for k in range(times):
        some = phases[k % len(phases)]
        game = some[[rng.integers(len(some))]]
        before = game.tobytes()
        for _ in range(1 + k % 2):
            change(game[0], some, rng)
        if game.tobytes() == before:
            continue
        try:
            check_games(ruleset, game)
        except BrokenGame:
            refused += 1
        else:
            passed.append(game)
    return np.concatenate(passed), refused


def play_with_checks(ruleset, games):
    batch = Batch(len(games), ruleset, finished="hold", skip_forced=False)
    batch.games[:] = games
    batch.refresh()
    assert batch.games.tobytes() == games.tobytes()
    steps = 0
    while (batch.player >= 0).any():
        batch.step(batch.sample())
        check_games(ruleset, batch.games)
        assert batch.mask[batch.player >= 0].any(1).all()
        steps += 1
        assert steps < 1000
    assert (batch.phase == OVER).all()


def compare(ruleset, games, times, seed):
    rng = np.random.default_rng(seed)
    passed, refused = accepted(ruleset, positions_of(ruleset, games, seed), times, rng)
    assert refused > len(passed) > times / 40
    play_with_checks(ruleset, passed)


@pytest.mark.parametrize(
    "ruleset", [Ruleset(), Ruleset(tables="tiny", players=3, blackbeard=True)], ids=["board", "tiny"]
)
def test_what_passes_can_be_played_to_its_end(ruleset):
    compare(ruleset, 10, 160, seed=7)


@pytest.mark.soak
@every
def test_what_passes_can_be_played_to_its_end_at_length(ruleset):
    compare(ruleset, 100, 10_000, seed=8)


@pytest.mark.parametrize(
    ("phase", "name", "value", "reason"),
    [
        ("place", "hand_size", (4, 3, 3, 3, 0), "hand_size counts"),
        ("contract", "contract", 0, "a contract is paid in its phase"),
        ("contract", "finished", 1, "last contracts come at the end"),
        ("pay", "owed", (4, 4, 4, 4), "not more is owed"),
        ("commit", "strength", (9, 0), "strength counts the flags of the attack"),
        ("commit", "last_played", 59, "last_played is the last card"),
        ("commit", "defence_cards", 1, "defence_cards counts"),
        ("defend", "attack_cards", 0, "attack_cards counts"),
        ("keep", "strength", (32, 0), "strength counts the flags of the defence"),
        ("yield", "strength", (0, 32), "a beaten defender yields"),
        ("take", "sharers", (1, 1, 1, 1), "different companies share|trader that stands"),
        ("take", "n_sharers", 0, "somebody shares"),
        ("ship", "sharer", 0, "a company shares only"),
        ("ship", "clock", 32000, "clock has not counted more"),
        ("ship", "tally", 9, "only players have done something"),
        ("over", "finished", 5, "nobody has two last contracts"),
        ("last contract", "ports_left", 1, "port_pile lists"),
    ],
)
def test_what_does_not_fit_together_is_named(phase, name, value, reason):
    positions = positions_of(Ruleset(), 20, 3)
    game = positions[positions["phase"] == PHASES.index(phase)][:1]
    game[name] = value
    with pytest.raises(BrokenGame, match=f"game 0: not true: .*({reason})"):
        check_games(Ruleset(), game)


def test_a_hand_that_is_too_full_is_refused():
    """Every card of it is accounted for, but nobody holds eight cards, or seven unless one is to be dropped."""
    batch = Batch(1, seed=5, finished="hold", skip_forced=False)
    while batch.phase_name() != "ship":
        batch.step(batch.sample())
    game = batch.games[0]
    while game["hand_size"][0] < 7:
        game["draw_left"] -= 1
        card = game["draw"][game["draw_left"]]
        game["place"][card] = HAND
        game["hand_since"][0, game["hand_size"][0]] = 0
        game["hand_size"][0] += 1
    with pytest.raises(BrokenGame, match="no hand is too full"):
        batch.refresh()


def test_games_are_named_by_their_place_however_many_there_are():
    batch = Batch(4100, Ruleset(tables="tiny"))
    batch.games["phase"][4099] = OVER
    with pytest.raises(BrokenGame, match=r"^game 4099: "):
        check_games(batch.ruleset, batch.games)


@pytest.mark.parametrize("records", [np.zeros(3), np.zeros((1, 1), GAME), np.zeros(1, GAME)[0], [1, 2], None])
def test_records_of_another_type_are_refused(records):
    for check in (check_games, check_readable):
        with pytest.raises(BrokenGame, match="other fields"):
            check(Ruleset(), records)
