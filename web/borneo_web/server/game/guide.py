"""The page of the rules: first for people, with pictures, then every rule by its id."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from borneo_env.cards import COMPANIES
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import AMOUNT, OF_ONE_SPICE, SPECTATOR
from borneo_env.render.board import contract_words, seal
from borneo_env.render.pen import Pane
from borneo_env.render.picture import DEFINITIONS, Picture
from borneo_env.render.scene import Scene
from borneo_env.rulebook import chapters, find_rules
from borneo_env.ruleset import Ruleset
from borneo_web.server.game.legend import cargo_card, drawn
from borneo_web.server.html import Html, join, tag
from borneo_web.server.page import page

ABOUT = (
    "Three to five players trade in pepper, cinnamon, cloves and nutmeg. Most points at the end win.",
    "Your traders stand on the ladders of four companies: red, yellow, green and blue. The higher one stands, the "
    "sooner it chooses when cargo is given out.",
    "Each turn you play a card with a spice and four flags to one of three open ports.",
    "Enough flags of one company there are a monopoly: its traders alone choose from the cargo. A port that is full "
    "before that is shared by all companies whose flags are seen.",
    "What your traders take pays for contracts of 6 to 25 points. Who wants a better rank attacks with cards.",
)
CONTENTS = {
    "turn": "Your turn", "card": "A cargo card", "port": "At a port", "contest": "A contest", "contracts": "Contracts",
    "end": "The end", "editions": "The card edition", "R0": "Every rule by its id",
}  # fmt: skip
EXAMPLE_SEED, EXAMPLE_MOVES = 6, 50  # of a game in which there is something to see


def rules_page() -> Html:
    """The rules for people, and below them all rules, each at its id."""
    links = (tag("a", words, href=f"#{anchor}") for anchor, words in CONTENTS.items())
    by_id = []
    for chapter, title in chapters().items():
        rules = (join(tag("dt", rule, id=rule), tag("dd", text)) for rule, text in find_rules(chapter).items())
        by_id.append(tag("section", tag("h2", f"{chapter} {title}", id=chapter), tag("dl", *rules), class_="sheet"))
    return page(
        "The rules",
        Html(f"<svg hidden>{DEFINITIONS}</svg>"),
        tag(
            "main",
            tag("nav", *links, class_="contents", aria_label="On this page"),
            _for_people(),
            *by_id,
            class_="rules",
        ),
    )


def about() -> Html:
    """What the game is about, in five lines."""
    return join(*(tag("li", line) for line in ABOUT))


def _for_people() -> Html:
    """The text of guide.html, with pictures of a position and what there is to see in them."""
    scene, panes = _example()
    place = max(range(3), key=lambda i: max(scene.g.shown[i]))
    port, shown = scene.port(place), scene.g.shown[place]
    assert port is not None
    ladders = scene.g.ladder
    contested = next(i for i, ladder in enumerate(ladders) if ladder[2] >= 0 and ladder[2] != ladder[0])
    text = (files("borneo_web.server.game") / "guide.html").read_text(encoding="utf-8")
    return Html(
        Template(text).substitute(
            about=about(),
            card=cargo_card(),
            contracts=_contracts(),
            port=_drawn(panes[f"port {place}"], 1.0),
            port_name=port.name,
            limit=port.limit,
            laid=scene.g.laid[place],
            Company=COMPANIES[max(range(len(COMPANIES)), key=shown.__getitem__)].capitalize(),
            shown=max(shown),
            monopoly=port.monopoly,
            ladders=_drawn(panes["company"], 0.9),
            contested=COMPANIES[contested],
            attacker=ladders[contested][2],
            defender=ladders[contested][0],
        )
    )


def _contracts() -> Html:
    """The kinds of contracts with their points."""
    rows = []
    for kind, contract in enumerate(Ruleset().tables.contracts):
        of = "of one spice, whichever you like" if OF_ONE_SPICE[kind] else "of each of the four spices"
        wax = drawn(seal(0, 0, 17, contract.points), (-18, -18, 36, 36))
        rows.append(tag("li", wax, tag("span", tag("b", contract_words(kind)), f": {AMOUNT[kind]} {of}, ",
                                       f"for {contract.points} points")))  # fmt: skip
    return join(*rows)


def _drawn(pane: Pane, scale: float) -> Html:
    return drawn(pane.content, (pane.left, pane.top, pane.right - pane.left, pane.bottom - pane.top), scale)


@cache
def _example() -> tuple[Scene, dict[str, Pane]]:
    """A position, and the parts of its picture by what is in them: `port 0`, or `company` for the ladders."""
    batch = Batch(1, Ruleset(), seed=EXAMPLE_SEED, finished="hold")
    batch.play_random(EXAMPLE_MOVES)
    panes = Picture.of(batch, seat=SPECTATOR).panes()
    names = ("company", *(f"port {place}" for place in range(3)))
    found = {name: next(pane for pane in panes if f'data-part="{name}' in pane.content) for name in names}
    return Scene(batch.ruleset, batch.games[0], SPECTATOR, "", None), found
