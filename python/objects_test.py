#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces, diffs and checks as objects: what they print, all their rows, and what they raise."""

import dataclasses
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

PYTHON = os.path.abspath("python")
sys.path.insert(0, PYTHON)
sys.dont_write_bytecode = True

import vramtrack  # noqa: E402
from vramtrack import _tables, _text  # noqa: E402

PROGRAM = os.path.abspath("analyzer/vramtrack")
RUNTIME = os.path.abspath(max(glob.glob("tests/simcuda/libcudart.so.1[23]")))
LINES = 60  # more places than a report lists
STEPS = 40
# Every line that calls `place` is a site of its own; LEAK keeps what it allocates.
JOB = """import ctypes, sys, vramtrack
runtime = ctypes.CDLL(sys.argv[1])
kept = []
def place(bytes, keep):
    address = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(bytes)) == 0
    if keep: kept.append(address)
    else: runtime.cudaFree(address)
leaks = sys.argv[2] == "leak"
for number in range(int(sys.argv[3])):
%s
    place(1 << 20, leaks)  # LEAK
    vramtrack.step(number)
""" % "\n".join("    place(%d, False)" % (4096 * (i + 1)) for i in range(LINES))
LEAK = JOB.splitlines().index("    place(1 << 20, leaks)  # LEAK") + 1


def record(folder, name, steps=STEPS):
    """A trace of the job: `leak`, or another name for the job without it."""
    path = os.path.join(folder, "%s%d.vtrace" % (name, steps))
    environment = dict(os.environ, PYTHONPATH=PYTHON, PYTHONDONTWRITEBYTECODE="1", SIMCUDA_BACKED="0",
                       LD_LIBRARY_PATH=os.path.abspath("tests/simcuda"), VRAMTRACK_OUTPUT=path,
                       LD_PRELOAD=os.path.abspath("interpose/libvramtrack.so"))
    subprocess.run([sys.executable, "job.py", RUNTIME, name, str(steps)], cwd=folder, env=environment, check=True, timeout=60)
    return path


class ObjectsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with open(os.path.join(cls.folder.name, "job.py"), "w", encoding="utf-8") as file:
            file.write(JOB)
        cls.path = record(cls.folder.name, "leak")
        cls.clean = record(cls.folder.name, "clean")
        cls.trace = vramtrack.load(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_trace_prints_as_its_report_begins(self):
        report = subprocess.check_output([PROGRAM, "report", self.path], encoding="utf-8")
        lines = str(self.trace).splitlines()
        self.assertEqual(lines[:-1], report.splitlines()[:len(lines) - 1])
        self.assertLess(len(lines), 30)
        self.assertEqual(self.trace.to_text(), report)
        self.assertNotIn("\n", repr(self.trace))
        # What cannot be read any more is still printed.
        gone = vramtrack.Trace("/no/such/trace", self.trace.report)
        self.assertIn("/no/such/trace", str(gone))

    def test_findings_are_named_as_in_the_text(self):
        (finding,) = self.trace.leaks
        self.assertEqual((finding.line, finding.rate), ("job.py:%d" % LEAK, "1.00 MiB per step"))
        self.assertTrue(os.path.isabs(finding.site.frame.file))
        self.assertIn(finding.line, str(self.trace))
        for one in (finding, finding.site, finding.frames[0], self.trace.devices[0], self.trace.processes[0], self.trace.steps,
                    self.trace):
            self.assertLess(len(repr(one)), 300)
            self.assertRegex(repr(one), r"^<.*>$")
        self.assertIn(finding.line, repr(finding))
        self.assertIn(finding.rate, repr(finding))

    def test_html(self):
        (finding,) = self.trace.leaks
        for html in (self.trace._repr_html_(), finding._repr_html_()):
            self.assertIn(finding.line, html)
            self.assertIn("&lt;module&gt;", html)
            self.assertNotIn("<module>", html)
        page = self.trace.to_html()
        path = os.path.join(self.folder.name, "page.html")
        self.assertIsNone(self.trace.to_html(path))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), page)
        self.assertIn("<html", page)
        self.assertGreater(len(page), len(self.trace.to_html(source=False)))
        with self.assertRaises(vramtrack.VramtrackError):
            self.trace.to_html(os.path.join(self.folder.name, "none", "page.html"))

    def test_tables_have_all_sites(self):
        everything = json.loads(subprocess.check_output([PROGRAM, "report", "--format", "json", "--top", "1000000", self.path]))
        ids = [site["id"] for site in everything["sites"]]
        self.assertGreater(len(ids), len(self.trace.sites))
        self.assertEqual(len(ids), sum(self.trace.verdict_counts.values()))
        self.assertEqual([site.id for site in self.trace.all_sites()], ids)
        _, rows = _tables._table("sites", self.trace._rows())
        self.assertEqual([row.id for row in rows], ids)

    def test_sizes_are_written_as_in_the_text(self):
        for size in (0, 1, 1023, 1024, 1535, 10240, 1 << 20, 99 << 20, 1023 << 20, 1 << 30, 12345678901, 1 << 41):
            message = " ".join(one.message for one in vramtrack.check(self.trace, max_device_used=size, max_leak="1 TiB").findings)
            text = _text.size_text(size)
            used = self.trace.devices[0].peak_device_used
            self.assertEqual(text in message, used > size, (size, text, message))

    def test_diff(self):
        same = vramtrack.diff(self.path, self.trace)
        self.assertTrue(same.identical and same.comparable and same.enough_evidence)
        self.assertEqual((same.changes, same.new_leaks), ((), ()))
        diff = vramtrack.diff(vramtrack.load(self.clean), self.trace)
        (leak,) = diff.new_leaks
        self.assertEqual((leak.line, leak.new_value), ("job.py:%d" % LEAK, 1 << 20))
        self.assertIn(leak.line, str(diff))
        self.assertIn(leak.line, diff._repr_html_())
        self.assertGreater(diff.peak[0].delta, 0)
        self.assertEqual(diff.peak[0].new, self.trace.devices[0].peak_live)
        self.assertEqual([side.steps.count for side in (diff.base, diff.new_run)], [STEPS, STEPS])
        report = json.loads(subprocess.run([PROGRAM, "diff", "--format", "json", self.clean, self.path],
                                           stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual(diff.report, report)
        self.assertEqual({device: set(values) for device, values in diff.categories.items()},
                         {one["device"]: set(one["categories"]) for one in report["categories"]})
        self.assertFalse(vramtrack.diff(self.clean, record(self.folder.name, "clean", 3)).enough_evidence)

    def test_check(self):
        failed = vramtrack.check(self.trace, max_peak="1 TiB")
        self.assertEqual((failed.result, failed.exit_code, failed.passed, bool(failed)), ("failed", 1, False, False))
        (found,) = failed.failures
        self.assertEqual((found.rule, found.line, found.value, found.unit), ("leak", LEAK, 1 << 20, "bytes_per_step"))
        self.assertIn(":%d" % LEAK, str(failed))
        self.assertIn("job.py", failed._repr_html_())
        self.assertTrue(vramtrack.check(self.clean))
        self.assertTrue(vramtrack.check(self.path, max_leak=2 << 20))
        self.assertTrue(vramtrack.check(self.path, fail_on=["peak"], max_peak="1 TiB"))
        # Only what became worse fails.
        self.assertTrue(vramtrack.check(self.path, baseline=self.trace))
        self.assertFalse(vramtrack.check(self.path, baseline=self.clean))
        short = vramtrack.check(record(self.folder.name, "clean", 3))
        self.assertEqual((short.result, bool(short)), ("not_enough_evidence", False))
        with self.assertRaises(TypeError):
            vramtrack.check(self.path, leak="0")
        for limits in ({"max_peek": 1}, {"max_peak": "much"}):
            with self.assertRaises(vramtrack.VramtrackError) as raised:
                vramtrack.check(self.path, **limits)
            self.assertEqual(raised.exception.exit_code, 2)

    def test_everything_is_documented(self):
        self.assertEqual(vramtrack.VramtrackError.__module__, "vramtrack")
        for name in vramtrack.__all__:
            value = getattr(vramtrack, name)
            self.assertGreater(len(value.__doc__ or ""), 20, name)
            if dataclasses.is_dataclass(value):
                self.assertNotIn("(", value.__doc__.splitlines()[0].split(" ")[0], name)  # not the signature
            for attribute, member in vars(value).items() if isinstance(value, type) else ():
                if not attribute.startswith("_") and (callable(member) or isinstance(member, property)):
                    self.assertTrue(member.__doc__, (name, attribute))


if __name__ == "__main__":
    unittest.main()
