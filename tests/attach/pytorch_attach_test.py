# SPDX-License-Identifier: Apache-2.0
"""usage: pytorch_attach_test.py [TIMES]

`vramtrack attach` at random moments of a PyTorch job on the simulated device: the job's result is what it is without, and the
report names the line that leaks.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

JOB = """
import sys, torch
import torch.nn as nn
torch.manual_seed(7)
check = torch.nn.Linear(64, 64)        # on the host, where results are real
model = nn.Sequential(*[nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)) for _ in range(6)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
kept = []
print("ready", flush=True)
x = torch.ones(8, 64)
import select
total, steps = 0.0, 0
while steps < 60 or not select.select([sys.stdin], [], [], 0)[0]:
    model(torch.randn(32, 128, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    kept.append(torch.empty(2500, device="cuda"))  # the leak
    y = check(x).sum()
    y.backward()
    total = float(y)
    assert torch.equal(check.weight.grad, torch.full((64, 64), 8.0)), "another gradient"
    check.zero_grad()
    steps += 1
print("%.6f" % total, steps, flush=True)
"""
LEAK_LINE = 1 + JOB.split("\n").index('    kept.append(torch.empty(2500, device="cuda"))  # the leak')
HANGS = 300
VRAMTRACK, LIBRARY = os.path.abspath(os.environ["VRAMTRACK_PROGRAM"]), os.path.abspath(os.environ["PRELOAD_LIBRARY"])


def run(*arguments):
    return subprocess.run([VRAMTRACK, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=HANGS,
                          env=dict(os.environ, VRAMTRACK_LIBRARY=LIBRARY))


class Job:
    def __init__(self, folder):
        script = os.path.join(folder, "job.py")
        with open(script, "w") as file:
            file.write(JOB)
        program = "import ctypes, runpy, sys; ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0); " \
                  "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
        self.process = subprocess.Popen([sys.executable, "-c", program, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def ready(self):
        line = self.process.stdout.readline()
        assert line == "ready\n", (line, self.process.communicate())

    def end(self):
        output, errors = self.process.communicate(timeout=HANGS)
        assert self.process.returncode == 0, (self.process.returncode, errors)
        return output.split()[-2], int(output.split()[-1])


def events_in(trace):
    found = re.search(r"^  events +([\d,]+)", run("info", trace).stdout, re.MULTILINE)
    return int(found.group(1).replace(",", "")) if found else 0


def join(job, folder, *options):
    done = run("attach", str(job.process.pid), "-o", folder, "--timeout", "120", *options)
    assert done.returncode == 0, done
    return done.stdout.split("recording to ")[1].split(";")[0], float(done.stdout.split("paused for ")[1].split()[0])


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    pauses = []
    with tempfile.TemporaryDirectory() as folder:
        untouched = Job(folder)
        untouched.ready()
        expected, _ = untouched.end()
        for number in range(times):
            job = Job(folder)
            early = number % 3 == 2  # while it imports PyTorch and initializes CUDA
            if early:
                time.sleep(random.uniform(0.3, 3))
            else:
                job.ready()
                time.sleep(random.uniform(0, 0.5))
            with_holders = number % 3 == 1
            trace, pause = join(job, os.path.join(folder, str(number)), *(["--holders=request"] if with_holders else []))
            pauses.append(pause)
            if early:
                job.ready()
            deadline = time.monotonic() + HANGS
            while events_in(trace) < 20000:
                assert job.process.poll() is None and time.monotonic() < deadline, "nothing is recorded"
                time.sleep(0.1)
            walk = run("holders", str(job.process.pid), "--timeout", str(HANGS))
            if with_holders:
                assert walk.returncode == 0 and "walk 1 was written" in walk.stdout, walk
            else:
                assert walk.returncode == 2 and "holders are off in this process" in walk.stderr, walk
            result, steps = job.end()
            assert result == expected, (result, expected)
            report = json.loads(run("report", trace, "--format", "json").stdout)
            sites = {site["id"]: site for site in report["sites"]}
            leaks = [sites[site] for site in report["ranking"]]
            assert leaks and leaks[0]["verdict"] == "leak", report["ranking"]
            lines = [(os.path.basename(frame["file"]), frame["line"]) for frame in leaks[0]["frames"]]
            assert ("job.py", LEAK_LINE) in lines, lines
            assert abs(leaks[0]["rate_bytes_per_step"] - 10240) < 52, leaks[0]["rate_bytes_per_step"]
            holder = leaks[0]["holder"]
            assert holder["container"] == "__main__.kept" if with_holders else holder is None, holder
            # The allocator's own count includes what is older.
            assert not [line for line in report["warnings"] if "own count of its memory" in line], report["warnings"]
            assert early or [line for line in report["warnings"] if "from before the process was joined" in line], report["warnings"]
            assert report["processes"][0]["joined_after_s"] > 0 and report["processes"][0]["complete"], report["processes"]
    pauses.sort()
    print("attached %d times; a thread paused for %.1f ms (median) to %.1f ms" %
          (times, pauses[len(pauses) // 2], pauses[-1]))


if __name__ == "__main__":
    main()
