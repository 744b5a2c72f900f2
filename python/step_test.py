#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The module marks steps in a traced program and is silent in any other."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
import ctypes, sys, vramtrack
vramtrack.step(1)
runtime = ctypes.CDLL(sys.argv[1])
address = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(512)) == 0
vramtrack.step(2)
vramtrack.step(3, tokens=1024)
vramtrack.step(number=2**63, tokens=0.5)
class Broken:
    def __int__(self): raise OSError("no number")
    __float__ = __index__ = __int__
class Whole:
    def __index__(self): return 7
    def __int__(self): return 7
    def __float__(self): return 2.5
for number in (3.0, 4.9, "5", -1, 2**70 + 6, True, Whole(), Broken(), "six", b"", None, [], float("nan"), float("inf")):
    vramtrack.step(number)
for tokens in (1, 2.5, "3", Whole(), Broken(), "many", None, [], float("nan"), float("-inf"), 10**400, 1j):
    vramtrack.step(100, tokens)
vramtrack.step()
vramtrack.step(tokens=9)
loop = vramtrack.steps([[1, 2], [3], [], None], tokens=len)  # None has no length
assert len(loop) == 4
assert [batch for batch in loop] == [[1, 2], [3], [], None]
for batch in vramtrack.steps(range(5)):
    if batch == 1:
        break
with vramtrack.steps(iter("abc"), tokens=ord) as batches:
    for batch in batches:
        if batch == "b":
            break
try:
    with vramtrack.steps("ab", tokens=ord) as batches:
        for batch in batches:
            raise OSError("the job's own")
except OSError:
    print("on")
"""
RUNTIME = os.path.abspath(max(glob.glob("tests/simcuda/libcudart.so.1[23]")))


class StepTest(unittest.TestCase):
    def run_program(self, **environment):
        environment = dict(os.environ, PYTHONPATH="python", PYTHONDONTWRITEBYTECODE="1", SIMCUDA_BACKED="0",
                           LD_LIBRARY_PATH=os.path.abspath("tests/simcuda"), **environment)
        return subprocess.run([sys.executable, "-c", PROGRAM, RUNTIME], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=60)

    def test_marks_a_traced_program(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            ran = self.run_program(LD_PRELOAD=os.path.abspath("interpose/libvramtrack.so"), VRAMTRACK_OUTPUT=trace)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "on\n", ""))
            dump = subprocess.check_output(["analyzer/vramtrack", "dump", trace], universal_newlines=True)
        steps = [line.split(None, 9)[9] for line in dump.splitlines() if line.split()[2:3] == ["step"]]
        # Anything but a number is counted, from 0; what does not fit into 64 bits is cut.
        numbers = [3, 4, 5, 2**64 - 1, 6, 1, 7, 0, 1, 2, 3, 4, 5, 6]
        values = [" value 1", " value 2.5", " value 3", " value 2.5"] + [""] * 8
        self.assertEqual(steps, ["step 1", "step 2", "step 3 value 1024", "step 9223372036854775808 value 0.5",
                                 *("step %d" % number for number in numbers), *("step 100" + value for value in values),
                                 "step 7", "step 8 value 9",
                                 # Of loops: a break within a `with` ends its step, another break and an exception do not.
                                 "step 9 value 2", "step 10 value 1", "step 11", "step 12", "step 13", "step 14 value 97",
                                 "step 15 value 98"])

    def test_does_nothing_untraced(self):
        ran = self.run_program()
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "on\n", ""))


if __name__ == "__main__":
    unittest.main()
