"""The coach on the page of a seat: what it would do and why, how sure it is, and what it fears."""

from __future__ import annotations

from borneo_agents.policy.threats import PLAYOUTS, Threat

from borneo_web.server.coach import Advice, Answer
from borneo_web.server.game.words import phrase, sentence
from borneo_web.server.html import Html, join, tag
from borneo_web.server.live_game import LiveGame
from borneo_web.server.page import problem

GAINS = {  # what somebody has more of after a choice, or fewer
    "contracts": "{:.1f} contracts {}",
    "points": "{:.1f} points {}",
    "rivals": "the best of the others {:.1f} points {}",
    "first": "{:.1f} {} traders on rank 1",
    "spices": "{:.1f} {} spices to pay with",
}
UNTRAINED = "It was not trained for this game: it does not say why, how sure it is, or what it fears."
SURE = (
    "“Plays it with”: how probable it is that the policy would do this, after its search. All your {} options together "
    "have 100 %."
)
NO_VALUES = "It cannot value a table, so it does not say why, or what it fears."
WINS = (
    f"“To win” and the reasons: it imagines {PLAYOUTS} games that fit what you know and plays on for everybody, up to "
    "your next turn. There it values the table as if it played on for you: about how many of 100 such games you would "
    "win, with a little for a lead in points. The same games are imagined for each option, and only what chance does "
    "not explain is told."
)
FEARS = "“It fears”: what something costs is how much less those games are worth in which it happens than the others."
NO_FEARS = "It fears nothing in particular that others may do before your next turn."


def coach_section(table: LiveGame, seat: int, address: str, advice: Advice | str | None) -> Html:
    """A button that asks the coach about what is chosen, or what it has answered, or why it has not."""
    if advice is None:
        return tag("p", _ask("Ask the coach", address), class_="coach")
    if isinstance(advice, str):
        return tag("div", problem(advice), tag("p", _ask("Ask again", address)), class_="coach")
    meaning = (tag("p", words) for words in _meaning(advice))
    return tag(
        "section",
        tag("h2", "The coach"),
        tag("p", f"The agent “{advice.coach}” would do this in your place."),
        tag("ol", *(_answer(table, seat, advice, number) for number in range(len(advice.answers)))),
        tag("details", tag("summary", "What the figures mean"), *meaning, class_="meaning"),
        tag("p", _ask("Compare my choice", address)),
        class_="coach",
    )


def _ask(words: str, address: str) -> Html:
    """A button of the form of choices, so that the coach is told what is chosen."""
    return tag("button", words, form="choose", formaction=address, formmethod="get", formnovalidate=True, name="coach",
               value="yes", data_swap=True)  # fmt: skip


def _answer(table: LiveGame, seat: int, advice: Advice, number: int) -> Html:
    answer, chosen = advice.answers[number], number == advice.chosen
    figures = [f"{answer.win:.0%} to win"] if answer.win is not None else []
    figures += [f"plays it with {answer.sure:.0%}"] if answer.sure is not None else []
    return tag(
        "li",
        tag("span", sentence(table, seat, table.question(seat).words(answer.actions)), class_="what"),
        tag("b", "Your choice", class_="yours") if chosen else None,
        tag("span", " · ".join(figures), class_="figure-of") if figures else None,
        tag("p", _why(answer, number, len(advice.answers) == 1), class_="why") if answer.win is not None else None,
        tag("p", _fear(table, seat, answer.fear), class_="fear") if answer.fear else None,
        class_="chosen" if chosen else None,
    )


def _why(answer: Answer, number: int, alone: bool) -> Html:
    """What it brings by the next turn beside the best, or the best beside the second."""
    if alone:
        return join("There is nothing to compare it with.")
    other = "the first" if number else "the second"
    *most, last = [GAINS[what].format(abs(more), "fewer" if more < 0 else "more") for what, more in answer.gains] or [
        ""
    ]
    listed = f"{', '.join(most)} and {last}" if most else last
    gains = f"by your next turn you have {listed} than with {other}" if listed else ""
    if number:
        return join(tag("i", "Beside the first: "), _cost(answer.behind or 0), "; " if gains else "", gains, ".")
    later = "by your next turn you have much the same as with the second; it is about what comes later"
    return join(tag("i", "Why: "), gains or later, ".")


def _cost(behind: float) -> str:
    games = f"{100 * abs(behind):.0f} games in 100"
    if abs(behind) < 0.005:
        return "as good as the first, as far as it can see"
    return f"wins {games} fewer than the first" if behind > 0 else f"wins {games} more; its search looked further"


def _fear(table: LiveGame, seat: int, fear: Threat) -> Html:
    """What could happen, what it would cost, and how often it does."""
    often = f"happens in {fear.frequency:.0%} of the games it imagines"
    cost = f". That costs you {fear.cost:.2f} of a win, and {often}."
    return join(tag("i", "It fears: "), phrase(table, seat, fear.event), cost)


def _meaning(advice: Advice) -> list[str]:
    """What the figures mean, and what is missing."""
    if not advice.options:
        return [UNTRAINED]
    sure = SURE.format(advice.options) if advice.options > 1 else "You have one option only, so it has 100 %."
    if advice.answers[0].win is None:
        return [sure, NO_VALUES]
    return [sure, WINS, FEARS if any(answer.fear for answer in advice.answers) else NO_FEARS]
