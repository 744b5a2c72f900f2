# SPDX-License-Identifier: Apache-2.0
"""Prints what a tracer would change that makes objects, counts references or lets the collector run."""

import gc
import sys

from common import allocate

runs = [0]
gc.callbacks.append(lambda phase, _: runs.__setitem__(0, runs[0] + 1))
gc.set_threshold(1)


def recurse(depth):
    if depth:
        return recurse(depth - 1)
    before, blocks, counts = runs[0], sys.getallocatedblocks(), counted()
    for size in range(300, 320):
        allocate(size)
    print(runs[0] - before, counts == counted(), counted(), sys.getallocatedblocks() - blocks < 100)


def counted():
    return [sys.getrefcount(o) for o in (recurse.__code__, allocate.__code__, recurse.__name__)]


for depth in 0, 1, 50, 200:
    recurse(depth)
print(gc.get_count()[1:], len(gc.garbage))
