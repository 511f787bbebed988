"""The coach on the page of a seat: what it would do, how sure it is, and what it fears."""

from __future__ import annotations

from borneo_agents.policy.fears import PLAYOUTS, Fear

from borneo_web.server.coach import Advice
from borneo_web.server.html import Html, join, tag
from borneo_web.server.table import Table
from borneo_web.server.words import sentence


def coach_section(table: Table, seat: int, address: str, advice: Advice | None) -> Html:
    """A link that asks the coach, or what it has answered."""
    if advice is None:
        return tag(
            "p", tag("a", "Ask the coach", href=f"{address}?coach", class_="ask", data_swap=True), class_="coach"
        )
    asked, ruleset = table.question(seat), table.game.batch.ruleset
    rows = []
    for actions, sure, fear in advice.answers:
        words = sentence(ruleset, table.words(seat, asked.words(actions)))
        told = tag("p", _fear(table, seat, fear), class_="fear") if fear else None
        rows.append(tag("li", tag("b", f"{sure:.0%}") if sure is not None else None, tag("span", words), told))
    return tag(
        "section",
        tag("h2", "The coach"),
        tag("p", f"The agent “{advice.coach}” would do this in your place."),
        tag("ol", *rows),
        tag("p", _how_sure(advice), class_="hint"),
        class_="coach",
    )


def _fear(table: Table, seat: int, fear: Fear) -> Html:
    """What could happen, what it would cost, and how often it does."""
    deed = table.words(seat, fear.deed)
    words = (
        f"{deed}. That costs you {fear.cost:.2f} of a win, and happens in {fear.often:.0%} of the games it imagines."
    )
    return join(tag("i", "It fears: "), words)


def _how_sure(advice: Advice) -> str:
    """What the figures mean, and what is missing."""
    if advice.answers[0].sure is None:
        return "It does not say how sure it is, or what it fears."
    if not any(answer.fear for answer in advice.answers):
        return "It fears nothing in particular that others may do before your next turn."
    return (
        f"It imagines {PLAYOUTS} games that fit what you know and plays on for everybody, up to your next turn. What "
        "something costs is how much less those are worth in which it happens than the others."
    )
