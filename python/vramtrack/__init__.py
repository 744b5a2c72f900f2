# SPDX-License-Identifier: Apache-2.0
"""Tells vramtrack where a step ends, in a program that is traced; does nothing in one that is not.

    import vramtrack

    for number, batch in enumerate(loader):
        train(batch)
        vramtrack.step(number, tokens=batch.numel())

A job need not do this: steps are found without it. It helps where they are not, as in a server.
"""

import ctypes

__all__ = ["step"]


def _find_step():
    # Of the tracer that LD_PRELOAD brought in, if any. PyDLL keeps the interpreter's lock: the call takes less time than
    # giving the lock away.
    try:
        function = ctypes.PyDLL(None).vramtrack_step
    except (AttributeError, OSError):
        return None
    function.argtypes = [ctypes.c_uint64, ctypes.c_double]
    function.restype = None
    return function


_step = _find_step()


def step(number: int, tokens: float = 0) -> None:
    """Marks the end of step `number`, the program's own count.

    `tokens` is whatever explains best how much memory the step took, such as its tokens. Any thread may call it. Ignored
    until the process has made its first CUDA call.
    """
    if _step is not None:
        _step(number, tokens)
