# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/ci.md, as they are written there, with a job that leaks and one that does not."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import yaml

ROOT = os.getcwd()
PAGE = os.path.join(ROOT, "docs", "ci.md")
TRAIN = os.path.join(ROOT, "tests", "ci", "train.py")
LIBRARY = os.path.join(ROOT, "interpose", "libvramtrack.so")
PROGRAM = os.path.join(ROOT, "analyzer", "vramtrack")
with open(TRAIN, encoding="utf-8") as _source:
    LEAK_LINE = next(number for number, line in enumerate(_source, 1) if line.endswith("# LEAK\n"))

# Commands that stand for what is not here: a package index, GitHub, Slurm.
STAND_INS = {
    "pip": 'case "$*" in *install*vramtrack*) ;; *) exit 9 ;; esac',
    "gh": 'case "$1 $2" in "run list") cat "$GH_LAST_RUN" ;; '
          '"run download") cp -r "$GH_TRACE" "$7" ;; *) exit 9 ;; esac',
    "srun": 'for i in 0 1; do SLURM_STEP_ID=0 SLURM_PROCID=$i SLURM_LOCALID=$i SLURM_NTASKS=2 "$@" & pids="$pids $!"; done; '
            'for pid in $pids; do wait "$pid" || exit 1; done',
}


def recipe(name):
    """The block of the page whose first comment is `name`."""
    with open(PAGE, encoding="utf-8") as page:
        blocks = re.findall(r"^```(?:yaml|sh|dockerfile)\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if re.search("^# %s$" % re.escape(name), block, re.MULTILINE)]
    return block


class Project:
    """A folder with train.py in which commands are run."""

    def __init__(self, folder):
        self.folder = folder
        commands = os.path.join(folder, "bin")
        os.makedirs(commands)
        shutil.copy(TRAIN, folder)
        for name, script in STAND_INS.items():
            self._command(commands, name, script)
        os.symlink(PROGRAM, os.path.join(commands, "vramtrack"))
        self.environment = dict(os.environ, PATH=os.pathsep.join([commands, os.path.dirname(sys.executable), os.environ["PATH"]]),
                                VRAMTRACK_LIBRARY=LIBRARY, VRAMTRACK_REPORT_SECONDS="600", SIMCUDA_BACKED="0", SIMCUDA_DEVICES="2", OMP_NUM_THREADS="1",
                                PYTHONDONTWRITEBYTECODE="1", GITHUB_STEP_SUMMARY=self.path("summary.md"),
                                GH_LAST_RUN=self.path("last-run"), GH_TRACE=self.path("main-trace"), SLURM_JOB_ID="17")
        with open(self.path("last-run"), "w", encoding="utf-8"):
            pass  # there is none

    @staticmethod
    def _command(folder, name, script):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n%s\n" % script)
        os.chmod(path, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def shell(self, script, leak):
        """As the services start it. The exit code and what was printed."""
        ran = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, "bash"], cwd=self.folder,
                             env=dict(self.environment, LEAK="1" if leak else "0"), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=240)
        return ran.returncode, ran.stdout


class RecipesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = Project(os.path.join(folder.name, "project"))

    def github(self, leak, event):
        """The exit code of the step Check, and its output; the other steps must pass."""
        for name in ("trace", "baseline", "summary.md"):
            shutil.rmtree(self.project.path(name), ignore_errors=True)
        checked = None
        for step in yaml.safe_load(recipe(".github/workflows/memory.yml"))["jobs"]["memory"]["steps"]:
            condition = step.get("if")
            self.assertIn(condition, (None, "always()", "github.event_name == 'pull_request'"))
            if "run" not in step or condition == "github.event_name == 'pull_request'" and event != "pull_request":
                continue
            code, output = self.project.shell(step["run"], leak)
            if step["name"] == "Check":
                checked = code, output
            else:
                self.assertEqual(code, 0, step["name"] + ": " + output)
        return checked

    def keep_for_main(self):
        """The last trace becomes that of the main branch."""
        shutil.rmtree(self.project.path("main-trace"), ignore_errors=True)
        shutil.copytree(self.project.path("trace"), self.project.path("main-trace"))
        with open(self.project.path("last-run"), "w", encoding="utf-8") as last:
            last.write("4711\n")

    def test_github(self):
        code, output = self.github(leak=True, event="pull_request")
        self.assertEqual(code, 1, output)  # there is no baseline yet
        self.assertIn("::error file=train.py,line=%d,title=Memory leak::" % LEAK_LINE, output)
        with open(self.project.path("summary.md"), encoding="utf-8") as summary:
            self.assertIn("LEAK  train.py:%d" % LEAK_LINE, summary.read())
        # A pull request that leaks no more than the main branch passes.
        self.keep_for_main()
        code, output = self.github(leak=True, event="pull_request")
        self.assertEqual(code, 0, output)
        # The main branch is mended, and passes; now it does not.
        code, output = self.github(leak=False, event="push")
        self.assertEqual(code, 0, output)
        self.keep_for_main()
        code, output = self.github(leak=True, event="pull_request")
        self.assertEqual(code, 1, output)
        self.assertIn("::error file=train.py,line=%d,title=Memory leak::" % LEAK_LINE, output)

    def step(self, name):
        (script,) = [step["run"] for step in yaml.safe_load(recipe(".github/workflows/memory.yml"))["jobs"]["memory"]["steps"]
                     if step.get("name") == name]
        return self.project.shell(script, leak=False)

    def test_github_without_the_artifact_of_the_baseline(self):
        """The run of the main branch is there, and what it uploaded has expired."""
        with open(self.project.path("last-run"), "w", encoding="utf-8") as last:
            last.write("4711\n")
        code, output = self.step("Baseline")
        self.assertEqual(code, 0, output)
        self.assertFalse(os.path.exists(self.project.path("baseline")))

    def test_github_summary_of_a_job_without_a_verdict(self):
        """After a failed step there is no trace, and a job of three steps has too little evidence: the block is closed all the same."""
        for steps in (None, 3):
            if steps:
                code, output = self.project.shell("vramtrack run --quiet -o trace -- python train.py --steps %d" % steps, leak=False)
                self.assertEqual(code, 0, output)
            code, output = self.step("Summary")
            self.assertEqual(code, 0, output)
        with open(self.project.path("summary.md"), encoding="utf-8") as summary:
            lines = summary.read().splitlines()
        self.assertEqual(lines.count("```"), 4)
        self.assertEqual(lines[-1], "```")

    def test_gitlab(self):
        job = yaml.safe_load(recipe(".gitlab-ci.yml"))["memory"]
        reports = job["artifacts"]["reports"]
        for leak, expected in ((False, 0), (True, 1)):
            shutil.rmtree(self.project.path("trace"), ignore_errors=True)
            code, output = self.project.shell("\n".join(job["script"]), leak)
            self.assertEqual(code, expected, output)
            with open(self.project.path(reports["codequality"]), encoding="utf-8") as file:
                places = [finding["location"] for finding in json.load(file)]
            self.assertEqual(places, [{"path": "train.py", "lines": {"begin": LEAK_LINE}}] if leak else [])
            suite = xml.etree.ElementTree.parse(self.project.path(reports["junit"])).getroot()
            self.assertEqual(suite.get("failures"), str(int(leak)))

    def test_slurm(self):
        script = recipe("memory.sbatch")
        self.assertTrue(script.startswith("#!/bin/bash\n"))
        code, output = self.project.shell(script, leak=True)
        self.assertEqual(code, 1, output)
        self.assertEqual(len(os.listdir(self.project.path("traces/17"))), 2)
        self.assertIn("train.py:%d" % LEAK_LINE, output)
        self.assertRegex(self.project.shell("vramtrack report traces/17 --show ranks", leak=True)[1], r"rank +process .*\n +0 .*\n +1 ")

    def test_launchers(self):
        for launcher, pair in zip(("torchrun", "accelerate"), recipe("launchers.sh").split("\n\n")):
            leak = launcher == "torchrun"
            code, output = self.project.shell(pair, leak)
            self.assertEqual(code, int(leak), output)
            self.assertEqual(len(os.listdir(self.project.path(launcher + "-trace"))), 2, output)
            if leak:
                self.assertIn("train.py:%d" % LEAK_LINE, output)

    def test_container(self):
        """What the image would run; the image itself is not made."""
        words = {line.split(None, 1)[0]: line.split(None, 1)[1] for line in recipe("Containerfile").splitlines()[1:]}
        code, output = self.project.shell(words["RUN"], leak=False)
        self.assertEqual(code, 0, output)
        os.mkdir(self.project.path("traces"))
        command = [word.replace("/traces", self.project.path("traces"))
                   for word in json.loads(words["ENTRYPOINT"]) + json.loads(words["CMD"])]
        code, output = self.project.shell(" ".join(command), leak=True)
        self.assertEqual(code, 0, output)
        self.assertIn("LEAK  train.py:%d" % LEAK_LINE, output)


if __name__ == "__main__":
    unittest.main()
