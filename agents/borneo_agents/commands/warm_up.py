"""The command `borneo warm-up`."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer

from borneo_env.console import AsJson, progress_bar, say

FUNCTIONS = 308  # about as many are compiled; for the bar only


def warm_up(
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores by default.", min=1)] = None,
    as_json: AsJson = False,
) -> None:
    """Compile everything now, on all cores, so that no other command has to: once per version, some minutes at most."""
    from borneo_agents.warm_up import compile_all
    from kontor.compile import INTERPRETED
    from kontor.engine.threads import available_cores

    if INTERPRETED:
        raise ValueError("nothing can be compiled while NUMBA_DISABLE_JIT is set: unset it")
    begun, compiled = time.monotonic(), set()
    with progress_bar() as bar:
        task = bar.add_task("compiling rules and bots", total=FUNCTIONS)

        def heard(function: str) -> None:
            compiled.add(function)
            bar.update(task, completed=len(compiled), total=max(FUNCTIONS, len(compiled)))

        compile_all(jobs or available_cores(), heard)
        bar.update(task, completed=FUNCTIONS, total=FUNCTIONS, description="compiled")
    seconds = time.monotonic() - begun
    if as_json:
        print(json.dumps({"functions": len(compiled), "seconds": round(seconds, 1)}))
    else:
        say(f"{len(compiled)} functions compiled in {seconds:.0f} s" if compiled else "all is compiled already")
