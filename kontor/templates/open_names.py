"""What every loop, kernel and search may ask of a game: names that are filled in when it is bound to one.

All get `box`, the constants of a ruleset, and `g`, the record of one game; both are left as they are, except by those
that play. Nothing else of a game is called by compiled code of the library, and of the record it touches the general
fields alone (`kontor.fields.all_fields`).
"""

from __future__ import annotations

from typing import Any

from kontor.compile.binding import OpenName

deal = OpenName("deal", "deal(box, g): from the blank record, its streams seeded, to the first decision or draw")
legal = OpenName("legal", "legal(box, g, options) -> how many: the legal actions, ascending; where chance decides, "
                 "its outcomes; 0 when the game is over")  # fmt: skip
apply = OpenName("apply", "apply(box, g, action): carry out a legal action, or bring an outcome, up to what is next")
weight = OpenName("weight", "weight(box, g, outcome): how likely an outcome is beside the others, a whole number")
score = OpenName("score", "score(box, g, player): points as they are now")
place_of = OpenName("place_of", "place_of(box, g, player): the place, from 1; equal players share theirs")
wins = OpenName("wins", "wins(box, g, player): whether the player is a winner, of whom there may be several or none")
observe = OpenName("observe", "observe(box, g, seat, out): write what a seat knows")
write_state = OpenName("write_state", "write_state(box, g, seat, out): write the whole table, what a seat knows first")
blank_secrets = OpenName("blank_secrets", "blank_secrets(box, g, seat): blank what a seat does not know")
fill_secrets = OpenName("fill_secrets", "fill_secrets(box, g, seat, room): deal what is blank at random, from the "
                        "stream CHANCE_STREAM")  # fmt: skip
can_be_filled = OpenName("can_be_filled", "can_be_filled(box, g, seat, room): whether what is blank can be dealt")
is_possible = OpenName("is_possible", "is_possible(box, g, seat): whether a dealt game can have come about")
note_results = OpenName("note_results", "note_results(box, g, desk): note what the game keeps beside points and places")
has_chance: Any = OpenName("has_chance", "whether chance ever decides")
has_weights: Any = OpenName("has_weights", "whether outcomes differ in how likely they are")
most_room: Any = OpenName("most_room", "the number of things that can be unseen: room to deal them in")
reward_of = OpenName("reward_of", "reward_of(number, box, before, after, player): what the reward of a number gives")
idle: Any = OpenName("idle", "a number that no phase has: of threads of a card with nothing to do")
keys: Any = OpenName("keys", "how many numbers of phases there are, `idle` included")
choose = OpenName("choose", "choose(kind, box, g, options, count, dice, scratch): what the bot of a number plays")
begin_bots = OpenName("begin_bots", "begin_bots(scratch): forget what the last search was about")
estimate = OpenName("estimate", "estimate(box, g, scratch, out): write each player's expected share of the win")
