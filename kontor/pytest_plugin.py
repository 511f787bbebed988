"""For pytest: `pytest --kontor my_game.py:MINE` checks a game beside the tests, and a fixture does so in a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

GAMES = 1_000  # fewer than the command plays: tests are run often


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kontor", "checks of games")
    group.addoption("--kontor", action="append", default=[], metavar="GAME", help="check a game, too; may be repeated")
    group.addoption("--kontor-games", type=int, default=GAMES, help="how many random games of each ruleset are played")
    group.addoption("--kontor-seed", type=int, default=0, help="the seed of these games")


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test for each game that is to be checked."""
    for place in config.getoption("kontor"):
        items.append(GameItem.from_parent(session, name=f"kontor check {place}", place=place))


class GameItem(pytest.Item):
    """The check of one game as a test."""

    def __init__(self, *, place: str, **settings: Any) -> None:
        super().__init__(**settings)
        self.place = place

    def runtest(self) -> None:
        _check(self.config, self.place).raise_if_failed()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from kontor.check import Failed

        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[str, None, str]:
        return self.place.rpartition(":")[0], None, self.name


@pytest.fixture
def kontor_check(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Checks a game and fails the test with what is wrong; returns the report."""

    def check(game: Any) -> Any:
        report = _check(request.config, game)
        report.raise_if_failed()
        return report

    return check


def _check(config: pytest.Config, game: Any) -> Any:
    from kontor.check import check_game

    return check_game(game, config.getoption("kontor_games"), config.getoption("kontor_seed"), card=False)
