"""Bots for the tests of the protocol: a program that answers, and at some decisions does something it should not."""

import sys
import time
from pathlib import Path

from borneo_agents.protocol.agent import Command

from kontor.files import write_file

# Started as `bot.py DEED`. It plays a move by the dice, as `ByDice` does, and does its deed at one decision in 120.
BOT = r"""
import json, os, sys, time

deed = sys.argv[1]
HELLO = {"protocol": "borneo-protocol/1", "name": "test", "wants": [], "memoryless": True}
GREETINGS = {
    "version": {"protocol": "borneo-protocol/2"}, "nameless": {"name": "test"}, "wish": {"wants": ["cards"]},
    "wishes": {"wants": [["words"]]}, "much": {"batch": 10**9}, "kind": {"ends": "yes"}, "more": {"colour": "red"},
    "batch": {"batch": 7}, "ends": {"ends": True}, "all": {"wants": ["words", "numbers"]},
}


def say(words):
    os.write(1, (words if isinstance(words, str) else json.dumps(words)).encode() + b"\n")


def forever(file, words):
    while True:
        os.write(file, words)


def complain(words, do):
    print(words, file=sys.stderr, flush=True)
    do()


MISDEEDS = {
    "json": lambda: say('{"move": '),
    "list": lambda: say([1]),
    "nested": lambda: say("[" * 900),
    "binary": lambda: os.write(1, b"\xff\xfe\n"),
    "nothing": lambda: say({}),
    "illegal": lambda: say({"move": "ship 99 9"}),
    "number": lambda: say({"move": 99999}),
    "true": lambda: say({"move": True}),
    "error": lambda: complain("I do not know", lambda: say({"error": "cannot decide"})),
    "twice": lambda: os.write(1, b'{"move": 1}\n{"move": 1}\n'),
    "endless": lambda: forever(1, b"x" * 4096),
    "flood": lambda: forever(1, b"x\n" * 2048),
    "noise": lambda: forever(2, b"noise\n" * 512),
    "die": lambda: complain("out of luck", lambda: os._exit(3)),
    "signal": lambda: os.kill(os.getpid(), 6),
    "close": lambda: (os.close(1), time.sleep(600)),
    "memory": lambda: bytearray(2**30),
    "stall": lambda: time.sleep(600),
}


def move(told):
    bits = int(told["dice"], 16)
    if bits % 120 == 0 and told["phase"] != "place" and deed in MISDEEDS:
        MISDEEDS[deed]()
        return None
    return told["moves"][bits % len(told["moves"])]


for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "quit":
        break
    if told["type"] == "hello":
        if deed == "mute":
            break
        if deed == "once" and os.path.exists("greeted"):
            sys.exit("I have greeted already")
        open("greeted", "w").close()
        if deed == "babble":
            os.write(1, json.dumps(HELLO).encode() + b"\n")
            time.sleep(0.3)
            say("and then")
            continue
        if deed == "nameless":
            del HELLO["protocol"]
        say(HELLO | GREETINGS.get(deed, {}))
    elif told["type"] == "rules":
        say({"ready": deed != "unready"})
    elif told["type"] == "decide":
        chosen = move(told)
        if chosen is not None:
            say({"move": chosen})
    elif told["type"] == "batch":
        say({"moves": [move(one) for one in told["decisions"]]})
    elif told["type"] == "over":
        with open("ends", "a") as file:
            file.write(line)
"""


class ByDice:
    """Plays as the bot does, in this process."""

    memoryless = True

    def act(self, views):
        legal = [mask.nonzero()[0] for mask in views.mask]
        return [int(one[bits % len(one)]) for one, bits in zip(legal, views.dice.tolist(), strict=True)]


def bot(folder, deed="", **limits):
    """The bot, in a folder that is the current one."""
    write_file(Path(folder) / "bot.py", BOT)
    return Command(f"{sys.executable} -I -S bot.py {deed or 'well'}", **limits)


def gone(number):
    """Whether a process has ended, at once or soon."""
    until = time.monotonic() + 10
    while _runs(number):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _runs(number):
    stat = Path(f"/proc/{number}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
