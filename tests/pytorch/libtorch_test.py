# SPDX-License-Identifier: Apache-2.0
"""A C++ training program, built from the headers and libraries of the wheel: its counters, and its leak at its line."""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import torch

import leaks_test
import trace_events
import under_test

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.join(HERE, "libtorch_training.cc")
TORCH = os.path.dirname(torch.__file__)
STEPS = "60"


def cuda_headers():
    for folder in (os.environ.get("CUDA_HOME", ""), os.path.join(under_test.ROOT, ".deps", "cuda"), "/usr/local/cuda"):
        if os.path.exists(os.path.join(folder, "include", "cuda_runtime_api.h")):
            return os.path.join(folder, "include")
    return None


def build():
    """The program's path. Compiling takes half a minute, so what was built is kept in .deps."""
    include, library = os.path.join(TORCH, "include"), os.path.join(TORCH, "lib")
    arguments = ["-std=c++20", "-g", "-isystem", include, "-isystem", os.path.join(include, "torch/csrc/api/include"),
                 "-isystem", cuda_headers(), SOURCE, "-L" + library, "-Wl,--no-as-needed", "-ltorch_cuda", "-ltorch_cpu",
                 "-lc10_cuda", "-lc10", "-Wl,-rpath," + library, "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    with open(SOURCE, "rb") as source:
        key = hashlib.sha256(source.read() + repr([torch.__version__, arguments]).encode()).hexdigest()[:16]
    folder = os.path.join(under_test.ROOT, ".deps", "libtorch")
    program = os.path.join(folder, "training-" + key)
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        for old in glob.glob(os.path.join(folder, "training-*")):
            os.remove(old)
        subprocess.run(["g++", *arguments, "-o", program + ".new"], check=True, timeout=300)
        os.rename(program + ".new", program)
    return program


@unittest.skipIf(cuda_headers() is None, "no CUDA headers: tools/setup installs some")
class LibTorchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = build()

    def run_program(self, *arguments, **environment):
        ran = subprocess.run([self.program, STEPS, *arguments], env=dict(os.environ, SIMCUDA_BACKED="0", **environment),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def traced(self, folder, *arguments):
        trace = os.path.join(folder, "trace")
        return trace, self.run_program(*arguments, LD_PRELOAD=under_test.preloaded(os.environ), VRAMTRACK_OUTPUT=trace)

    def test_counts_what_the_allocator_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, printed = self.traced(folder)
            self.assertEqual(printed, self.run_program())
            counts = [int(word) for word in re.findall(r"\d+", printed)]
            replay = trace_events.Replay()
            live = None
            for event in trace_events.read(trace):
                replay.add(event)
                # The program prints its counters before its tensors are given back.
                blocks = replay.sums["framework_block", "0"]
                if (blocks.allocated, blocks.freed) == tuple(counts[:2]):
                    live = blocks.live_bytes
            self.assertEqual([blocks.allocated, live], [counts[0], counts[2]])
            self.assertEqual(replay.sums["segment", "0"].allocated, counts[3])

    def test_leak_is_at_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, printed = self.traced(folder, "leaky")
            report = json.loads(subprocess.check_output([under_test.VRAMTRACK, "report", "--format", "json", trace]))
            sites = {site["id"]: site for site in report["sites"]}
            self.assertEqual(len(report["ranking"]), 1)
            leak = sites[report["ranking"][0]]
            self.assertEqual(leaks_test.line_in(SOURCE, leak), leaks_test.marked_lines(SOURCE)["output"])
            self.assertEqual(leak["rate_bytes_per_step"], int(printed.split()[-1]))

    def test_no_leak_without_it(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, _ = self.traced(folder)
            report = json.loads(subprocess.check_output([under_test.VRAMTRACK, "report", "--format", "json", trace]))
            self.assertEqual(report["ranking"], [])
            self.assertEqual(report["verdict_counts"].get("insufficient_evidence", 0), 0)


if __name__ == "__main__":
    unittest.main()
