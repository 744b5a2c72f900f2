# SPDX-License-Identifier: Apache-2.0
"""usage: pytorch_moments_test.py [--times N] [--layers N] [--width N] [--parallel N] [--keep-going]

`vramtrack attach` at N random moments of the life of PyTorch jobs on the simulated device (pytorch_jobs.py): no job crashes or
hangs, and each computes what it computes without. Ends with the distribution of the pauses. By hand:

    tools/simulated-cuda -- .venv/pytorch/bin/python tests/attach/pytorch_moments_test.py --times 1000
"""
import argparse
import collections
import math
import os
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HANGS = 300
MOST_STEPS = 3000
KINDS = ("training", "training", "workers", "threads")
CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VRAMTRACK = os.path.abspath(os.environ.get("VRAMTRACK_PROGRAM", os.path.join(CHECKOUT, ".bazel/bin/analyzer/vramtrack")))
LIBRARY = os.path.abspath(os.environ.get("PRELOAD_LIBRARY", os.path.join(CHECKOUT, ".bazel/bin/interpose/libvramtrack.so")))
JOBS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytorch_jobs.py")


class Jobs:
    """The process that starts the jobs, one after the other."""

    def __init__(self, options):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([sys.executable, JOBS, str(options.layers), str(options.width)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)
        self.rest = b""

    def ask(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def line(self):
        end = time.monotonic() + HANGS
        while b"\n" not in self.rest:
            ready = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]
            assert ready, "hangs"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, "the jobs ended: " + self.said()
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def expected(self, kind):
        self.ask("expected %s %d" % (kind, MOST_STEPS))
        self.line()
        results = [self.line() for _ in range(MOST_STEPS)]
        assert self.line() == "ended 0"
        return results

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=HANGS) == 0, self.said()
        assert self.said() == "", self.said()


class Moments:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="moments")
        self.lock = threading.Lock()
        self.ended = threading.Semaphore(0)  # of workers
        self.left = options.times
        self.pauses = collections.defaultdict(list)
        self.failures = []
        self.expected = {}

    def run(self, *arguments):
        return subprocess.run([VRAMTRACK, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=HANGS, env=dict(os.environ, VRAMTRACK_LIBRARY=LIBRARY, LD_PRELOAD="",
                                                                 LD_LIBRARY_PATH=""))

    def one(self, jobs, number, rng):
        kind = rng.choice(KINDS)
        jobs.ask("%s %d" % (kind, rng.randrange(1, 6)))
        word, pid = jobs.line().split()
        assert word == "started", word
        # While CUDA is initialized and the model is made, or later.
        begins = rng.random() < 0.4
        if not begins:
            assert jobs.line() == "ready"
        time.sleep(rng.uniform(0, 2))
        folder = os.path.join(self.folder, str(number))
        done = self.run("attach", pid, "-o", folder, "--timeout", "120")
        if begins:
            assert jobs.line() == "ready"
        time.sleep(rng.uniform(0, 0.3))
        stopped = self.run("stop", pid) if rng.random() < 0.3 else None
        jobs.ask("end")
        answer = jobs.line()
        assert not answer.startswith("ended"), (kind, answer, done)
        ended = jobs.line()
        word, steps, result = answer.split()
        assert word == "fine" and ended == "ended 0", (kind, answer, ended, jobs.said())
        expected = self.expected[kind][int(steps) - 1] if int(steps) <= MOST_STEPS else "nan"
        # Libraries for matrices add in another order if fewer threads than usual run on a busy machine.
        assert math.isclose(float.fromhex(result), float.fromhex(expected), rel_tol=1e-5), (kind, answer, "another result", expected)
        assert done.returncode == 0, (kind, done)
        # A job that has made no call yet writes no trace.
        assert stopped is None or stopped.returncode == 0, (kind, stopped)
        pause = float(re.search(r"paused for ([\d.]+) ms", done.stdout).group(1))
        with self.lock:
            self.pauses[kind].append(pause)
        shutil.rmtree(folder, ignore_errors=True)

    def work(self, jobs, seed):
        try:
            self.work_until_done(jobs, random.Random(seed))
        finally:
            self.ended.release()

    def work_until_done(self, jobs, rng):
        while True:
            with self.lock:
                if self.left <= 0 or (self.failures and not self.options.keep_going):
                    return
                self.left -= 1
                number = self.left
            try:
                self.one(jobs, number, rng)
            except Exception as error:  # pylint: disable=broad-except
                with self.lock:
                    self.failures.append("%d: %r; %s" % (number, error, jobs.said()[-2000:]))
                    print(self.failures[-1], flush=True)
                if self.options.hold:
                    time.sleep(100000)
                jobs.process.kill()
                jobs = Jobs(self.options)

    def report(self):
        pauses = sorted(pause for each in self.pauses.values() for pause in each)
        print("attached %d times: %d failures" % (len(pauses), len(self.failures)))
        for name, each in [*sorted(self.pauses.items()), ("all", pauses)] if pauses else []:
            each = sorted(each)
            at = lambda share: each[min(len(each) - 1, int(share * len(each)))]
            print("%-9s %5d  a thread paused for %.1f ms (median), %.1f (90 %%), %.1f (99 %%), %.1f (most)" %
                  (name, len(each), at(0.5), at(0.9), at(0.99), each[-1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--hold", action="store_true", help="leave a job that has failed as it is, to look at it")
    options = parser.parse_args()
    if options.width % 12 != 0:
        parser.error("--width %d: expected a multiple of 12, the number of heads" % options.width)
    print("seed", options.seed, flush=True)
    moments = Moments(options)
    try:
        jobs = [Jobs(options) for _ in range(options.parallel)]
        for kind in set(KINDS):
            moments.expected[kind] = jobs[0].expected(kind)
        threads = [threading.Thread(target=moments.work, args=(each, options.seed + i)) for i, each in enumerate(jobs)]
        for thread in threads:
            thread.start()
        waiting = len(threads)
        while waiting > 0:
            try:
                moments.ended.acquire()  # an interrupted join() would take a thread for ended
                waiting -= 1
            except KeyboardInterrupt:  # ends early
                moments.left = 0
        if not moments.failures:
            for each in jobs:
                each.close()
    finally:
        shutil.rmtree(moments.folder, ignore_errors=True)
    moments.report()
    return 1 if moments.failures else 0


if __name__ == "__main__":
    sys.exit(main())
