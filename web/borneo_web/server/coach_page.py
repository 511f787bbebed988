"""The coach on the page of a seat: what it would do and why, how sure it is, and what it fears."""

from __future__ import annotations

from borneo_agents.policy.threats import PLAYOUTS, Threat

from borneo_web.server.coach import Advice, Answer
from borneo_web.server.html import Html, join, tag
from borneo_web.server.live_game import LiveGame
from borneo_web.server.words import sentence, told

HAS = {  # what somebody has more of after a choice, and less of
    "contracts": ("{:.1f} contracts more", "{:.1f} contracts fewer"),
    "points": ("{:.1f} points more", "{:.1f} points fewer"),
    "rivals": ("the best of the others {:.1f} points more", "the best of the others {:.1f} points fewer"),
    "first": ("{:.1f} more traders on rank 1", "{:.1f} fewer traders on rank 1"),
    "spices": ("{:.1f} more spices to pay with", "{:.1f} fewer spices to pay with"),
}


def coach_section(table: LiveGame, seat: int, address: str, advice: Advice | str | None) -> Html:
    """A button that asks the coach about what is chosen, or what it has answered, or why it has not."""
    if advice is None:
        return tag("p", _ask("Ask the coach", address), class_="coach")
    if isinstance(advice, str):
        return tag("div", tag("p", advice, class_="problem", role="alert"), tag("p", _ask("Ask again", address)),
                   class_="coach")  # fmt: skip
    answers = [_answer(table, seat, advice, number) for number in range(len(advice.answers))]
    return tag(
        "section",
        tag("h2", "The coach"),
        tag("p", f"The agent “{advice.coach}” would do this in your place."),
        tag("ol", *answers),
        tag("details", tag("summary", "What the figures mean"), *(tag("p", words) for words in _meaning(advice)),
            class_="meaning"),
        tag("p", _ask("Compare my choice", address)),
        class_="coach",
    )  # fmt: skip


def _ask(words: str, address: str) -> Html:
    """A button of the form of choices, so that the coach is told what is chosen."""
    return tag("button", words, form="choose", formaction=address, formmethod="get", formnovalidate=True, name="coach",
               value="yes", data_swap=True)  # fmt: skip


def _answer(table: LiveGame, seat: int, advice: Advice, number: int) -> Html:
    answer = advice.answers[number]
    words = sentence(table, seat, table.question(seat).words(answer.actions))
    chosen = number == advice.chosen
    figures = [f"{answer.win:.0%} to win"] if answer.win is not None else []
    figures += [f"plays it with {answer.sure:.0%}"] if answer.sure is not None else []
    return tag(
        "li",
        tag("span", words, class_="what"),
        tag("b", "Your choice", class_="yours") if chosen else None,
        tag("span", " · ".join(figures), class_="figure-of") if figures else None,
        tag("p", _why(answer, number, advice), class_="why") if answer.win is not None else None,
        tag("p", _fear(table, seat, answer.fear), class_="fear") if answer.fear else None,
        class_="chosen" if chosen else None,
    )


def _why(answer: Answer, number: int, advice: Advice) -> Html | None:
    """What it brings by the next turn beside the best, or the best beside the second."""
    if number == 0 and len(advice.answers) == 1:
        return join("There is nothing to compare it with.")
    beside = "the first" if number else "the second"
    told = [HAS[what][more < 0].format(abs(more)) for what, more in answer.gains]
    gains = f"by your next turn you have {_listed(told)} than with {beside}" if told else ""
    if number == 0:
        return join(tag("i", "Why: "), f"{gains}." if gains else "by your next turn you have much the same as with the "
                    "second; it is about what comes later.")  # fmt: skip
    if answer.behind is None or abs(answer.behind) < 0.005:
        cost = "as good as the first, as far as it can see"
    elif answer.behind > 0:
        cost = f"wins {100 * answer.behind:.0f} games in 100 fewer than the first"
    else:
        cost = f"wins {-100 * answer.behind:.0f} games in 100 more by its next turn; its search looked further"
    return join(tag("i", "Beside the first: "), f"{cost}{'; ' if gains else ''}{gains}.")


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _fear(table: LiveGame, seat: int, fear: Threat) -> Html:
    """What could happen, what it would cost, and how often it does."""
    often = f"happens in {fear.frequency:.0%} of the games it imagines"
    return join(
        tag("i", "It fears: "),
        told(table, seat, fear.event),
        f". That costs you {fear.cost:.2f} of a win, and {often}.",
    )


def _meaning(advice: Advice) -> list[str]:
    """What the figures mean, and what is missing."""
    if not advice.options:
        return ["It was not trained for this game: it does not say why, how sure it is, or what it fears."]
    told = [
        f"“Plays it with”: how probable it is that the policy would do this, after its search. All your "
        f"{advice.options} options together have 100 %."
        if advice.options > 1
        else "You have one option only, so it has 100 %."
    ]
    if advice.answers[0].win is None:
        return [*told, "It cannot value a table, so it does not say why, or what it fears."]
    told += [
        f"“To win” and the reasons: it imagines {PLAYOUTS} games that fit what you know and plays on for everybody, up "
        "to your next turn. There it values the table as if it played on for you: about how many of 100 such games you "
        "would win, with a little for a lead in points. The same games are imagined for each option, and only what "
        "chance does not explain is told.",
        "“It fears”: what something costs is how much less those games are worth in which it happens than the others."
        if any(answer.fear for answer in advice.answers)
        else "It fears nothing in particular that others may do before your next turn.",
    ]
    return told
