# SPDX-License-Identifier: Apache-2.0
"""Switching recording on and off from inside the process."""

from __future__ import annotations

import os
from typing import Any

from . import _loaded_library
from ._program import Path, VramtrackError, output_pattern, where

_NOT_POSSIBLE = 2
_MESSAGE_BYTES = 8192


def _library() -> Any:
    """The tracer in this process, which is loaded if it is not there yet."""
    import ctypes

    path = _loaded_library() or where().library
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise VramtrackError("cannot load %s: %s" % (path, error)) from None


def _new_folder() -> str:
    import time

    name = "vramtrack." + time.strftime("%Y%m%d-%H%M%S")
    for number in range(100):
        path = name if number == 0 else "%s.%d" % (name, number)
        if not os.path.exists(path):
            return path
    return name


def _options(output: str, stacks: str | None, max_frames: int | None, max_bytes: str | int | None) -> str:
    given = {"OUTPUT": output_pattern(output), "STACKS": stacks, "MAX_FRAMES": max_frames, "MAX_BYTES": max_bytes}
    lines = ["VRAMTRACK_%s=%s" % (name, value) for name, value in given.items() if value is not None]
    if any("\n" in line for line in lines):
        raise VramtrackError("an option has a line break")
    return "".join(line + "\n" for line in lines)


def start(output: Path | None = None, *, stacks: str | None = None, max_frames: int | None = None,
          max_bytes: str | int | None = None) -> str:
    """Records the CUDA allocations of this process from now on. The tracer is loaded if the process was started without it.

    What was allocated before is unknown to the trace. After `stop`, a new trace begins. If the process is recorded already,
    nothing changes.

    Args:
        output: The folder for the traces, which is made. By default a new folder `vramtrack.TIME`.
        stacks: "native", "python", "native,python" or "none".
        max_frames: How many frames of a stack are recorded, 1 to 256.
        max_bytes: The largest trace, in bytes or as "500M" or "2G".

    Returns:
        The path of the trace.

    Raises:
        VramtrackError: Recording is not possible.
    """
    import ctypes

    library = _library()
    folder = os.fspath(output) if output is not None else _new_folder()
    made = not os.path.isdir(folder)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise VramtrackError("%s: cannot create the folder: %s" % (folder, error.strerror)) from None
    message = ctypes.create_string_buffer(_MESSAGE_BYTES)
    library.vramtrack_start.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.vramtrack_start.restype = ctypes.c_int
    result = library.vramtrack_start(os.fsencode(_options(folder, stacks, max_frames, max_bytes)), message, _MESSAGE_BYTES)
    text = os.fsdecode(message.value)
    if made and not os.listdir(folder):
        os.rmdir(folder)
    if result == _NOT_POSSIBLE:
        raise VramtrackError(text)
    import vramtrack

    vramtrack._step = None  # it may have been looked for before
    return text


def stop() -> bool:
    """Stops recording this process and completes its trace, whose path `start` has returned.

    Returns:
        Whether something was recorded. False in a program that is not traced.
    """
    if _loaded_library() is None:
        return False
    return bool(_library().vramtrack_stop())
