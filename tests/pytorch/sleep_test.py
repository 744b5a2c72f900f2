# SPDX-License-Identifier: Apache-2.0
"""Sleep and wake: what lives through it."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import under_test

HERE = os.path.dirname(os.path.realpath(__file__))
SERVER = os.path.join(HERE, "sleeping_server.py")
ALLOCATOR = os.path.abspath("tests/pytorch/sleeping_allocator.so")
MIB = 1 << 20
CYCLES = 15
PER_CYCLE = 4 * MIB
TIMEOUT_S = 120


def line_of(mark):
    with open(SERVER, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith("# " + mark))


def lines_in_server(stack):
    return [frame["line"] for frame in stack if os.path.basename(frame["file"]) == os.path.basename(SERVER)]


def run(variant, folder):
    """(what the device had in use in each sleep, the report, its text)"""
    trace = os.path.join(folder, variant + ".vtrace")
    environment = dict(os.environ, VRAMTRACK_OUTPUT=trace, SIMCUDA_BACKED="0", OMP_NUM_THREADS="1",
                       PYTHONDONTWRITEBYTECODE="1", LD_PRELOAD=under_test.preloaded(os.environ))
    ran = subprocess.run([sys.executable, SERVER, ALLOCATOR, variant], env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    assert ran.returncode == 0, ran.stderr[-2000:]
    reports = []
    for output in "json", "text":
        made = subprocess.run([under_test.VRAMTRACK, "report", "--format", output, trace], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        assert made.returncode in (0, 3), made.stderr
        reports.append(made.stdout)
    return [int(held) for held in re.findall(r"^held (\d+)$", ran.stdout, re.MULTILINE)], json.loads(reports[0]), reports[1]


class SleepTest(unittest.TestCase):

    def test_leak_outside_of_the_sleeping_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            held, report, text = run("leaky", folder)
        sleep, = report["processes"][0]["sleeps"]
        self.assertEqual(sleep["cycles"], CYCLES)
        # The device itself says the same, but for what CUDA's context takes.
        self.assertEqual(sleep["last_bytes"], held[-1])
        self.assertEqual(sleep["released_bytes"], 34 * MIB)
        grows = sleep["lines"][0]
        self.assertEqual(lines_in_server(grows["stack"]), [line_of("LEAK")])
        self.assertEqual((grows["level"], grows["bytes_per_cycle"]), ("framework", PER_CYCLE))
        self.assertEqual(grows["last_bytes"], CYCLES * PER_CYCLE)
        for line in sleep["lines"][1:]:
            self.assertEqual(line["bytes_per_cycle"], 0, line)

        text = " ".join(text.split())
        self.assertIn("Sleep and wake on device 0 15 cycles, the last one released 34.0 MiB", text)
        self.assertRegex(text, r"60\.0 MiB \S*sleeping_server\.py:%d in <module>, \+4\.00 MiB per cycle" % line_of("LEAK"))

    def test_nothing_grows(self):
        with tempfile.TemporaryDirectory() as folder:
            _, report, _ = run("fixed", folder)
        sleep, = report["processes"][0]["sleeps"]
        self.assertEqual(sleep["cycles"], CYCLES)
        self.assertEqual(sleep["bytes_per_cycle"], 0)
        self.assertEqual({line["bytes_per_cycle"] for line in sleep["lines"]}, {0})
        self.assertEqual(report["ranking"], [])


if __name__ == "__main__":
    unittest.main()
