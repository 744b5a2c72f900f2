# SPDX-License-Identifier: Apache-2.0
"""A signal handler in C allocates wherever the interpreter is."""

import ctypes
import time

from common import helper


class Thing:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return self.n < other.n


def generator(n):
    for i in range(n):
        yield Thing(-i)


def recurse(depth):
    return [x.n for x in sorted(generator(5))] if depth == 0 else recurse(depth - 1)


helper.allocate_in_handler(ctypes.c_long(200), ctypes.c_size_t(600))
end = time.monotonic() + 0.6
while time.monotonic() < end:
    recurse(10)
helper.allocate_in_handler(ctypes.c_long(0), ctypes.c_size_t(600))
