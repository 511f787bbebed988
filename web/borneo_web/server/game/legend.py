"""The signs of the table and what they mean, for those who see the game for the first time."""

from __future__ import annotations

from functools import cache

from borneo_env.cards import COMPANIES
from borneo_env.render.cards import HEIGHT, WIDTH, face
from borneo_env.render.legend import EXAMPLE, signs
from borneo_env.render.pen import STYLE, use
from borneo_web.server.html import Html, join, tag

ROW = 30  # the height of a sign
MEANINGS = {  # in full, what the legend of a picture has no room to say
    "a port, its spice at the right": "A port. The spice beside its name is what it pays in a warehouse.",
    "cargo cards there, of at most": "3/4: three cargo cards lie there, of at most four. A full port is given out.",
    "flags, of those for a monopoly": "4/6: four flags of the company are visible there, of the six for a monopoly.",
    "a covered card with its spice": "A card at a port that the next one covers: its number and spice; 2 is a double.",
    "a cargo card: pays one": "A cargo card in a warehouse, which pays one of its spice.",
    "a double: pays two": "A double, which pays two, and is one point at the end like every card.",
    "a port: pays one": "A port, which pays one of its spice.",
    "what all of a row pay": "How much all things of a row can pay.",
    "any of them": "chest: pays as one of any spice",
    "a trader of player 2": "A trader of player 2. Rank 1, at the top, chooses first.",
    "attacks and defends": "A trader who attacks, and one who defends.",
    "chooses a cargo card": "A trader whose player chooses a cargo card now.",
    "a contract and its points": "A contract and its points. Beside it stands how many are left.",
    "this player decides": "The player with this frame decides now.",
}


@cache
def legend(blackbeard: bool) -> Html:
    """What the signs of the table mean, folded up. The page has the symbols that it refers to."""
    groups = [
        join(
            tag("h3", kind.title.capitalize()),
            tag("dl", *(_entry(sign, kind.width, words) for sign, words in kind.entries)),
        )
        for kind in signs(blackbeard)
    ]
    return tag(
        "details",
        tag("summary", "What the signs mean"),
        tag("style", Html(STYLE)),
        tag("h3", "A cargo card"),
        cargo_card(),
        tag("h3", "Flags of the companies"),
        tag("dl", *(_entry(use(company, -11, -9), 24, company) for company in COMPANIES)),
        *groups,
        tag("p", tag("a", "How a turn goes", href="/rules", target="borneo-rules")),
        class_="legend",
    )


def cargo_card() -> Html:
    """A cargo card, and what is on it."""
    return tag(
        "div",
        drawn(face(17, EXAMPLE), (-2, -2, WIDTH + 5, HEIGHT + 6), 1.3),
        tag(
            "ul",
            tag("li", "Three flags above and one below, of the companies that it speaks for. At a port, the next card "
                      "covers the one below."),
            tag("li", "17 is its number: it only tells cards apart."),
            tag("li", "Its spice, here cloves. The 2 marks a double, which pays two; other cards pay one."),
        ),
        class_="figure",
    )  # fmt: skip


def drawn(content: str, box: tuple[float, float, float, float], scale: float = 1.0, label: str | None = None) -> Html:
    """A part of a picture by itself: left, top, width and height. Without a label it only repeats what is said."""
    left, top, width, height = box
    spoken = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    return tag("svg", Html(content), viewBox=f"{left:.0f} {top:.0f} {width:.0f} {height:.0f}",
               width=f"{scale * width:.0f}", height=f"{scale * height:.0f}", class_="drawn", **spoken)  # fmt: skip


def _entry(sign: str, width: float, words: str) -> Html:
    shown = drawn(sign, (-width / 2 - 4, -ROW / 2, width + 8, ROW))
    return tag("div", tag("dt", shown), tag("dd", MEANINGS.get(words, words)))
