#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vramtrack.start and vramtrack.stop, in a program that was started without the tracer, and with it."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
import ctypes, os, sys, vramtrack
runtime = ctypes.CDLL(sys.argv[1])
allocate = runtime.cudaMalloc
def calls(count):
    for _ in range(count):
        address = ctypes.c_void_p()
        assert allocate(ctypes.byref(address), ctypes.c_size_t(512)) == 0
        assert runtime.cudaFree(address) == 0
calls(3)
"""
PARTS = """
assert vramtrack.stop() is %(traced)s
vramtrack.step(1)
first = vramtrack.start("traces", stacks="python", max_bytes="1G")
assert vramtrack.start("others") == first and not os.path.exists("others")
%(library)s
calls(5)
vramtrack.step(2)
assert vramtrack.stop() is True
calls(7)
assert vramtrack.stop() is False
second = vramtrack.start("traces")
calls(11)
print(first)
print(second)
"""
# The function was looked up by ctypes before, and is only recorded if it is looked up again.
AGAIN = "runtime = ctypes.CDLL(sys.argv[1] + ''); allocate = runtime.cudaMalloc; runtime.cudaFree"
RUNTIME = os.path.abspath(max(glob.glob("tests/simcuda/libcudart.so.1[23]")))
LIBRARY = os.path.abspath("interpose/libvramtrack.so")
ANALYZER = os.path.abspath("analyzer/vramtrack")


class RecordingTest(unittest.TestCase):
    def run_program(self, program, **environment):
        environment = dict(os.environ, PYTHONPATH=os.path.abspath("python"), PYTHONDONTWRITEBYTECODE="1",
                           VRAMTRACK_LIBRARY=LIBRARY, VRAMTRACK_PROGRAM=ANALYZER, SIMCUDA_BACKED="0",
                           LD_LIBRARY_PATH=os.path.abspath("tests/simcuda"), **environment)
        environment.pop("LD_PRELOAD", None) if "LD_PRELOAD" not in environment else None
        return subprocess.run([sys.executable, "-c", program, RUNTIME], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=120, cwd=self.folder)

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name

    def counts(self, trace):
        dump = subprocess.check_output([ANALYZER, "dump", trace], universal_newlines=True)
        operations = [line.split()[2:3] for line in dump.splitlines()]
        return [operations.count([word]) for word in ("free", "step")]

    def test_parts_of_a_program_without_the_tracer(self):
        ran = self.run_program(PROGRAM + PARTS % {"traced": False, "library": AGAIN})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        first, second = ran.stdout.split()
        self.assertEqual(self.counts(first), [5, 1])
        self.assertEqual(self.counts(second), [11, 0])
        report = json.loads(subprocess.check_output([ANALYZER, "report", first, "--format", "json"]))
        self.assertGreater(report["processes"][0]["joined_after_s"], 0)
        self.assertTrue(report["processes"][0]["complete"])

    def test_parts_of_a_traced_program(self):
        ran = self.run_program(PROGRAM + PARTS % {"traced": True, "library": ""}, LD_PRELOAD=LIBRARY,
                               VRAMTRACK_OUTPUT=os.path.join(self.folder, "whole.vtrace"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(self.counts(os.path.join(self.folder, "whole.vtrace")), [3, 0])
        first, second = ran.stdout.split()
        self.assertEqual(self.counts(first), [5, 1])
        self.assertEqual(self.counts(second), [11, 0])

    def test_dormant_until_started(self):
        ran = self.run_program(PROGRAM + "print(vramtrack.start('traces'))\ncalls(4)\n", LD_PRELOAD=LIBRARY,
                               VRAMTRACK_DORMANT="1", VRAMTRACK_OUTPUT=os.path.join(self.folder, "dormant.vtrace"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(os.path.basename(ran.stdout.strip()), "dormant.vtrace")
        self.assertEqual(self.counts(ran.stdout.strip()), [4, 0])

    def test_dormant_and_never_started(self):
        ran = self.run_program(PROGRAM, LD_PRELOAD=LIBRARY, VRAMTRACK_DORMANT="1",
                               VRAMTRACK_OUTPUT=os.path.join(self.folder, "dormant.vtrace"))
        self.assertEqual((ran.returncode, ran.stderr, os.listdir(self.folder)), (0, "", []))

    def test_dormant_and_killed(self):
        """It leaves a file in which nothing was recorded. Commands that read the folder take the others only."""
        for name, end in (("killed", "os._exit(0)"), ("recorded", "vramtrack.start('.')\ncalls(1)")):
            ran = self.run_program(PROGRAM + end, LD_PRELOAD=LIBRARY, VRAMTRACK_DORMANT="1",
                                   VRAMTRACK_OUTPUT=os.path.join(self.folder, name + ".vtrace"))
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.folder)), ["killed.vtrace", "recorded.vtrace"])
        paths = subprocess.check_output([ANALYZER, "info", "--paths", self.folder], universal_newlines=True)
        self.assertEqual(paths.split(), [os.path.join(self.folder, "recorded.vtrace")])

    def test_says_why_not(self):
        program = "import vramtrack\ntry:\n vramtrack.start('/proc/no')\nexcept vramtrack.VramtrackError as error:\n print(error)"
        ran = self.run_program(program)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("/proc/no: cannot create the folder", ran.stdout)
        program = "import vramtrack\ntry:\n vramtrack.start('t', max_bytes=1)\nexcept vramtrack.VramtrackError as error:\n print(error)"
        ran = self.run_program(program)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("VRAMTRACK_MAX_BYTES=1 is too small", ran.stdout)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
