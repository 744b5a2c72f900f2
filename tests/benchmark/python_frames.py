# SPDX-License-Identifier: Apache-2.0
"""usage: python_frames.py LIBRARY DEPTH. One JSON line: nanoseconds for all frames, by several ways."""

import ctypes
import json
import sys
import time
import traceback

library = ctypes.PyDLL(sys.argv[1])  # keeps the lock, which frame objects need
for name in "read_frames", "take", "by_frame_objects":
    getattr(library, name).argtypes = [ctypes.c_long]
    getattr(library, name).restype = ctypes.c_double
assert library.prepare() == 0


def by_getframe():
    frames, frame = [], sys._getframe()
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return frames


def timed(function, times):
    start = time.perf_counter_ns()
    for _ in range(times):
        function()
    return (time.perf_counter_ns() - start) / times


# As many functions as levels, as in a program.
names = {}
for level in range(int(sys.argv[2])):
    exec("def level_%d(d): return measure() if d <= 0 else names['level_%d'](d - 1)" % (level, level + 1), globals(), names)


def measure():
    rounds = {"read_frames": [], "take": [], "by_frame_objects": [], "sys_getframe": [], "extract_stack": []}
    for _ in range(15):
        for name in "read_frames", "take", "by_frame_objects":
            rounds[name].append(getattr(library, name)(5000 if name != "by_frame_objects" else 2000))
        rounds["sys_getframe"].append(timed(by_getframe, 200))
    rounds["extract_stack"].append(timed(traceback.extract_stack, 20))
    out = {name: min(ns) for name, ns in rounds.items()}
    out["frames"], out["python"] = library.frame_count(), sys.version.split()[0]
    print(json.dumps(out))


names["level_0"](int(sys.argv[2]) - 1)
