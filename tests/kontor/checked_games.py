"""Checks games as plain Python, which compiles nothing, and prints the reports: `checked_games.py GAMES GAME ...`."""

import json
import sys

from kontor.check import check_game, dealing, play


def main() -> None:
    play.MOST_DECISIONS = 60  # what does not end is found sooner
    dealing.TESTED = dealing.VIEWS = 3  # plain Python takes its time
    games, *places = sys.argv[1:]
    reports = {}
    for place in places:
        reports[place] = check_game(place, int(games), card=False).as_dict()
    print(json.dumps(reports))


if __name__ == "__main__":
    main()
