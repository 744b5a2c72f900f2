# SPDX-License-Identifier: Apache-2.0
"""vramtrack, the CUDA memory tracer, in Python.

In a traced program, `step` marks where a step ends; in any other program it does nothing:

    import vramtrack

    for number, batch in enumerate(loader):
        train(batch)
        vramtrack.step(number, tokens=batch.numel())

    for batch in vramtrack.steps(loader):                   # the same, marked by the loop itself
        train(batch)

Most jobs need no marks: steps are found without them. Marks help where they are not found, for instance in a server.
After the job, `load` reads the trace, `diff` compares two runs, and `check` judges one:

    trace = vramtrack.load("trace")
    print(trace)
    for leak in trace.leaks:
        print(leak.line, leak.rate)

`start` and `stop` record a part of a program that was started without vramtrack. `trace_cupy` records CuPy's arrays. `holders` asks the tracer which Python objects hold the memory at this moment. `where` names the program and its libraries.
`vramtrack.integrations` has callbacks for trainers, and `%load_ext vramtrack` adds `%%vramtrack` to notebooks. Nothing is imported
before it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own costs an import
if TYPE_CHECKING:
    from typing import Any

    from ._check import Check, CheckedRule, CheckFinding, check
    from ._cupy import trace_cupy
    from ._diff import Change, Diff, diff
    from ._objects import Device, Finding, Frame, Process, Site, Steps, TimelineBin
    from ._program import Installation, VramtrackError, where
    from ._pytest_limits import VramtrackWarning
    from ._recording import start, stop
    from ._steps import steps
    from ._trace import Event, Trace, load

    __version__: str

_PLACES = {
    name: module for module, names in {
        "_check": "Check CheckFinding CheckedRule check",
        "_cupy": "trace_cupy",
        "_diff": "Change Diff diff",
        "_objects": "Device Finding Frame Process Site Steps TimelineBin",
        "_program": "Installation VramtrackError where",
        "_pytest_limits": "VramtrackWarning",
        "_recording": "start stop",
        "_steps": "steps",
        "_trace": "Event Trace load",
    }.items() for name in names.split()
}

__all__ = [
    "Change", "Check", "CheckFinding", "CheckedRule", "Device", "Diff", "Event", "Finding", "Frame", "Installation", "Process",
    "Site", "Steps", "TimelineBin", "Trace", "VramtrackError", "check", "diff", "holders", "load", "start", "step", "steps", "stop",
    "trace_cupy", "where",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("vramtrack")
    return _imported(globals(), _PLACES, name)


def _imported(module: dict[str, Any], places: dict[str, str], name: str) -> Any:
    # What a module of this package offers, imported when it is first asked for.
    if name not in places:
        raise AttributeError("module %r has no attribute %r" % (module["__name__"], name))
    from importlib import import_module

    value = module[name] = getattr(import_module("vramtrack." + places[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__ + ["__version__"]


def _ignore(number: Any, tokens: Any) -> None:
    pass


def _mapped_files() -> list[str]:
    # Of this process, some of them several times.
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            return [columns[5] for columns in (line.rstrip("\n").split(None, 5) for line in maps) if len(columns) == 6]
    except OSError:
        return []


def _loaded_library() -> str | None:
    # The tracer's path if it is in this process.
    return next((path for path in _mapped_files() if path.endswith("/libvramtrack.so")), None)


def _from_tracer(read: Any) -> Any:
    # What `read` finds in the tracer's library; None if that is not in this process.
    for path in (None, _loaded_library()):  # LD_PRELOAD brought it in, or it was loaded later
        try:
            return read(path)
        except (AttributeError, OSError):
            pass
    return None


def _find(name: str) -> Any:
    # A function of the tracer. PyDLL keeps the interpreter's lock: a call takes less time than giving the lock away.
    import ctypes

    return _from_tracer(lambda path: getattr(ctypes.PyDLL(path), name))


def _find_step() -> Any:
    function = _find("vramtrack_step")
    if function is None:
        return _ignore
    import ctypes

    function.argtypes = [ctypes.c_uint64, ctypes.c_double]
    function.restype = None
    return function


_step: Any = None
_counted: Any = None


def step(number: Any = None, tokens: Any = 0) -> None:
    """Marks the end of a step in a traced program, and does nothing in any other. Any thread may call it. It never raises.

    Args:
        number: The program's own count. Without one, or if it is not a number, steps are counted here, from 0.
        tokens: What explains best how much memory the step needed, such as its tokens. Anything but a finite number is 0.

    Calls before the first CUDA call of the process are kept in memory: the first 512 and the last 512 of each thread.
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


def holders() -> bool:
    """Asks the tracer to find which Python objects hold the memory of this process, at the next occasion. The answer is written
    to the trace, and reports show it. Any thread may call it. It never raises.

    Returns:
        Whether a walk through the objects was scheduled. False in a program that is not traced, without VRAMTRACK_HOLDERS
        (`vramtrack run --holders`), and before PyTorch has allocated memory on a device.
    """
    function = _find("vramtrack_holders")
    return bool(function is not None and function() == 1)


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext vramtrack`: adds the magics `%vramtrack` and `%%vramtrack`."""
    from ._notebook import register

    register(ipython)
