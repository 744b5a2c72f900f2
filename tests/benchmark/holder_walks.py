# SPDX-License-Identifier: Apache-2.0
"""usage: holder_walks.py OBJECTS: times walks over the objects of this process, as JSON.

Beside it what else goes over all of them: the interpreter's collector, and a walk in Python by gc.get_referents.
"""
import ctypes
import gc
import json
import sys
import time

import torch


class Item:
    def __init__(self, number):
        self.numbers, self.names = [number], {"number": number}


def timed(function, times):
    """The least processor time and the least time of the clock, in ms."""
    used, passed = [], []
    for _ in range(times):
        start, cpu = time.perf_counter(), time.thread_time()
        function()
        used.append(1e3 * (time.thread_time() - cpu))
        passed.append(1e3 * (time.perf_counter() - start))
    return min(used), min(passed)


def main():
    kept = [torch.ones(16, device="cuda")]
    gc.collect()
    objects = len(gc.get_objects())
    items = [Item(i) for i in range(max(0, int(sys.argv[1]) - objects) // 3)]
    library = ctypes.PyDLL(None)

    def walk():
        assert library.vramtrack_holders() == 1
        for _ in range(100):  # it comes between these
            pass

    def by_referents():
        seen, waiting = set(), [sys.modules]
        while waiting:
            reached = [o for o in gc.get_referents(*waiting) if gc.is_tracked(o) and id(o) not in seen]
            seen.update(map(id, reached))
            waiting = reached

    results = {"objects": len(gc.get_objects()), "walk": timed(walk, 7), "collector": timed(gc.collect, 7),
               "python": timed(by_referents, 2)}
    assert items and kept
    print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
