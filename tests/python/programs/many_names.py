# SPDX-License-Identifier: Apache-2.0
"""Keeps something, by one line, before and after it has called 30,000 functions, each of a name of its own."""

import ctypes

from common import allocate, runtime


def keep():
    assert runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), 77) == 0


names = {"allocate": allocate}
for count in [0] * 20 + [30000] + [0] * 20:
    keep()
    for i in range(count):
        exec("def generated_%d():\n  allocate(1000)\ngenerated_%d()" % (i, i), names)
