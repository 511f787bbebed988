"""Machinery and learning are spoken of in the field's words, and a class name stands once in the project."""

import ast
import re
from collections import defaultdict

from test_structure import modules

# Words of a private dialect, and what the field says.
FIELD = {
    "teller": "progress reporter, narrator", "desk": "server, scratch, pending", "pupil": "trainee", "lesson": "config",
    "guest": "roll-in policy", "caution": "kl_lr_scale", "papers": "scratch", "appraise": "fit values",
    "appraiser": "value fitting", "imitator": "behaviour cloning", "meeting_place": "rendezvous",
    "taken_up": "resume", "take_up": "resume", "freeze": "snapshot", "chairs": "agent seats",
    "condemned": "forfeits", "given_up": "disqualified", "study": "train step", "judged": "evaluated",
    "hears": "receives", "sureness": "opponent_power", "fears": "threats",
    "whoever": "who, by name", "somebody": "who, by name",
}  # fmt: skip
OF_THE_FIELD = ("borneo_train", "borneo_agents.arena", "borneo_agents.policy", "borneo_agents.search")

# Classes of one name, until they are renamed.
TWICE = {
    "Game", "Option", "Part", "Results", "_Cache",
}  # fmt: skip


def test_machinery_is_spoken_of_in_the_fields_words():
    words = re.compile(rf"(?<![a-z])({'|'.join(FIELD)})(?![a-z])", re.IGNORECASE)
    spoken = {name: source for name, source in modules().items() if name.startswith(OF_THE_FIELD)}
    found = {name: words.findall(source) for name, source in spoken.items()}
    assert not {name: [(word, FIELD[word.lower()]) for word in said] for name, said in found.items() if said}
    assert words.findall("def take_up(desk): '''Whoever.'''") == ["take_up", "desk", "Whoever"]


def is_own_kind(node):
    """Whether a class is a game's own kind of the general one of the same name: `class Batch(batch.Batch)`."""
    return node.name in (ast.unparse(base).rpartition(".")[2] for base in node.bases)


def test_a_class_name_stands_once():
    places = defaultdict(set)
    for name, source in modules().items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and not is_own_kind(node):
                places[node.name].add(name)
    assert {name for name, where in places.items() if len(where) > 1} == TWICE
