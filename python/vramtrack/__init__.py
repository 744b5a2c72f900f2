# SPDX-License-Identifier: Apache-2.0
"""The CUDA memory tracer vramtrack, in Python.

`step` tells it where a step ends, in a program that is traced; it does nothing in one that is not:

    import vramtrack

    for number, batch in enumerate(loader):
        train(batch)
        vramtrack.step(number, tokens=batch.numel())

A job need not do this: steps are found without it. It helps where they are not, as in a server. `load` reads what was
recorded, `where` says where the program and its libraries are. What is not used is not imported.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own costs an import
if TYPE_CHECKING:
    from typing import Any

    from ._installation import Installation, where
    from ._program import VramtrackError
    from ._pytest_limits import VramtrackWarning
    from ._trace import Device, Event, Finding, Frame, Process, Site, Steps, TimelineBin, Trace, load

    __version__: str

_PLACES = {
    "Installation": "_installation",
    "where": "_installation",
    "VramtrackError": "_program",
    "VramtrackWarning": "_pytest_limits",
    "Device": "_trace",
    "Event": "_trace",
    "Finding": "_trace",
    "Frame": "_trace",
    "Process": "_trace",
    "Site": "_trace",
    "Steps": "_trace",
    "TimelineBin": "_trace",
    "Trace": "_trace",
    "load": "_trace",
}

__all__ = [
    "Device", "Event", "Finding", "Frame", "Installation", "Process", "Site", "Steps", "TimelineBin", "Trace",
    "VramtrackError", "load", "step", "where",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("vramtrack")
    if name not in _PLACES:
        raise AttributeError("module 'vramtrack' has no attribute %r" % name)
    from importlib import import_module

    value = globals()[name] = getattr(import_module("vramtrack." + _PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__ + ["__version__"]


def _ignore(number: Any, tokens: Any) -> None:
    pass


def _find_step() -> Any:
    # Of the tracer that LD_PRELOAD brought in, if any. PyDLL keeps the interpreter's lock: the call takes less time than
    # giving the lock away.
    import ctypes

    try:
        function = ctypes.PyDLL(None).vramtrack_step
    except (AttributeError, OSError):
        return _ignore
    function.argtypes = [ctypes.c_uint64, ctypes.c_double]
    function.restype = None
    return function


_step: Any = None
_counted: Any = None


def step(number: Any = None, tokens: Any = 0) -> None:
    """Marks the end of step `number`, the program's own count; without one, and with what is no number, steps are counted
    here, from 0 on.

    `tokens` is whatever explains best how much memory the step took, such as its tokens; what is no finite number is 0.
    Any thread may call it, and no call raises. Calls before the process's first CUDA call are kept in memory, the first
    512 and the last 512 of each thread.
    """
    global _step
    if _step is None:
        _step = _find_step()
    if _step is _ignore:
        return
    try:
        value = float(tokens)
        if value - value != 0:
            value = 0.0
    except Exception:
        value = 0.0
    try:
        _step(_next_step() if number is None else number, value)
    except Exception:  # no int
        _step(_whole(number), value)


def _whole(number: Any) -> int:
    try:
        return int(number)
    except Exception:
        return _next_step()


def _next_step() -> int:
    global _counted
    if _counted is None:
        from itertools import count

        _counted = count()
    return next(_counted)  # type: ignore[no-any-return]
