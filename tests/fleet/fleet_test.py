#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: fleet_test.py VRAMTRACK MAKE_RANKS

vramtrack.fleet on a local Ray cluster, beside the commands alone. tools/test-fleet runs it where Ray is installed.
"""
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))
VRAMTRACK, MAKE_RANKS = (os.path.abspath(path) for path in sys.argv[1:3])
RANKS = 48

# Instead of the program: it kills the worker that called it when it comes to the trace $KILL_AT for the first time and
# whenever it comes to deadly.vtrace, and itself when it is asked to merge for the first time. What it was called for is
# in $CALLS.
KILLER = """#!/bin/sh
echo "$1 $2" >> "$CALLS"
case $2 in
  */deadly.vtrace) kill -KILL $PPID; exit 1 ;;
  */$KILL_AT) mkdir "$CALLS.worker" 2> /dev/null && { kill -KILL $PPID; exit 1; } ;;
esac
if [ "$1" = merge ] && mkdir "$CALLS.program" 2> /dev/null; then kill -KILL $$; fi
exec "%s" "$@"
""" % VRAMTRACK


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def content(path):
    with open(path, "rb") as file:
        return file.read()


class FleetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        os.mkdir(cls.path("home"))  # Ray keeps files there
        os.mkdir(cls.path("traces"))
        run(MAKE_RANKS, cls.path("traces"), str(RANKS))
        with open(cls.path("killer"), "w", encoding="utf-8") as killer:
            killer.write(KILLER)
        os.chmod(cls.path("killer"), 0o755)
        # The workers have what this process has when the cluster starts.
        os.environ.update(HOME=cls.path("home"), PYTHONPATH=os.path.join(ROOT, "python"), PYTHONDONTWRITEBYTECODE="1",
                          VRAMTRACK_PROGRAM=cls.path("killer"), CALLS=cls.path("calls"), KILL_AT="rank-00017.vtrace")
        import ray

        ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
        cls.addClassCleanup(ray.shutdown)
        run(VRAMTRACK, "summarize", cls.path("traces"), "-o", cls.path("local.vts"))

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def test_1_same_bytes_though_a_worker_and_a_program_are_killed(self):
        from vramtrack import fleet

        done = fleet.summarize([self.path("traces")], self.path("fleet.vts"), fan_in=5)
        self.assertEqual(done, (RANKS, ()))
        self.assertEqual(content(self.path("fleet.vts")), content(self.path("local.vts")))
        for killed in ("calls.worker", "calls.program"):
            self.assertTrue(os.path.isdir(self.path(killed)), killed)
        calls = content(self.path("calls")).decode().splitlines()
        self.assertEqual(sum("rank-00017" in call for call in calls), 2)
        self.assertEqual(sum(call.startswith("merge") for call in calls), 10 + 2 + 1 + 1)

    def test_2_one_summary_a_rank_merged_at_once(self):
        summaries = []
        for rank in range(RANKS):
            summaries.append(self.path("rank-%d.vts" % rank))
            run(VRAMTRACK, "summarize", self.path("traces/rank-%05d.vtrace" % rank), "-o", summaries[-1])
        run(VRAMTRACK, "merge", *reversed(summaries), "-o", self.path("merged.vts"))
        self.assertEqual(content(self.path("merged.vts")), content(self.path("local.vts")))

    def test_3_options_are_the_commands_own(self):
        from vramtrack import fleet

        categories = self.path("categories.toml")
        with open(categories, "w", encoding="utf-8") as file:
            file.write('[[category]]\nname = "everything"\nfunction = "*"\n')
        fleet.summarize([self.path("traces")], self.path("fleet.vts"), top=3, detail="job", step_marks="marks", horizon=1000,
                        categories=os.path.relpath(categories))
        run(VRAMTRACK, "summarize", self.path("traces"), "-o", self.path("options.vts"), "--top", "3", "--detail", "job",
            "--step-marks", "marks", "--horizon", "1000", "--categories", categories)
        self.assertEqual(content(self.path("fleet.vts")), content(self.path("options.vts")))

    def test_4_names_what_cannot_be_read(self):
        from vramtrack import fleet

        for name in ("a.vtrace", "b.vtrace"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("no trace\n" * 1000)
        traces = [self.path("traces/rank-00000.vtrace"), self.path("b.vtrace"), self.path("a.vtrace"), self.path("gone.vtrace")]
        output = self.path("kept.vts")
        with open(output, "w", encoding="utf-8") as file:
            file.write("what was there")
        with self.assertRaises(fleet.VramtrackError) as caught:
            fleet.summarize(traces, output)
        named = re.findall(r"\w+\.vtrace", str(caught.exception))
        self.assertEqual(named, ["b.vtrace", "a.vtrace", "gone.vtrace"], str(caught.exception))
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertEqual(content(output), b"what was there")
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("kept.vts.")], [])
        done = fleet.summarize(traces, output, keep_going=True)
        self.assertEqual((done.traces, len(done.left_out)), (1, 3))
        run(VRAMTRACK, "summarize", traces[0], "-o", self.path("one.vts"))
        self.assertEqual(content(output), content(self.path("one.vts")))
        with self.assertRaises(fleet.VramtrackError):
            fleet.summarize(traces[1:], output, keep_going=True)

    def test_5_output_has_the_usual_mode_and_must_be_writable(self):
        from vramtrack import fleet

        one = [self.path("traces/rank-00000.vtrace")]
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        fleet.summarize(one, self.path("mode.vts"))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("mode.vts")).st_mode), 0o640)
        with self.assertRaisesRegex(fleet.VramtrackError, "cannot write '.*nowhere/x.vts': No such file or directory"):
            fleet.summarize(one, self.path("nowhere/x.vts"))

        # A file that is there keeps its mode, and what is no file is written to.
        os.chmod(self.path("mode.vts"), 0o604)
        fleet.summarize(one, self.path("mode.vts"))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("mode.vts")).st_mode), 0o604)
        os.symlink("/dev/null", self.path("null.vts"))
        fleet.summarize(one, self.path("null.vts"))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_6_gives_up_a_trace_that_kills_every_worker(self):
        from vramtrack import fleet

        deadly = self.path("deadly.vtrace")
        os.symlink(self.path("traces/rank-00001.vtrace"), deadly)
        done = fleet.summarize([self.path("traces"), deadly], self.path("fleet.vts"), keep_going=True, retries=1, fan_in=16)
        self.assertEqual(content(self.path("fleet.vts")), content(self.path("local.vts")))
        self.assertEqual(len(done.left_out), 1)
        self.assertTrue(done.left_out[0].startswith(deadly + ": "), done.left_out)
        self.assertNotIn("\n", done.left_out[0])
        calls = content(self.path("calls")).decode()
        self.assertEqual(calls.count("deadly"), 2)

    def test_7_the_recipes(self):
        with open(os.path.join(ROOT, "docs", "fleet.md"), encoding="utf-8") as page:
            recipes = re.findall(r"^```\w+\n(# (?:fleet_job\.py|ray\.sh)\n.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        self.assertEqual(len(recipes), 2)
        for recipe in recipes:
            command = ["sh", "-ec"] if recipe.startswith("# ray.sh") else ["python", "-c"]
            ran = subprocess.run(command + [recipe], cwd=self.folder, env={**os.environ, "PATH": path}, timeout=120,
                                 capture_output=True, text=True)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))
            self.assertEqual(content(self.path("job.vts")), content(self.path("local.vts")))
            os.unlink(self.path("job.vts"))


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    bad, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print("%d passed, %d failed, %d skipped" % (result.testsRun - bad - skipped, bad, skipped))
    sys.exit(1 if bad else 0)
