# SPDX-License-Identifier: Apache-2.0
"""CUPTI's records of a PyTorch job: one ledger with the hooks, no other verdict, and torch.profiler gets all it asks for.

Each job runs without CUPTI and with it; what the profiler saw must be the same.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import under_test

SCRIPT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "cupti_training.py")
# Ids of processes and what is measured by the clock.
BY_THE_CLOCK = ("rate_bytes_per_second",)


def traced(folder, name, *arguments, cupti, **environment):
    """(report, what the script printed)."""
    trace = os.path.join(folder, name + (".with" if cupti else ".without"))
    environment = dict(os.environ, VRAMTRACK_LIBRARY=under_test.LIBRARY, SIMCUDA_BACKED="0", OMP_NUM_THREADS="1",
                       PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=under_test.MODULE, **environment)
    command = [under_test.VRAMTRACK, "run", "-o", trace, *(["--cupti"] if cupti else []), "--"]
    ran = subprocess.run([*command, sys.executable, SCRIPT, *map(str, arguments)], env=environment,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if ran.returncode != 0:
        raise RuntimeError("exit code %d: %s" % (ran.returncode, ran.stderr[-2000:]))
    made = subprocess.run([under_test.VRAMTRACK, "report", "--format", "json", trace], stdout=subprocess.PIPE, text=True,
                          timeout=120, check=False)
    return json.loads(made.stdout), ran.stdout


def profiled(said):
    """(kernels, copies) of each profile that the script printed."""
    profiles = []
    for block in said.split("profile\n")[1:]:
        copies = sum(map(int, re.findall(r"^event (\d+) Memcpy", block, re.MULTILINE)))
        profiles.append((sum(map(int, re.findall(r"^event (\d+)", block, re.MULTILINE))) - copies, copies))
    return profiles


def activities_of(report):
    return [process["activities"] for process in report["processes"] if process["activities"]]


def judged(report):
    """All that the report says of sites, but for times."""
    return [{key: value for key, value in site.items() if key not in BY_THE_CLOCK} for site in report["sites"]]


class CuptiTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def both(self, name, *arguments, **environment):
        without, said = traced(self.folder.name, name, *arguments, cupti=False, **environment)
        report, said_with = traced(self.folder.name, name, *arguments, cupti=True, **environment)
        self.assertEqual(activities_of(without), [])
        self.assertEqual(len(activities_of(report)), 1)
        self.assertEqual(said_with, said)
        self.assertEqual(judged(report), judged(without))
        self.assertEqual([process["events"] for process in report["processes"]],
                         [process["events"] for process in without["processes"]])
        activities = activities_of(report)[0]
        self.assertEqual((activities["dropped"], activities["unwritten"], activities["other_sizes"]), (0, 0, 0))
        self.assertEqual(activities["only_cupti"], [])
        return report, activities, said

    def test_one_ledger_and_the_same_verdicts(self):
        report, activities, _ = self.both("plain")
        self.assertEqual(report["sites"][0]["verdict"], "leak")
        self.assertEqual(report["sites"][0]["rate_bytes_per_step"], 4 * 32 * 64 * 4)
        self.assertGreaterEqual(activities["joined"], 4)
        self.assertEqual(activities["only_hooks"], [])
        self.assertEqual(activities["missing"], [])

    def test_the_profiler_gets_all_of_its_events(self):
        _, activities, said = self.both("profiled", 10, 15, 20, 30)
        profiles = profiled(said)
        self.assertEqual(len(profiles), 2)
        for short, long in zip(*profiles):  # every step does the same
            self.assertGreater(short, 0)
            self.assertEqual(long, 2 * short)
        self.assertGreaterEqual(activities["joined"], 4)
        self.assertEqual(activities["only_hooks"], [])
        self.assertEqual(len(activities["missing"]), 1)
        missing = activities["missing"][0]
        self.assertRegex(missing["why"], "another tool")
        self.assertLess(missing["from_s"], missing["to_s"])

    def test_a_profile_may_begin_before_cuda_does(self):
        """The tracer starts in the profiler's first call of CUDA, and gives way in the next one of CUPTI."""
        _, activities, said = self.both("from_the_start", -1, 5)
        self.assertGreater(min(profiled(said)[0]), 0)
        self.assertEqual(activities["joined"], 0)
        self.assertEqual(len(activities["missing"]), 1)

    def test_the_profiler_may_detach_cupti(self):
        """kineto does so behind each profile, from a callback in the middle of a launch, and begins anew at the next."""
        _, activities, said = self.both("detached", 10, 15, 20, 30, TEARDOWN_CUPTI="1")
        for short, long in zip(*profiled(said)):
            self.assertGreater(short, 0)
            self.assertEqual(long, 2 * short)
        self.assertGreaterEqual(activities["joined"], 4)


if __name__ == "__main__":
    unittest.main()
