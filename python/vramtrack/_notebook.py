# SPDX-License-Identifier: Apache-2.0
"""The magics `%vramtrack` and `%%vramtrack` of IPython: `%load_ext vramtrack`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _find_step, _ignore, _mapped_files, step
from ._program import VramtrackError

if TYPE_CHECKING:
    from ._trace import Trace

_USAGE = """usage: %%vramtrack [--no-step] [--no-report]   as the first line of a cell: run it, mark a step, show the report so far
       trace = %vramtrack                       the trace of this kernel so far"""
_UNTRACED = """This kernel is not traced: nothing was recorded. To trace one, install its kernelspec, then choose the kernel
"Python (vramtrack)" in the notebook:

    python -m vramtrack.kernel install --user"""
_NO_TRACE = "This kernel is traced, but has not used CUDA yet: there is no trace."


def own_trace() -> str | None:
    """The trace that this process writes; `None` if it writes none, or has not made a CUDA call yet."""
    return next((path for path in _mapped_files() if ".vtrace" in os.path.basename(path) and os.path.isfile(path)), None)


def register(ipython: Any) -> None:
    def vramtrack(line: str, cell: str | None = None) -> Trace | None:
        return run(ipython, line, cell)

    vramtrack.__doc__ = _USAGE
    ipython.register_magic_function(vramtrack, "line_cell", "vramtrack")


def run(ipython: Any, line: str, cell: str | None) -> Trace | None:
    """Runs a cell, marks it as a step, and displays what the trace of this kernel says by then. Without a cell, returns that."""
    options = line.split()
    unknown = [option for option in options if cell is None or option not in ("--no-step", "--no-report")]
    if unknown:
        print("unknown option %s\n%s" % (unknown[0], _USAGE))
        return None
    if cell is None:
        return report()
    # Lines are counted as the notebook shows them: the magic is line 1. Only another cell magic must come first.
    first = "" if cell.lstrip().startswith("%%") else "# %%vramtrack\n"
    # A semicolon at the end keeps a result out of `Out`, which would hold its tensor. IPython looks for it after the magic.
    last = cell.rstrip().rsplit("\n", 1)[-1]
    if not _run_cell(ipython, first + cell + ("\nNone\n" if last.endswith(";") and "#" not in last else "")):
        return None
    if "--no-step" not in options:
        step()
    if "--no-report" not in options:
        trace = report()
        if trace is not None:
            from importlib import import_module

            import_module("IPython.display").display(trace)
    return None


def _run_cell(ipython: Any, cell: str) -> bool:
    """Runs a cell under the number of the cell that has the magic; IPython 9 counts on before it runs one."""
    count = ipython.execution_count
    number = getattr(ipython, "history_manager", None) and len(ipython.history_manager.input_hist_parsed) - 1
    try:
        ipython.execution_count = number or count
        return bool(ipython.run_cell(cell, store_history=False).success)
    finally:
        ipython.execution_count = count


def report() -> Trace | None:
    """The trace of this kernel up to now; `None`, and a line that says why, if there is none."""
    if _find_step() is _ignore:
        print(_UNTRACED)
        return None
    path = own_trace()
    if path is None:
        print(_NO_TRACE)
        return None
    from ._trace import load

    try:
        return load(path)
    except VramtrackError as error:
        print("vramtrack: %s" % error)
        return None
