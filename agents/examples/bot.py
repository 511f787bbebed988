#!/usr/bin/env python3
"""A bot for borneo-protocol/1 that needs nothing but Python: `borneo arena command:agents/examples/bot.py random`.

It places high, ships where its companies have flags, fulfils the best contract, and leaves traders where they are.
"""

import json
import sys

HELLO = {"protocol": "borneo-protocol/1", "name": "example in Python", "wants": ["words"], "memoryless": True}


def worth(move, game, seat, cards, kinds):
    """How good a move is."""
    verb, *rest = move.split()
    if verb == "place":
        return -len(game["ladders"][rest[0]])
    if verb == "ship":
        (port,) = (port for port in game["ports"] if port["place"] == int(rest[1]))
        flags = dict(port["flags"])
        for company in cards[int(rest[0])]["flags"]:
            flags[company] += 1
        return sum(count for company, count in flags.items() if game["ladders"][company][:1] == [seat])
    if verb == "contract" and rest[0] in kinds:
        return kinds[rest[0]]
    return 0


def main():
    cards, kinds = [], {}
    for line in sys.stdin:
        told = json.loads(line)
        if told["type"] == "hello":
            answer = HELLO
        elif told["type"] == "rules":
            cards = told["tables"]["cargo"]
            kinds = {contract["kind"]: contract["points"] for contract in told["tables"]["contracts"]}
            answer = {"ready": True}
        elif told["type"] == "decide":
            game, seat = told["words"], told["seat"]
            answer = {"move": max(told["moves"], key=lambda move: worth(move, game, seat, cards, kinds))}
        else:  # quit
            return
        print(json.dumps(answer), flush=True)


main()
