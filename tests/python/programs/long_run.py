# SPDX-License-Identifier: Apache-2.0
"""Keeps a few allocations, each of a function of its own, and goes on for a while."""

import ctypes

from common import allocate, runtime

names = {}
for i in range(20):
    exec("def keep_%d():\n  assert runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), %d) == 0" % (i, 100 + i), globals(), names)
    names["keep_%d" % i]()
for i in range(150000):
    allocate(1000 + i % 7)
