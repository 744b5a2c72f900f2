# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin in a project of its own: tests on PyTorch that leak, or need more than their limit, fail, their twins
pass, and everything else that a test can do is as without it."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.join(HERE, "sample_project")
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "python")
MOST_LINES = 10  # of a finding


WAITS = """
import os, time, pytest

@pytest.mark.limit_vram_leaks("0 B/step")
def test_waits():
    with open("new", "w") as file:
        file.write(str(os.getpid()))
    os.rename("new", "pid")
    time.sleep(600)
"""
# As the thread of pytest-timeout does.
ENDS = """
import os, threading, time, pytest

def end():
    while not os.path.exists("pid"):
        time.sleep(0.05)
    os._exit(9)

threading.Thread(target=end, daemon=True).start()
pytest.main(["-p", "vramtrack.pytest_plugin", "-p", "no:cacheprovider", "test_waits.py"])
"""


class Session:
    """One run of pytest in the project."""

    def __init__(self, *arguments, **environment):
        environment = dict(os.environ, PYTHONPATH=PACKAGE, PYTHONDONTWRITEBYTECODE="1", SIMCUDA_BACKED="0",
                           OMP_NUM_THREADS="1", **environment)
        with tempfile.TemporaryDirectory() as folder:
            results = os.path.join(folder, "results.xml")
            command = [sys.executable, "-m", "pytest", "-p", "vramtrack.pytest_plugin", "-p", "no:cacheprovider",
                       "-o", "junit_logging=all", "--junitxml", results, *arguments]
            ran = subprocess.run(command, cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, encoding="utf-8", timeout=300)
            self.output = ran.stdout
            self.cases = {}
            for case in xml.etree.ElementTree.parse(results).iter("testcase"):
                self.cases.setdefault(case.get("name"), []).append(case)

    def outcome(self, name):
        tags = [child.tag for case in self.cases[name] for child in case]
        return next((tag for tag in ("error", "failure", "skipped") if tag in tags), "passed")

    def text(self, name):
        """Of the failure."""
        return "\n".join(child.text or "" for case in self.cases[name] for child in case if child.tag in ("failure", "error"))


class PluginTest(unittest.TestCase):
    maxDiff = None

    def assertOutcomes(self, session, expected):
        self.assertEqual({name: session.outcome(name) for name in session.cases}, expected, session.output)

    def test_pytorch(self):
        session = Session("test_training.py")
        self.assertOutcomes(session, {"test_leaky_step": "failure", "test_step": "passed", "test_fits": "passed",
                                      "test_does_not_fit": "failure"})
        leak = session.text("test_leaky_step").splitlines()
        self.assertRegex(leak[0], r"^training\.py:\d+  Trainer\.loss_of leaks 512 B per step .*; the budget is 0 B per step$")
        self.assertRegex("\n".join(leak), r"\n  > Trainer\.loss_of  training\.py:\d+\n    Trainer\.leaky_step  training\.py:\d+\n"
                                          r"    test_leaky_step  test_training\.py:\d+\n")
        self.assertLessEqual(len(leak), MOST_LINES + 1)
        peak = session.text("test_does_not_fit").splitlines()
        self.assertRegex(peak[0], r"^device 0: \S+ MiB live at the peak; the budget is 1\.00 MiB$")
        self.assertRegex("\n".join(peak), r"\n +\S+ KiB  Trainer\.__init__  training\.py:\d+\n")
        self.assertLessEqual(len(peak), MOST_LINES + 1)

    def test_corners(self):
        session = Session("test_corners.py", "-n", "2")
        words = {"failed": "failure"}
        expected = {name: re.search(r"_([a-z]+)(\[|$)", name)[1] for name in session.cases}
        self.assertOutcomes(session, {name: words.get(word, word) for name, word in expected.items()})
        self.assertIn("  > allocate  device.py:", session.text("test_leak_failed"))
        for name, text in (
            ("test_too_few_steps_failed", "not enough evidence: "),
            ("test_both_marks_failed", "5.00 MiB"),
            ("test_peak_with_a_fixture_failed", "  8.00 MiB  block  test_corners.py:"),
            ("test_limit_of_this_device_failed", "device 0: 2.00 MiB"),
            ("test_raises_failed", "RuntimeError: of the test"),
            ("test_fixed_leak_failed", "[XPASS(strict)] fixed"),
            ("test_leak_of_unittest_failed", "limit_vram_leaks"),
            ("test_wrong_limit_failed", "a limit of this test: peak: "),
            ("test_wrong_keyword_error", "'devise'"),
            ("test_wrong_steps_error", "limit_vram_leaks: steps=0"),
            ("test_crash_failed", "SIGABRT"),
            ("test_killed_while_it_reports_failed", "SIGKILL"),
            ("test_out_of_time_failed", "took too long"),
            ("test_exit_failed", "exit code 7"),
        ):
            self.assertIn(text, session.text(name))
        self.assertIn("set up 1 times, ran 32 times", "".join(session.cases["test_fixture_once_passed"][0].itertext()))
        process = session.cases["test_process_of_its_own_passed"][0].find("properties/property[@name='process']")
        self.assertTrue(process.get("value").isdecimal())
        self.assertIn("VramtrackWarning: test_no_cuda_passed", session.output)
        self.assertIn("UserWarning: of the test", session.output)

    def test_options(self):
        few = ["test_corners.py", "-k", "test_leak_failed or test_no_leak or test_unmarked or test_skips"]
        expected = {"test_leak_failed": "failure", "test_no_leak_passed": "passed", "test_skips_skipped": "skipped",
                    "test_unmarked_passed": "passed"}
        with tempfile.TemporaryDirectory() as folder:
            session = Session(*few, "--vramtrack-path", folder, "-s")
            self.assertOutcomes(session, expected)
            kept = sorted(os.listdir(folder))
            self.assertEqual(kept, ["test_corners.py-test_leak_failed", "test_corners.py-test_no_leak_passed",
                                    "test_corners.py-test_skips_skipped"][:len(kept)])
            self.assertIn(os.path.join(folder, kept[0]), session.text("test_leak_failed"))
        self.assertOutcomes(Session(*few, "--no-vramtrack"), dict(expected, test_leak_failed="passed"))

    def test_ends_with_pytest(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_waits.py"), "w") as file:
                file.write(WAITS)
            ended = subprocess.run([sys.executable, "-c", ENDS], cwd=folder, env=dict(os.environ, PYTHONPATH=PACKAGE),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
            self.assertEqual(ended.returncode, 9)
            with open(os.path.join(folder, "pid")) as file:
                pid = int(file.read())
            for _ in range(1000):
                if not os.path.exists("/proc/%d" % pid):
                    return
                time.sleep(0.05)
            os.kill(pid, signal.SIGKILL)
            self.fail("the test's process is still there")

    def test_no_program(self):
        session = Session("test_corners.py", "-k", "test_no_leak or test_unmarked", VRAMTRACK_PROGRAM="/no/vramtrack")
        self.assertOutcomes(session, {"test_no_leak_passed": "error", "test_unmarked_passed": "passed"})
        self.assertIn("VRAMTRACK_PROGRAM", session.text("test_no_leak_passed"))

    def test_not_traced(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "vramtrack")
            with open(program, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
            os.chmod(program, 0o755)
            session = Session("test_corners.py", "-k", "test_no_leak", VRAMTRACK_PROGRAM=program)
        self.assertOutcomes(session, {"test_no_leak_passed": "failure"})


if __name__ == "__main__":
    unittest.main()
