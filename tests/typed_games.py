"""Games typed in by people: what some tests of games with people share."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from borneo_agents.human.decision import decision
from borneo_agents.human.game import Game
from borneo_agents.human.options import options
from borneo_agents.human.terminal import Terminal

from borneo_env import cli
from borneo_env.engine.hiding import redact
from borneo_env.render.scene import Scene
from borneo_env.ruleset import Ruleset

TINY = Ruleset(players=3, tables="tiny")
SEATS = ["human", "random", "random"]


def sit(seats=SEATS, seed=3, ruleset=TINY):
    return Game(ruleset, seats, seed)


def table(game, typed, save_to, **more):
    """Play with what is typed; whether the game was finished, and all that was shown."""
    shown = io.StringIO()
    finished = Terminal(game, save_to, typed=io.StringIO(typed), shown=shown, **more).run()
    return finished, shown.getvalue()


def question(game):
    """What the person who decides is asked."""
    scene = Scene(game.batch.ruleset, redact(game.batch.games[0], game.player), game.player, "", game.names)
    return decision(game.batch, scene)


def some_choice(game, rng):
    """Something to type: the number of an option, or of cards in any order."""
    asked = question(game)
    count = len(options(game.batch))
    if game.batch.phase_name() not in ("commit", "defend"):
        return str(rng.integers(count) + 1)
    cards = rng.permutation(len(asked._playable))[: rng.integers(asked._most + 1)] + 1
    return " ".join(map(str, cards)) or ("0" if asked._may_be_none else "1")


def typed_game(seed, seats=SEATS, ruleset=TINY, confirm=True):
    """Words that play a game of these seats to its end, chosen by chance; and the finished game."""
    rng = np.random.default_rng(seed)
    game, words = sit(seats, seed, ruleset), []
    game.advance()
    while not game.over:
        words.append(some_choice(game, rng))
        actions = question(game).parse(words[-1])
        words += [""] * (confirm and game.is_final(actions))
        game.choose(actions)
        game.advance()
    return words, game


def lines(*words):
    return "".join(f"{word}\n" for word in words)


def confirmed(numbers):
    return lines(*(word for number in numbers for word in (number, "")))


def at_phase(phase, seed=0, ruleset=TINY):
    """A game in which the person is at a phase, played there by chance."""
    for number in range(seed, seed + 40):
        rng, game = np.random.default_rng(number), sit(seed=number, ruleset=ruleset)
        game.advance()
        while not game.over:
            if game.batch.phase_name() == phase:
                return game
            game.choose(question(game).parse(some_choice(game, rng)))
            game.advance()
    raise AssertionError(f"no {phase}")


def run_play(capsys, monkeypatch, line, typed=""):
    """The status of `borneo play` with these options, and what it has written."""
    monkeypatch.setattr(sys, "argv", ["borneo", "play", *line.split()])
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed) if isinstance(typed, str) else typed)
    with pytest.raises(SystemExit) as left:
        cli.main()
    return (left.value.code or 0, *capsys.readouterr())
