# SPDX-License-Identifier: Apache-2.0
"""usage: reused_code.py LIBRARY: reads frames (tests/benchmark/python_frames.cc) in functions that are dropped, until one has
the address of an earlier one. Its stack must be known when it is met again."""

import ctypes
import sys

library = ctypes.PyDLL(sys.argv[1])
assert library.prepare() == 0
names, dropped = {"met_again": library.met_again}, set()
while True:
    exec("def function():\n  return met_again()", names)
    assert names["function"]() == 1
    if id(names["function"].__code__) in dropped:
        break
    dropped.add(id(names["function"].__code__))
