"""A worker: a process that plays chunks of a tournament, one after another.

It is started with the number of its parent process, and reads JSON lines from its standard input: the tournament, then
one chunk at a time. For each chunk it writes a file into the folder, and a line to its standard output. What agents
print goes elsewhere (see `_keep_for_answers`).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from typing import TextIO

from borneo_agents.arena.folder import Folder
from borneo_agents.arena.match import Match, Orders, warm_up
from borneo_agents.arena.notes import Board, unpacked
from borneo_agents.arena.records import write_records
from borneo_env.agent import find_agent


def work(requests: TextIO, answers: TextIO) -> None:
    """Play what is asked for until there is nothing more."""
    about = json.loads(requests.readline())
    tournament, folder, board = unpacked(about["tournament"]), Folder(about["folder"]), Board(about["notes"])
    warm_up(tournament, tournament.agents, board, about["cold"])
    for request in requests:
        wanted = json.loads(request)
        deals = range(*wanted["deals"])
        orders = Orders(
            {(decision, agent) for decision, agent in wanted["alone"]},
            {(decision, game): kind for decision, game, kind in wanted["condemned"]},
            dict(wanted["given_up"]),
        )
        agents = [find_agent(name) for name in tournament.agents]  # anew, so that no chunk depends on another
        played = Match(tournament, deals, agents, board, orders).play()
        if about["records"]:
            write_records(folder.path, tournament, deals, played)
        folder.save(deals, played)
        print(json.dumps({"done": deals.start}), file=answers, flush=True)


def _keep_for_answers() -> TextIO:
    """Standard output for this module alone: whatever agents print goes where errors go."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _leave_with(parent: int) -> None:
    """End this process when its parent has ended, even in the middle of a chunk or before this was called."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=_leave_with, args=(int(sys.argv[1]),), daemon=True).start()
    answers = _keep_for_answers()
    try:
        work(sys.stdin, answers)
    except Exception:
        print(json.dumps({"error": traceback.format_exc()}), file=answers, flush=True)


if __name__ == "__main__":
    main()
