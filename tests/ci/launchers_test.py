# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/launchers.md, as they are written there, with a job that leaks on each rank."""
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = os.getcwd()
PAGE = os.path.join(ROOT, "docs", "launchers.md")
TRAIN = os.path.join(ROOT, "tests", "ci", "train.py")
LIBRARY = os.path.join(ROOT, "interpose", "libvramtrack.so")
PROGRAM = os.path.join(ROOT, "analyzer", "vramtrack")

# Commands that take the place of what a single machine lacks. Both start two processes with the variables that the real ones set.
STAND_INS = {
    "mpirun": 'shift 4; for i in 0 1; do OMPI_COMM_WORLD_RANK=$i LOCAL_RANK=$i "$@" & pids="$pids $!"; done; '
              'for pid in $pids; do wait "$pid" || exit 1; done',
    "srun": 'for i in 0 1; do SLURM_STEP_ID=0 SLURM_PROCID=$i SLURM_LOCALID=$i "$@" & pids="$pids $!"; done; '
            'for pid in $pids; do wait "$pid" || exit 1; done',
}


def blocks():
    """{name: text} of the blocks of the page that begin with a comment that is a file's name."""
    with open(PAGE, encoding="utf-8") as page:
        found = re.findall(r"^```\w+\n(# (\S+\.\w+)\n.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)
    return {name: text for text, name in found}


def marked_line(text):
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# LEAK"))


with open(TRAIN, encoding="utf-8") as _source:
    LEAK_LINE = marked_line(_source.read())


def free_port():
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


class LaunchersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        programs = self.path("bin")
        os.mkdir(programs)
        for name, script in STAND_INS.items():
            with open(os.path.join(programs, name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n%s\n" % script)
            os.chmod(os.path.join(programs, name), 0o755)
        os.symlink(PROGRAM, os.path.join(programs, "vramtrack"))
        shutil.copy(TRAIN, self.folder)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("VRAMTRACK_", "SLURM_", "TORCHELASTIC_"))}
        self.environment = dict(kept, PATH=os.pathsep.join([programs, os.path.dirname(sys.executable), os.environ["PATH"]]), LEAK="1",
                                VRAMTRACK_LIBRARY=LIBRARY, SIMCUDA_BACKED="0", SIMCUDA_DEVICES="2", OMP_NUM_THREADS="1",
                                PYTHONDONTWRITEBYTECODE="1")

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, script, **variables):
        return subprocess.Popen(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, "bash"], cwd=self.folder,
                                env=dict(self.environment, **variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, encoding="utf-8", start_new_session=True)

    def finish(self, *started):
        """What they printed; each must succeed."""
        for process in started:
            self.addCleanup(self.end, process)
        outputs = [process.communicate(timeout=240)[0] for process in started]
        for process, output in zip(started, outputs):
            self.assertEqual(process.returncode, 0, output)
        return outputs

    @staticmethod
    def end(process):
        """Ends what a failed test has left behind."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def report(self, traces):
        ran = subprocess.run([PROGRAM, "report", self.path(traces), "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             encoding="utf-8", timeout=240, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout)

    def check(self, traces, ranks, line):
        """The report of a folder covers all ranks. All leaks are at the marked line, and come to one tensor of 64 KiB per step and rank."""
        report = self.report(traces)
        self.assertEqual(sorted(process["rank"] for process in report["processes"]), list(range(ranks)))
        leaks = [site for site in report["sites"] if site["verdict"] == "leak"]
        self.assertEqual({frame["line"] for site in leaks for frame in site["frames"] if frame["function"] == "<module>"}, {line})
        self.assertEqual(round(sum(site["rate_bytes_per_step"] for site in leaks)), ranks * (64 << 10))

    def test_torchrun_on_one_node(self):
        self.finish(self.start(blocks()["torchrun.sh"]))
        self.check("one-node", 2, LEAK_LINE)

    def test_torchrun_on_two_nodes(self):
        script = blocks()["torchrun-nodes.sh"]
        self.assertIn("29500", script)
        script = script.replace("29500", str(free_port()))
        self.finish(*[self.start(script, NODE=node, HEAD="localhost", JOB="job7") for node in ("0", "1")])
        self.check("traces-job7", 4, LEAK_LINE)

    def test_mpi(self):
        self.finish(self.start(blocks()["mpi.sh"]))
        self.check("mpi-traces", 2, LEAK_LINE)

    def test_slurm(self):
        self.finish(self.start(blocks()["slurm.sh"], SLURM_JOB_ID="17"))
        self.check("traces-17", 2, LEAK_LINE)

    def test_fsdp(self):
        program = blocks()["fsdp.py"]
        with open(self.path("fsdp.py"), "w", encoding="utf-8") as file:
            file.write(program)
        self.finish(self.start(blocks()["fsdp.sh"]))
        self.check("fsdp-trace", 2, marked_line(program))

    def test_a_container_that_restarts(self):
        """The first start leaks, the second does not. Both have the same PIDs, as in a container."""
        alone = ["unshare", "--user", "--map-root-user", "--fork", "--pid", "--mount-proc"]
        if subprocess.run(alone + ["true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("this machine allows no PID namespaces")
        container = yaml.safe_load(blocks()["train-job.yaml"])["spec"]["template"]["spec"]["containers"][0]
        os.mkdir(self.path("traces"))
        command = [word.replace("/traces", self.path("traces")) for word in container["command"]]
        for leak in ("1", "0"):
            self.finish(self.start(shlex.join(alone + command), LEAK=leak))
        first, second = sorted(os.listdir(self.path("traces/train")), key=len)
        self.assertEqual(second, first.replace(".vtrace", ".2.vtrace"))
        self.assertEqual(self.report("traces/train")["ranking"], [])
        self.assertEqual(len(self.report("traces/train/" + first)["ranking"]), 1)


if __name__ == "__main__":
    unittest.main()
