#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace is read as plain objects; the module is light, and runs in the oldest Python that it promises."""

import ast
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
from vramtrack import _made, _tables  # noqa: E402

PROGRAM = os.path.abspath("analyzer/vramtrack")
OLDEST = (3, 9)


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-B", *arguments], env={**os.environ, "PYTHONPATH": PYTHON, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=60)


class LoadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "leak.vtrace")
        subprocess.run(["analyzer/cli/make_trace", "leak", cls.path], check=True)
        cls.trace = vramtrack.load(cls.path)
        cls.report = json.loads(subprocess.check_output([PROGRAM, "report", "--format", "json", cls.path]))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_says_what_the_report_says(self):
        trace, report = self.trace, self.report
        self.assertEqual(trace.report, report)
        self.assertEqual([site.id for site in trace.sites], [site["id"] for site in report["sites"]])
        self.assertEqual([finding.site.id for finding in trace.findings], report["ranking"])
        (finding,) = trace.findings
        self.assertEqual((finding.verdict, finding.rate_bytes_per_step, finding.rate_ci), ("leak", 4 << 20, (4 << 20, 4 << 20)))
        self.assertEqual(finding.explanation, report["sites"][0]["explanation"])
        frame = report["sites"][0]["frames"][report["sites"][0]["blame_frame"]]
        self.assertEqual(finding.function, frame["function"])
        self.assertEqual(finding.line, "%s:%d" % (frame["shown_file"] or frame["file"], frame["line"]) if frame["line"] else "")
        self.assertEqual((trace.steps.count, trace.steps.source), (report["steps"]["count"], report["steps"]["source"]))
        self.assertEqual([device.peak_live for device in trace.devices], [one["peak"]["live"] for one in report["devices"]])
        self.assertEqual([process.pid for process in trace.processes], [one["pid"] for one in report["processes"]])
        self.assertEqual(len(trace.timeline), sum(len(one["position"]) for one in report["timeline"]))
        self.assertEqual(max(row.live_high for row in trace.timeline if row.device == 0), trace.devices[0].peak_live)
        self.assertTrue(trace.enough_evidence)
        self.assertEqual(trace.leaks, trace.findings)

    def test_the_rate_of_ranks_is_that_of_each(self):
        folder = os.path.join(self.folder.name, "ranks")
        os.mkdir(folder)
        for rank in "01":
            subprocess.run(["analyzer/cli/make_trace", "leak", os.path.join(folder, rank + ".vtrace"), rank, "run"], check=True)
        trace = vramtrack.load(folder)
        (finding,) = trace.leaks
        self.assertEqual((finding.rate, finding.rate_bytes_per_step), ("4.00 MiB per step and rank", 8 << 20))
        self.assertIn(finding.rate, str(trace).splitlines()[0])
        self.assertNotIn("CI", str(finding))  # an interval without a width is not named
        self.assertNotIn("()", str(finding))

    def test_events_are_those_of_dump(self):
        lines = subprocess.check_output([PROGRAM, "dump", self.path], encoding="utf-8").splitlines()
        rows = [line.split(None, 9) for line in lines if not line.lstrip().startswith("#")]
        events = list(self.trace.events())
        self.assertEqual(len(events), len(rows))
        live = {}
        for event, row in zip(events, rows):
            self.assertEqual((event.trace, event.operation, event.details), (self.path, row[2], row[9] if len(row) > 9 else None))
            self.assertEqual(row[5:9], ["-" if event.bytes is None else str(event.bytes),
                                        "-" if event.address is None else hex(event.address), event.allocation or "-",
                                        "-" if event.stack is None else str(event.stack)])
            if event.kind == "device" and event.operation == "allocate":
                live[event.allocation] = event.bytes
            elif event.operation == "free":
                live.pop(event.allocation, None)
        self.assertEqual(sum(live.values()), self.trace.report["devices"][0]["end"]["live"])
        # A reader that stops early leaves nothing behind.
        some = self.trace.events()
        self.assertEqual(next(some), events[0])
        some.close()

    def test_tables_have_a_column_for_every_value(self):
        tables = self.trace._rows()
        for name, (row_type, _) in tables.items():
            columns, rows = _tables._table(name, tables)
            self.assertTrue(rows, name)
            objects = {field for field, of in _made._nested(row_type).items() if of is not None}
            objects -= {"frames", "site", "parts"}  # columns of what names them
            fields = {field.name for field in dataclasses.fields(row_type)}
            for field in fields:
                names = {column for column, _, _ in columns if column == field or column not in fields}
                self.assertEqual(any(column.startswith(field) for column in names), field not in objects, (name, field))
            types = {"str": str, "int": int, "float": (int, float), "bool": bool, "list": list}
            for column, type_, value in columns:
                for row in rows:
                    self.assertIsInstance(value(row), (types[type_], type(None)), (name, column))
        with self.assertRaisesRegex(ValueError, "'site'.*findings, sites, "):
            _tables._table("site", tables)

    def test_what_goes_wrong_is_one_line(self):
        empty = os.path.join(self.folder.name, "empty")
        with open(empty, "w", encoding="utf-8"):
            pass
        for path in ("/no/such/trace", empty, "--help", self.folder.name + "/-"):
            with self.assertRaises(vramtrack.VramtrackError) as raised:
                vramtrack.load(path)
            self.assertNotIn("\n", str(raised.exception))
            self.assertFalse(str(raised.exception).startswith("vramtrack: "))
            self.assertEqual(raised.exception.exit_code, 2)
        with self.assertRaisesRegex(vramtrack.VramtrackError, "frobs"):
            vramtrack.load(self.path, step_marks="frobs")
        with open(empty, "w", encoding="utf-8") as file:
            file.write("[[categry]]\n")
        for reads in (lambda: vramtrack.load(self.path, categories=empty), lambda: vramtrack.diff(self.path, self.path, categories=empty),
                      lambda: vramtrack.check(self.trace, categories=empty)):
            with self.assertRaisesRegex(vramtrack.VramtrackError, "empty:1: unknown key 'categry'"):
                reads()
        os.unlink(empty)

    def test_starts_the_program(self):
        version = subprocess.check_output([PROGRAM, "--version"], encoding="utf-8")
        self.assertEqual(run("-m", "vramtrack", "--version").stdout, version)
        ran = run("-m", "vramtrack", "run", "-q", "--", "sh", "-c", "exit 7")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (7, "", ""))
        ran = run("-m", "vramtrack", "--version", VRAMTRACK_PROGRAM="/no/vramtrack")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr.count("\n")), (2, "", 1), ran)
        self.assertIn("VRAMTRACK_PROGRAM", ran.stderr)
        # A package without the program, and only a script of its name on the PATH.
        alone = os.path.join(self.folder.name, "alone")
        os.makedirs(os.path.join(alone, "vramtrack"))
        for path in glob.glob(os.path.join(PYTHON, "vramtrack", "*.py")):
            with open(path, encoding="utf-8") as source, open(os.path.join(alone, path[len(PYTHON) + 1:]), "w",
                                                               encoding="utf-8") as copy:
                copy.write(source.read())
        script = os.path.join(alone, "bin")
        os.makedirs(script)
        with open(os.path.join(script, "vramtrack"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho a script\n")
        os.chmod(file.name, 0o755)
        ran = run("-m", "vramtrack", "--version", PYTHONPATH=alone, PATH=script)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr.count("\n")), (2, "", 1), ran)
        self.assertIn("VRAMTRACK_PROGRAM", ran.stderr)
        # A program on the PATH is one.
        os.unlink(os.path.join(script, "vramtrack"))
        os.symlink(PROGRAM, os.path.join(script, "vramtrack"))
        self.assertEqual(run("-m", "vramtrack", "--version", PYTHONPATH=alone, PATH=script).stdout, version)

    def test_names_its_files(self):
        where = vramtrack.where()
        self.assertEqual(where.program, PROGRAM)
        self.assertTrue(where.library.endswith("/interpose/libvramtrack.so") and os.path.isfile(where.library), where)

    def test_is_light(self):
        heavy = "ctypes dataclasses json pathlib subprocess typing".split()
        program = "import sys; before = set(sys.modules); import vramtrack; print(*sorted(set(sys.modules) - before))"
        loaded = run("-S", "-c", program).stdout.split()
        self.assertIn("vramtrack", loaded)
        self.assertEqual([name for name in heavy if name in loaded], [])

    def test_is_of_the_oldest_python(self):
        files = glob.glob(os.path.join(PYTHON, "vramtrack", "*.py"))
        self.assertGreater(len(files), 5)
        for path in files:
            with open(path, encoding="utf-8") as file:
                ast.parse(file.read(), path, feature_version=OLDEST)


if __name__ == "__main__":
    unittest.main()
