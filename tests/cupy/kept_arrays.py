# SPDX-License-Identifier: Apache-2.0
"""usage: kept_arrays.py [kept | dropped] [untold]

A loop whose arrays have varying sizes. One of each step is kept, or dropped when it ends. "untold": without trace_cupy().
"""
import os
import sys

import cupy
import vramtrack

if "untold" not in sys.argv:
    vramtrack.trace_cupy()
history = []


def step(number):
    x = cupy.empty((256 + number % 5, 1024), cupy.float32)
    y = cupy.empty_like(x)
    history.append(cupy.empty((512, 512), cupy.float32))  # the leak
    del x
    z = cupy.empty(y.shape, cupy.float64)
    del y, z
    if "dropped" in sys.argv:
        history.clear()


for number in range(100):
    step(number)
    vramtrack.step(number)
print("live", cupy.get_default_memory_pool().used_bytes(), cupy.get_default_memory_pool().total_bytes(), flush=True)
os._exit(0)  # no array is freed any more
