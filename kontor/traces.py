"""Tracebacks of agents as text: where their code was, from their own first line on, without the frames that call it."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from traceback import FrameSummary, StackSummary, TracebackException
from types import CodeType, TracebackType

from kontor.files import on_one_line

AGENT = str(Path(__file__).with_name("agent.py"))
CALLERS = [f"{Path(__file__).parent}{os.sep}", importlib.__file__, "<frozen "]  # parts of paths
OF_AGENT = "_of_agent"  # an attribute of errors that an agent has raised
FIRST_LINES, LAST_LINES, LONGEST_LINE = 10, 30, 200  # of a traceback
LONGEST_TRACE = (FIRST_LINES + LAST_LINES + 1) * (LONGEST_LINE + 1)
A_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)  # as faulthandler writes it


_asking: list[str] = []  # folders whose functions ask agents


def asks_agents(file: str) -> None:
    """Note that the modules beside a file ask agents: tracebacks of agents begin behind their frames."""
    folder = f"{Path(file).parent}{os.sep}"
    if folder not in _asking:
        _asking.append(folder)
        CALLERS.append(folder)


def traceback_of(error: BaseException, folder: str | None = None) -> str:
    """The traceback of an agent's error, with paths from `folder` on; even the words of an error are its code."""
    frames = _own_frames(error.__traceback__)
    if frames is None and error.__cause__:  # an error of ours, because of one of the agent's
        return traceback_of(error.__cause__, folder)
    try:
        told = TracebackException(type(error), error, frames, compact=True)
        lines = told.format() if frames else told.format_exception_only()
        return printable("".join(lines), folder)
    except BaseException:
        return type(error).__name__


def where_it_was(stack: str, folder: str | None = None) -> str:
    """A stack that faulthandler has written, as Python writes one; empty if there is none."""
    frames = [FrameSummary(name, int(line), function) for name, line, function in A_FRAME.findall(stack)][::-1]
    while frames and (_calls(frames[0].filename) or frames[0].filename.startswith("<")):
        del frames[0]
    lines = StackSummary.from_list(frames).format()
    return printable("".join(["It was here (most recent call last):\n", *lines]), folder) if frames else ""


def current_folder() -> str | None:
    """The current folder, if there is one."""
    try:
        return os.getcwd()  # noqa: PTH109  # at every decision of an arena; a Path takes longer
    except OSError:
        return None


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """A traceback from the first frame of an agent on; None if there is none."""
    frame = trace
    while frame:
        if _asks(frame.tb_frame.f_code):  # whoever has called it
            trace = frame.tb_next
        frame = frame.tb_next
    while trace and _calls(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _asks(code: CodeType) -> bool:
    """Whether this is what calls agents: `ask`, or those who have said so."""
    return code.co_filename.startswith(tuple(_asking)) or (code.co_filename, code.co_name) == (AGENT, "ask")


def _calls(file: str) -> bool:
    return any(part in file for part in CALLERS)


def printable(text: str, folder: str | None = None) -> str:
    """Lines that tell a terminal nothing, not too many of them."""
    if folder:
        text = text.replace(f'File "{folder.rstrip(os.sep)}{os.sep}', 'File "')
    lines = [on_one_line(line.expandtabs(), LONGEST_LINE) for line in text.rstrip().split("\n")]
    if len(lines) > FIRST_LINES + LAST_LINES:
        lines = [*lines[:FIRST_LINES], "  ...", *lines[-LAST_LINES:]]
    return "\n".join(lines)
