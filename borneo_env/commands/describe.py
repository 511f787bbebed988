"""Commands that describe what there is: `actions`, `observation`, `agents`, `manual`, `rules` and `pictures`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from borneo_env.console import AsJson, out, print_markdown, with_ruleset
from borneo_env.ruleset import Ruleset
from kontor.files import make_folder, on_one_line


@with_ruleset("edition")
def actions(as_json: AsJson = False, **rules: Any) -> None:
    """Print the action table: every id with its block and its texts."""
    from borneo_env.engine.actions import action_table
    from borneo_env.engine.state import slots_of

    ruleset = Ruleset(**rules)
    table = action_table(slots_of(ruleset))
    rows: list[dict[str, Any]] = [
        {"id": i, "block": table.block_of(i).name, "texts": table.texts(i)} for i in range(len(table))
    ]
    if as_json:
        print(json.dumps(rows))
        return
    blocks = Table("block", "ids", "meaning", title=f"{len(table)} actions of the {ruleset.edition} edition")
    for block in table.blocks:
        blocks.add_row(block.name, f"{block.start} to {block.start + block.size - 1}", block.meaning)
    out.print(blocks)
    for row in rows:
        print(f"{row['id']:4}  {row['block']:9} {' | '.join(row['texts'])}")


@with_ruleset("edition")
def observation(as_json: AsJson = False, **rules: Any) -> None:
    """Print the layout of the observation: every block with its place, shape and meaning."""
    from borneo_env.engine.observe import layout
    from borneo_env.engine.state import slots_of

    blocks = layout(slots_of(Ruleset(**rules)))
    rows = [
        {
            "name": block.name,
            "start": block.slice.start,
            "stop": block.slice.stop,
            "axes": [axis.name for axis in block.axes],
            "shape": list(block.shape),
            "meaning": block.meaning,
        }
        for block in blocks
    ]
    if as_json:
        print(json.dumps(rows))
        return
    table = Table("block", "from", "shape", "meaning", title=f"the {blocks[-1].slice.stop} numbers of an observation")
    for block in blocks:
        shape = " x ".join(f"{len(axis.labels)} {axis.name}" for axis in block.axes) or "1"
        table.add_row(block.name, str(block.slice.start), shape, block.meaning)
    out.print(table)


def agents(
    names: Annotated[
        list[str] | None, typer.Argument(help="Some agents only, or your own: my_bot:MyBot.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the agents: names, ideas, and the arguments they take, which follow their names: ismcts:budget=200."""
    from borneo_env.catalogue import catalogue, entry

    found = [entry(name) for name in names] if names else catalogue()
    if as_json:
        print(json.dumps([asdict(one) for one in found]))
        return
    for one in found:
        _print(one.name, "bold")
        _print(f"  {one.idea}")
        for argument in one.arguments:
            _print(f"  {argument.name}={argument.default}", "cyan", argument.meaning)
    if not names:
        _print("my_bot:MyBot", "bold")
        _print("  Your own: the class MyBot in my_bot.py, in the current folder too.")


def _print(words: str, style: str = "", more: str = "") -> None:
    text = Text(on_one_line(words), style)
    if more:
        text.append(f"  {on_one_line(more)}", "default")
    out.print(text, soft_wrap=True)


def manual(as_json: AsJson = False) -> None:
    """Print the manual of the environments: spaces, actions, observation, rewards, arguments."""
    from borneo_env.manual import manual as written

    if as_json:
        print(json.dumps(written()), end="")
    else:
        print_markdown(written())


def rules(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Such as R4.7, or R4 for a chapter.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the rules of the game: all, or those with the ids given."""
    from borneo_env.rulebook import chapters, find_rules

    found = {name: find_rules(name) for name in ids or chapters()}
    if as_json:
        print(json.dumps({rule: text for some in found.values() for rule, text in some.items()}))
        return
    for some in found.values():
        if len(some) > 1:
            chapter = next(iter(some)).partition(".")[0]
            print(f"{chapter} {chapters()[chapter]}")
        for rule, text in some.items():
            print("\n".join(wrap(f"{rule:<5} {text}", 80, subsequent_indent=" " * 6)))


def pictures(
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the pictures.")] = Path("docs/pictures"),
    as_json: AsJson = False,
) -> None:
    """Draw the example positions of the documents (needs the extra `render`)."""
    from borneo_env.render import make_pictures
    from borneo_env.render.pixels import check_extra

    check_extra()
    make_folder(out_folder)
    drawn = [str(path) for path in make_pictures(out_folder)]
    print(json.dumps(drawn) if as_json else "\n".join(drawn))
