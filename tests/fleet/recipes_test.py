#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: recipes_test.py VRAMTRACK MAKE_RANKS PAGE

The recipes of docs/fleet.md, as they are written there, but for Ray's. Each must give the bytes of one `vramtrack summarize`.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

VRAMTRACK, MAKE_RANKS, PAGE = (os.path.abspath(path) for path in sys.argv[1:4])
RANKS = 40

# Commands that stand for a cluster. sbatch keeps a job's exit code under its number and starts what depends on it only after
# success; srun runs its command on two nodes.
STAND_INS = {
    "sbatch": r"""
tasks=1 after=
while [ $# -gt 1 ]; do
  case $1 in
    --parsable) ;;
    --array=0-*) tasks=$((${1#--array=0-} + 1)) ;;
    --dependency=afterok:*) after=${1#--dependency=afterok:} ;;
    *) exit 9 ;;
  esac
  shift
done
id=$(($(ls | grep -c '^slurm-') + 1))
if [ -n "$after" ] && [ "$(cat "slurm-$after")" != 0 ]; then echo "DependencyNeverSatisfied" >&2; exit 1; fi
code=0 task=0
while [ $task -lt $tasks ]; do
  SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$tasks bash "$1" >> "out-$id" 2>&1 || code=$?
  task=$((task + 1))
done
echo $code > "slurm-$id"
echo $id
""",
    "srun": r"""
[ "$1" = --ntasks-per-node=1 ] || exit 9
shift
for node in one two; do (cd "$NODES/$node" && SLURMD_NODENAME=$node "$@") || exit; done
""",
    "scp": r"""[ "$1" = -q ] && cp "$2" "${3#login:}" """,
}


def recipe(name):
    """The block of the page whose first comment is `name`."""
    with open(PAGE, encoding="utf-8") as page:
        blocks = re.findall(r"^```(?:sh|make)\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if re.search("^# %s$" % re.escape(name), block, re.MULTILINE)]
    return block


class RecipesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("bin"))
        os.mkdir(self.path("traces"))
        for name, script in STAND_INS.items():
            self.write("bin/" + name, "#!/bin/sh\n" + script, 0o755)
        os.symlink(VRAMTRACK, self.path("bin/vramtrack"))
        self.environment = dict(os.environ, PATH=self.path("bin") + os.pathsep + os.environ["PATH"], NODES=self.path("nodes"),
                                SLURM_SUBMIT_HOST="login", SLURM_SUBMIT_DIR=self.folder)
        subprocess.run([MAKE_RANKS, self.path("traces"), str(RANKS)], check=True)
        subprocess.run([VRAMTRACK, "summarize", self.path("traces"), "-o", self.path("expected.vts")], check=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def shell(self, script, code=0):
        ran = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=240)
        self.assertEqual(ran.returncode, code, ran.stdout)
        return ran.stdout

    def assert_joined(self, name="job.vts"):
        self.assertEqual(self.content(name), self.content("expected.vts"))

    def test_one_machine(self):
        self.assertIn("LEAK", self.shell(recipe("one-machine.sh")))
        self.assert_joined()

    def test_xargs(self):
        self.shell(recipe("xargs.sh"))
        self.assertEqual(len(os.listdir(self.path("summaries"))), RANKS)
        self.assert_joined()

    @unittest.skipUnless(shutil.which("make"), "make is not installed")
    def test_make(self):
        self.write("Makefile", recipe("Makefile"))
        self.shell("make -j 2")
        self.assert_joined()
        self.assertIn("up to date", self.shell("make -j 2"))
        os.utime(self.path("traces/rank-00007.vtrace"))
        again = self.shell("make -j 2")
        self.assertEqual((again.count("summarize"), again.count("merge")), (1, 1), again)
        self.assert_joined()

    def slurm(self, code):
        for name in ("map.sbatch", "reduce.sbatch"):
            self.write(name, recipe(name))
        return self.shell(recipe("submit.sh"), code)

    def test_slurm(self):
        self.slurm(0)
        self.assert_joined()
        self.assertEqual(self.content("slurm-1"), b"0\n")
        self.assertEqual(self.content("slurm-2"), b"1\n")  # check: it leaks
        self.assertIn(b"leaks", self.content("out-2"))

    def test_slurm_reduces_nothing_after_a_failure(self):
        self.write("traces/rank-00003.vtrace", "no trace\n" * 1000)
        self.assertIn("DependencyNeverSatisfied", self.slurm(1))
        self.assertIn(b"rank-00003.vtrace", self.content("out-1"))
        self.assertFalse(os.path.exists(self.path("job.vts")))

    def test_nodes_without_a_shared_file_system(self):
        os.mkdir(self.path("summaries"))
        for at, node in enumerate(("one", "two")):
            os.makedirs(self.path("nodes/%s/tmp/trace" % node))
            for rank in range(at, RANKS, 2):
                name = "rank-%05d.vtrace" % rank
                shutil.copy(self.path("traces/" + name), self.path("nodes/%s/tmp/trace/%s" % (node, name)))
        # A node's /tmp is a folder here.
        script = recipe("send.sh")
        self.assertEqual(script.count("/tmp/"), 3)
        self.shell(script.replace("/tmp/", "tmp/") + "vramtrack merge summaries -o job.vts\n")
        self.assertEqual(sorted(os.listdir(self.path("summaries"))), ["one.vts", "two.vts"])
        self.assert_joined()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
