"""The structure of the project: which part may import which, and how large a file or a function may be."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "kontor": ROOT / "kontor",
    "borneo_env": ROOT / "borneo_env",
    "borneo_agents": ROOT / "agents" / "borneo_agents",
    "borneo_train": ROOT / "train" / "borneo_train",
    "borneo_web": ROOT / "web" / "borneo_web",
    "borneo_bench": ROOT / "benchmarks" / "borneo_bench",
}

# Lowest layer first: a part imports only parts on lines above its own. Import statements inside
# functions count.
LAYERS = """
    kontor.compile                        kontor.files
    kontor.fields                         kontor.traces
    kontor.actions                        kontor.layout               kontor.templates
    kontor.derived                        kontor.ruleset              kontor.bots
    kontor.game
    kontor.engine                         kontor.exact
    kontor.agent                          kontor.rewards              kontor.view                 kontor.chance
    kontor.registry                       kontor.bot                  kontor.record
    kontor.catalogue                      kontor.envs                 kontor.open_spiel
    kontor.gpu                            kontor
    kontor.check
    kontor.cli                            kontor.pytest_plugin
    borneo_env.cards                      borneo_env.rulebook         borneo_env.pieces
    borneo_env.ruleset
    borneo_env.engine                     borneo_env.console
    borneo_env.agent                      borneo_env.rewards          borneo_env.chance
    borneo_env.record                     borneo_env.vector           borneo_env.view
    borneo_env.catalogue                  borneo_env.bot              borneo_env.gpu              borneo_env.outcomes
    borneo_env.story
    borneo_env.render
    borneo_env.screen
    borneo_env.aec                        borneo_env.seat             borneo_env.open_spiel
    borneo_env                            borneo_env.manual
    borneo_env.commands
    borneo_env.cli
    borneo_agents
    borneo_agents.statistics              borneo_agents.scripted      borneo_agents.protocol      borneo_agents.cluster
    borneo_agents.search
    borneo_agents.policy
    borneo_agents.human                   borneo_agents.warm_up
    borneo_agents.arena.design
    borneo_agents.arena.play
    borneo_agents.arena.store
    borneo_agents.arena.workers           borneo_agents.arena.report
    borneo_agents.arena.ray
    borneo_agents.arena
    borneo_agents.commands
    borneo_train                          borneo_bench                borneo_web
    borneo_train.run.config               borneo_train.advantages
    borneo_train.networks
    borneo_train.games                    borneo_train.distributed
    borneo_train.ppo                      borneo_train.vec_env
    borneo_train.run
    borneo_train.distributed.worker       borneo_train.supervised
    borneo_train.distributed.ray
    borneo_train.commands
    borneo_web.replay
    borneo_web.server
    borneo_web.commands
"""
HEIGHT = {part: height for height, line in enumerate(LAYERS.strip().splitlines()) for part in line.split()}

# Only these know private parts of Numba, which any of its releases may move.
KNOW_PRIVATE = {"kontor.compile.numba_private", "kontor.gpu.cuda_private"}
PUBLIC = {"numba", "numba.cuda", "numba.extending", "numba.types"}

LONGEST_FILE, LONGEST_FUNCTION = 400, 60  # lines
LONGER = {"kontor.game": 500}  # an author's whole table of contents, on one page

# What Kontor may not name: it knows no game. The name of the distribution is one, and stands in names that users have:
# of variables, folders and files.
WORDS_OF_GAMES = """
    borneo goa novgorod noir cargo edition ladder contract trader pirate blackbeard spice ship shipping port company
    companies warehouse contest monopoly monopolies joker merchant city cities
"""
OF_THE_DISTRIBUTION = r"BORNEO_[A-Z_]+|borneo-env|\.borneo-|borneo\.lock"

# What the arena may not name: it shall play other games, too.
WORDS_OF_THE_GAME = """
    ship shipping port pirate contract cargo ladder edition trader spice company companies warehouse contest monopoly
    monopolies blackbeard
"""


@cache
def modules():
    """All modules by name, each with its source."""
    found = {}
    for package, folder in PACKAGES.items():
        for file in folder.rglob("*.py"):
            parts = (package, *file.relative_to(folder).with_suffix("").parts)
            found[".".join(parts).removesuffix(".__init__")] = file.read_text(encoding="utf-8")
    return found


@cache
def imports():
    """For each module the modules of ours that it imports, at its top or in a function."""
    return {name: imported(name, source) for name, source in modules().items()}


def imported(name, source):
    found = set()
    for node in running(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} has a relative import, which this test does not follow"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in modules() else node.module for one in inner}
    return {one for one in found if one in modules()} - {name}


def running(tree):
    """All nodes but those that only checkers of types read."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        only_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        pending += node.orelse if only_types else ast.iter_child_nodes(node)


def part_of(module):
    """The part of the project that a module belongs to: the longest name in LAYERS that its own begins with."""
    parts = [part for part in HEIGHT if module == part or module.startswith(f"{part}.")]
    return max(parts, key=len)


def test_every_part_has_its_place():
    assert {part_of(module) for module in modules()} == set(HEIGHT)
    top = {
        ".".join(module.split(".")[:2])
        for module in modules()
        if module.startswith(("kontor", "borneo_env", "borneo_agents"))
    }
    assert top <= set(HEIGHT), "a new part of the project stands in LAYERS"


def test_imports_go_one_way():
    wrong = [
        f"{module} imports {other}"
        for module, others in imports().items()
        for other in others
        if part_of(other) != part_of(module) and HEIGHT[part_of(other)] >= HEIGHT[part_of(module)]
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_by_way_of_others():
    seen, finished = [], set()

    def walk(module):
        assert module not in seen, " -> ".join([*seen[seen.index(module) :], module])
        if module not in finished:
            seen.append(module)
            for other in sorted(imports()[module]):
                walk(other)
            seen.pop()
            finished.add(module)

    for module in sorted(imports()):
        walk(module)


def private_parts(source):
    """The private parts of Numba that are imported or named."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = re.findall(r"\bnumba\.c[.\w]+|\b_CUDA\w+", node.value)
        for name in names:
            module, _, last = name.rpartition(".")
            if name.startswith("_CUDA") or (module.startswith("numba") and (module not in PUBLIC or last[0] == "_")):
                yield name


def test_only_two_files_know_private_parts_of_numba():
    assert list(private_parts("from numba.core import cgutils; from numba import cuda, njit, types"))
    assert not list(private_parts("import numba; from numba import cuda, njit; from numba.extending import intrinsic"))
    knowing = {name: sorted({*private_parts(source)}) for name, source in modules().items()}
    knowing = {name: found for name, found in knowing.items() if found}
    assert set(knowing) == KNOW_PRIVATE, knowing


def test_the_arena_names_nothing_of_the_game():
    words = re.compile(rf"\b({'|'.join(WORDS_OF_THE_GAME.split())})s?\b", re.IGNORECASE)
    arena = {module: source for module, source in modules().items() if module.startswith("borneo_agents.arena")}
    assert {module: found for module, source in arena.items() if (found := words.findall(source))} == {}


def test_kontor_knows_no_game():
    words = re.compile(rf"(?<![a-z])({'|'.join(WORDS_OF_GAMES.split())})s?(?![a-z])", re.IGNORECASE)
    said = {}
    for file in PACKAGES["kontor"].rglob("*"):
        if file.is_file() and file.suffix != ".pyc":
            text = re.sub(OF_THE_DISTRIBUTION, "", file.read_text(encoding="utf-8"))
            said[str(file.relative_to(ROOT))] = sorted({word.lower() for word in words.findall(text)})
    assert {file: found for file, found in said.items() if found} == {}
    assert words.findall("import borneo_env; 'Ships in ports'; shipped") == ["borneo", "Ship", "port"]


def test_no_file_is_too_long():
    lengths = {name: len(source.splitlines()) for name, source in modules().items()}
    assert not {name for name, length in lengths.items() if length > LONGER.get(name, LONGEST_FILE)}


def test_no_function_is_too_long_without_a_reason():
    for module, source in modules().items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= LONGEST_FUNCTION:
                assert "(Long by " in (ast.get_docstring(node) or ""), f"{module}.{node.name}: mend it, or say why"


# Records and the text protocol have moves as text, and read them by the action table. All others ask a `Move` for its
# parts, and a sentence for its pieces.
TAKING_APART = {"split", "partition", "rpartition", "startswith", "endswith", "removeprefix", "removesuffix", "replace"}
MOVES_AND_SENTENCES = re.compile(r"\bmoves?\b|\.texts?\(|\bnews\b|\btold\b|\bdeed\b|plain\(|\.line\(")
NAMES_IN_SENTENCES = re.compile(r"card |port |player |monopoly |rygb")


def takes_apart(call):
    """Whether a call looks for parts in the text of a move or in a sentence."""
    if not isinstance(call.func, ast.Attribute):
        return False
    about = ast.unparse(call.func.value)
    if about == "re":
        return any(NAMES_IN_SENTENCES.search(str(one.value)) for one in call.args if isinstance(one, ast.Constant))
    return call.func.attr in TAKING_APART and MOVES_AND_SENTENCES.search(about) is not None


def test_nobody_takes_moves_or_sentences_apart():
    wrong = {
        f"{module}: {ast.unparse(node)}"
        for module, source in modules().items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and takes_apart(node)
    }
    assert not wrong, "\n".join(sorted(wrong))
    scripts = [file for file in PACKAGES["borneo_web"].rglob("*.js") if "matchAll" in file.read_text(encoding="utf-8")]
    assert not scripts, "sentences come to scripts as pieces"
