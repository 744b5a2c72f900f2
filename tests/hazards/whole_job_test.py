#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job with many hazards at once, under `vramtrack run`: its report counts every call that returned.

The job (programs/whole_job.cc) clears its environment, renames itself, executes itself twice, forks 200 children and is
killed by SIGKILL. In other runs its last trace is removed, or another file takes the trace's name.

Arguments: vramtrack, libvramtrack.so, whole_job, the simulated libcudart.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

VRAMTRACK, LIBRARY, PROGRAM, CUDART = [os.path.abspath(path) for path in sys.argv[1:5]]
CHILDREN = 200
EARLIER_STAGES = 100 + 200  # blocks that are kept; as many are freed
CHILD = 5
LAST_STAGE, AFTER_LOSS = 300, 50


def environment():
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("VRAMTRACK_", "SLURM_", "TORCHELASTIC_")) and name != "LD_PRELOAD"}
    return dict(kept, LD_LIBRARY_PATH=os.path.dirname(CUDART), VRAMTRACK_LIBRARY=LIBRARY,
                VRAMTRACK_REPORT_SECONDS="600")


def as_a_shell_sees_it(command):
    """(exit code, stdout, stderr)"""
    done = subprocess.run(["/bin/sh", "-c", '"$@" & wait $!', "sh"] + command, env=environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200, check=False)
    return done.returncode, done.stdout, done.stderr


def tracers(stderr):
    return [line for line in stderr.splitlines() if line.startswith("vramtrack: ")]


class WholeJobTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def traced(self, way, end):
        """Runs the job both ways. (the report, lines of the tracer on stderr, the folder)"""
        command = [PROGRAM, "0", way, end]
        code, out, _ = as_a_shell_sees_it(command)
        self.assertEqual(code, 137 if end == "kill" else 0)
        self.assertEqual(out, "stage 0\nstage 1\nstage 2\ndone\n")
        traces = os.path.join(self.folder, way + "-" + end)
        traced = as_a_shell_sees_it([VRAMTRACK, "run", "-o", traces, "--"] + command)
        self.assertEqual((traced[0], traced[1]), (code, out), traced[2])
        done = subprocess.run([VRAMTRACK, "report", traces, "--format", "json"], stdout=subprocess.PIPE, check=False)
        self.assertIn(done.returncode, (0, 3))  # 3: not enough evidence for a verdict
        report = json.loads(done.stdout)
        # The summary on stderr says the same as the report.
        short = re.search(r"^The trace: (\d+) processes, (\d+) not complete; ", traced[2], re.MULTILINE)
        self.assertIsNotNone(short, traced[2])
        incomplete = sum(not process["complete"] for process in report["processes"])
        self.assertEqual([int(figure) for figure in short.groups()], [len(report["processes"]), incomplete])
        lines = tracers(traced[2])
        self.assertEqual(lines.pop(), "vramtrack: full report: vramtrack report " + traces)
        return report, lines, traces

    def expect_counts(self, report, processes, kept):
        """So many processes, whose calls left so many blocks and freed as many others."""
        counts = collections.Counter()
        for site in report["sites"]:
            counts[site["kind"], "allocations"] += site["allocations"]
            counts[site["kind"], "frees"] += site["frees"]
            counts[site["kind"], "live"] += site["live_objects"]
        self.assertEqual(len(report["processes"]), processes)
        self.assertEqual({process["lost_events"] for process in report["processes"]}, {0})
        self.assertEqual(counts["device", "allocations"], 2 * kept)
        self.assertEqual(counts["device", "frees"], kept)
        self.assertEqual(counts["device", "live"], kept)
        # One context for each process.
        self.assertEqual(sum(process["events"] for process in report["processes"]), 3 * kept + processes)
        self.assertEqual(len({process["pid"] for process in report["processes"]}), 1 + CHILDREN)

    everything = EARLIER_STAGES + CHILDREN * CHILD + LAST_STAGE + AFTER_LOSS
    lost = LAST_STAGE + AFTER_LOSS

    def test_killed(self):
        report, lines, _ = self.traced("kept", "kill")
        self.expect_counts(report, 3 + CHILDREN, self.everything)
        self.assertEqual(lines, [])
        self.assertEqual({process["complete"] for process in report["processes"]}, {False})

    def test_ended(self):
        report, lines, _ = self.traced("kept", "exit")
        self.expect_counts(report, 3 + CHILDREN, self.everything)
        self.assertEqual(lines, [])
        self.assertEqual(sum(process["complete"] for process in report["processes"]), 1)

    def test_removed(self):
        report, lines, traces = self.traced("removed", "exit")
        self.expect_counts(report, 2 + CHILDREN, self.everything - self.lost)
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], "^vramtrack: " + re.escape(traces) +
                         r"/\S*\.3\.vtrace was removed while it was written; what was recorded is lost$")

    def test_removed_and_killed(self):
        # Nobody is left who could say so: docs/limits.md.
        report, lines, _ = self.traced("removed", "kill")
        self.expect_counts(report, 2 + CHILDREN, self.everything - self.lost)
        self.assertEqual(lines, [])

    def test_replaced(self):
        for end in ("kill", "exit"):
            with self.subTest(end):
                report, lines, traces = self.traced("replaced", end)
                self.expect_counts(report, 2 + CHILDREN, self.everything - self.lost)
                # The report names the file that is not a trace.
                left_out = [text for text in report["warnings"] if text.startswith("left out: ")]
                self.assertEqual(len(left_out), 1, report["warnings"])
                self.assertRegex(left_out[0], re.escape(traces) + r"/\S*\.3\.vtrace: offset 0: not a vramtrack trace$")
                self.expect_replaced(lines, traces, end)

    def test_a_copy_has_the_name(self):
        for end in ("kill", "exit"):
            with self.subTest(end):
                report, lines, traces = self.traced("copied", end)
                # The copy holds what came before it.
                self.expect_counts(report, 3 + CHILDREN, self.everything - AFTER_LOSS)
                self.assertEqual({process["complete"] for process in report["processes"]}, {False})
                self.expect_replaced(lines, traces, end)

    def expect_replaced(self, lines, traces, end):
        self.assertEqual(len(lines), end == "exit", lines)
        for line in lines:
            self.assertRegex(line, "^vramtrack: " + re.escape(traces) + r"/\S*\.3\.vtrace was replaced by another file "
                             "while it was written; what was recorded is lost unless that file holds it$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
