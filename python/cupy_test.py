#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blocks of CuPy's pools are in the trace, with a stand-in for CuPy."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

RUNTIME = os.path.abspath(max(glob.glob("tests/simcuda/libcudart.so.1[23]")))

LOOP = """
import sys, vramtrack
assert vramtrack.trace_cupy() and vramtrack.trace_cupy()
from cupy.cuda import Pool
pool, kept = Pool(), []
for number in range(60):
    dropped = pool.malloc(3 << 20)
    kept.append(pool.malloc(1 << 20))
    if sys.argv[1:] == ["clean"]: kept.clear()
    vramtrack.step(number)
"""

# 100 blocks of each size.
THREADS = """
import _thread, threading, time, vramtrack
assert vramtrack.trace_cupy()
from cupy.cuda import Pool
import cupy
pool = Pool()
def give(make, take, size, count=100):
    for _ in range(count):
        blocks = []
        make(lambda: blocks.append(pool.malloc(size)))
        take(blocks.clear)
def here(function): function()
def thread(function):
    other = threading.Thread(target=function)
    other.start()
    other.join()
class Own(threading.Thread):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def run(self): self.function()
def own_thread(function):
    other = Own(function)
    other.start()
    other.join()
def unknown_thread(function):
    done = threading.Event()
    _thread.start_new_thread(lambda: (function(), done.set()), ())
    done.wait()
give(here, here, 512)
give(here, thread, 1024)
give(own_thread, here, 1536)
give(here, unknown_thread, 2048)  # each ends when the next one begins
give(unknown_thread, here, 2560)  # never seen
cupy.cuda.MORE["stream"] = 0
give(here, here, 3072)
cupy.cuda.MORE.clear()
assert pool.malloc(0).address == 0
def fails(size): raise MemoryError
try: Pool(fails).malloc(3584)
except MemoryError: pass
"""

# Memory of another allocator is seen there; blocks that were given out before are freed.
OTHERS = """
import vramtrack
vramtrack.trace_cupy()
from cupy.cuda import Pool, cuda_malloc
pool = Pool()
before = pool.malloc(512)
other = Pool(lambda size: cuda_malloc(2 * size) + size)
block = other.malloc(1024)
del block, before
after = pool.malloc(2048)
"""

UNTRACED = """
import sys, vramtrack
assert vramtrack.trace_cupy() is False
assert "cupy" not in sys.modules
"""


class CuPyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = os.path.join(folder.name, "trace")

    def run_program(self, program, *arguments, traced=True):
        environment = dict(os.environ, PYTHONPATH="python:python/testing/site-packages", PYTHONDONTWRITEBYTECODE="1", SIMCUDA_BACKED="0",
                           LD_LIBRARY_PATH=os.path.abspath("tests/simcuda"), CUDA_RUNTIME=RUNTIME)
        if traced:
            environment.update(LD_PRELOAD=os.path.abspath("interpose/libvramtrack.so"), VRAMTRACK_OUTPUT=self.trace)
        ran = subprocess.run([sys.executable, "-c", program, *arguments], env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))

    def vramtrack(self, *arguments):
        return subprocess.check_output(["analyzer/vramtrack", *arguments], universal_newlines=True)

    def blocks(self):
        """How many blocks of each size were given out and freed."""
        counts, sizes = {}, {}
        for line in self.vramtrack("dump", self.trace).splitlines():
            words = line.split()
            if "framework_block" not in words:
                continue
            operation, size, identity = words[2], words[5], words[7]
            if operation == "allocate":
                sizes[identity] = int(size)
            counts.setdefault(sizes[identity], [0, 0])[operation == "free"] += 1
        return counts

    def test_a_leak_and_its_twin(self):
        for twin, answer in (("leak", "leak"), ("clean", "no_leak")):
            self.run_program(LOOP, twin)
            told = json.loads(self.vramtrack("report", self.trace, "--format", "json"))
            self.assertEqual(told["answer"], answer)
            if twin == "leak":
                (site,) = (site for site in told["sites"] if site["id"] in told["ranking"])
                self.assertEqual(site["rate_bytes_per_step"], 1 << 20)
                self.assertEqual(site["frames"][site["own_frame"]]["line"], 1 + [".append(" in line for line in LOOP.splitlines()].index(True))
            self.assertEqual(told["devices"][0]["unattributed_bytes"], 0)
            os.remove(self.trace)

    def test_threads(self):
        self.run_program(THREADS)
        self.assertEqual(self.blocks(), {512: [100, 100], 1024: [100, 100], 1536: [100, 100], 2048: [100, 99], 3072: [100, 100]})

    def test_memory_of_other_allocators(self):
        self.run_program(OTHERS)
        self.assertEqual(self.blocks(), {512: [1, 1]})

    def test_does_nothing_untraced(self):
        self.run_program(UNTRACED, traced=False)


if __name__ == "__main__":
    unittest.main()
