#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: recipes_test.py VRAMTRACK MAKE_RANKS PAGE

The scripts of docs/fleet.md, as they are written there. Each must give the bytes of one `vramtrack summarize`.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

VRAMTRACK, MAKE_RANKS, PAGE = (os.path.abspath(path) for path in sys.argv[1:4])
RANKS = 40
TASKS = 6


def recipe(name):
    """The block of the page whose first comment is `name`."""
    with open(PAGE, encoding="utf-8") as page:
        (block,) = re.findall(r"^```sh\n(# %s\n.*?)^```$" % re.escape(name), page.read(), re.MULTILINE | re.DOTALL)
    return block


class RecipesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("bin"))
        os.mkdir(self.path("traces"))
        os.symlink(VRAMTRACK, self.path("bin/vramtrack"))
        subprocess.run([MAKE_RANKS, self.path("traces"), str(RANKS)], check=True)
        subprocess.run([VRAMTRACK, "summarize", self.path("traces"), "-o", self.path("expected.vts")], check=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def shell(self, script, code=0, **environment):
        environment = dict(os.environ, PATH=self.path("bin") + os.pathsep + os.environ["PATH"], **environment)
        ran = subprocess.run(["sh", "-c", script], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=240)
        self.assertEqual(ran.returncode, code, ran.stdout)
        return ran.stdout

    def assert_joined(self):
        self.assertEqual(self.content("job.vts"), self.content("expected.vts"))

    def test_one_machine(self):
        self.assertIn("LEAK", self.shell(recipe("one-machine.sh")))
        self.assert_joined()

    def test_xargs(self):
        self.shell(recipe("xargs.sh"))
        self.assertEqual(len(os.listdir(self.path("summaries"))), RANKS)
        self.assert_joined()

    def test_cluster(self):
        for task in range(TASKS):
            self.shell(recipe("map.sh"), TASK=str(task), TASKS=str(TASKS))
        self.assertEqual(len(os.listdir(self.path("summaries"))), RANKS)
        self.assertIn("leaks", self.shell(recipe("reduce.sh"), code=1))
        self.assert_joined()

    def test_a_task_fails_with_a_trace(self):
        with open(self.path("traces/rank-00003.vtrace"), "w", encoding="utf-8") as file:
            file.write("no trace\n" * 1000)
        self.assertIn("rank-00003.vtrace", self.shell(recipe("map.sh"), code=2, TASK="0", TASKS="2"))

    def test_nodes_without_a_shared_file_system(self):
        for node, ranks in (("one", "[02468]"), ("two", "[13579]")):
            self.shell("vramtrack summarize --detail job traces/*%s.vtrace -o %s.vts" % (ranks, node))
        self.shell("vramtrack merge one.vts two.vts -o job.vts")
        self.assert_joined()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
