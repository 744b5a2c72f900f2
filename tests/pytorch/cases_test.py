# SPDX-License-Identifier: Apache-2.0
"""usage: cases_test.py RUN...: runs cases untraced and traced, side by side, and holds the trace against PyTorch's counters.

What a case prints, how it ends and what PyTorch counts must be the same in both. At each checkpoint the trace must say the
same as PyTorch does: how many blocks were given out and taken back, how many bytes of them are live and were at most, how
often the driver was asked and how much it has given.
"""
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

import torch

import forking_python
import trace_events
import under_test
from runs import RUNS

HERE = os.path.dirname(os.path.realpath(__file__))
TIMEOUT_S = 60
ATTEMPTS = 8
# Threads take turns as they like, those of autograd too. Which free block an allocation gets then is chance, and with it
# how many are split and what the highest sum is: of `training` untraced, every second run counts one split more. What a
# traced run counts must then be what one untraced did, of all those tried so far; that two coins show different sides eight
# times each is less likely than 1 in 30,000. These counters are the same whatever the order:
ORDER_DOES_NOT_MATTER = tuple(
    "%s.%s.%s" % (what, pool, how) for what in ("allocation", "allocated_bytes", "requested_bytes")
    for pool in ("all", "small_pool", "large_pool") for how in ("allocated", "freed", "current"))


class Outcome:
    """One run of a script: what it printed and left behind. Untraced, a script without a launcher is forked from a process that has imported
    PyTorch."""

    def __init__(self, run, folder, pythons, traced):
        self.folder = folder
        os.mkdir(folder)
        environment = dict(os.environ, SIMCUDA_BACKED="1" if run.launcher else "0", PYTHONDONTWRITEBYTECODE="1", USE_LIBUV="0",
                           OMP_NUM_THREADS="1", **run.environment)
        if "PLUGGABLE" in run.environment:
            environment["PLUGGABLE"] = os.path.abspath(os.path.join("tests/pytorch", run.environment["PLUGGABLE"]))
        if traced:
            environment["LD_PRELOAD"] = under_test.preloaded(environment)
            environment["VRAMTRACK_OUTPUT"] = os.path.join(folder, "%p.vtrace")
        arguments = [os.path.join(HERE, "cases", run.script), *run.arguments]
        watched = {"WATCH_FOLDER": folder}
        self.forked = None
        if traced or run.launcher:
            self.files = [open(os.path.join(folder, name), "w+", encoding="utf-8") for name in ("stdout", "stderr")]
            self.process = subprocess.Popen([sys.executable, *run.launcher, *arguments], env=dict(environment, **watched),
                                            stdin=subprocess.DEVNULL, stdout=self.files[0], stderr=self.files[1], start_new_session=True)
        else:
            self.forked = threading.Thread(target=self.fork, args=(pythons, arguments, environment, watched))
            self.forked.start()

    def fork(self, pythons, arguments, environment, watched):
        try:
            finished = pythons.run(arguments, environment, TIMEOUT_S, watched)
            self.exit_code, self.stdout, self.stderr = finished.exit_code, finished.stdout, finished.stderr
        except RuntimeError as error:
            self.exit_code, self.stdout, self.stderr = str(error), "", ""

    def wait(self):
        if self.forked:
            self.forked.join()
            return
        try:
            self.exit_code = self.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.exit_code = "none within %d s" % TIMEOUT_S
        for file in self.files:
            file.seek(0)
        self.stdout, self.stderr = (file.read() for file in self.files)

    def checkpoints(self, role):
        path = os.path.join(self.folder, role + ".jsonl")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def trace(self, pid):
        return os.path.join(self.folder, "%d.vtrace" % pid)


class Check:
    """Collects what is wrong with one run."""

    def __init__(self):
        self.compared = 0
        self.wrong = []

    def equal(self, what, expected, found):
        self.compared += 1
        if expected != found:
            self.wrong.append("%s: %s, and should be %s" % (what, found, expected))


def left_to_chance(outcome, run):
    """The counters of one run that may differ between two runs untraced as well."""
    if not run.ordered:
        return {}
    return {(role, number, checkpoint["name"], device, name): value
            for role in run.roles for number, checkpoint in enumerate(outcome.checkpoints(role))
            for device, counters in checkpoint["devices"].items()
            for name, value in counters.items() if not name.startswith(ORDER_DOES_NOT_MATTER)}


def differences(before, after):
    return ["%s, checkpoint %d, %s, device %s, %s when traced: %s, and should be %s" %
            (*key, after.get(key), before.get(key)) for key in {**before, **after} if before.get(key) != after.get(key)]


def same_behaviour(check, run, plain, traced):
    """Adds to `check` what differs and may not, whatever the order of allocations."""
    check.equal("exit code untraced", run.exit_code, plain.exit_code)
    check.equal("exit code traced", plain.exit_code, traced.exit_code)
    check.equal("standard output", plain.stdout, traced.stdout)
    for role in run.roles:
        before, after = plain.checkpoints(role), traced.checkpoints(role)
        check.equal(role + ": checkpoints", [c["name"] for c in before], [c["name"] for c in after])
        check.equal(role + ": has checkpoints", True, bool(before))
        for one, other in zip(before, after):
            for device in one["devices"]:
                for name, value in one["devices"][device].items():
                    if name.startswith(ORDER_DOES_NOT_MATTER):
                        what = "%s, %s, device %s, %s when traced" % (role, one["name"], device, name)
                        check.equal(what, value, other["devices"][device].get(name))


def framework_level(check, where, blocks, counters):
    check.equal(where + "blocks given out", counters["allocation.all.allocated"], blocks.allocated)
    check.equal(where + "blocks taken back", counters["allocation.all.freed"], blocks.freed)
    check.equal(where + "bytes of blocks", counters["allocated_bytes.all.allocated"], blocks.bytes)
    check.equal(where + "live bytes", counters["allocated_bytes.all.current"], blocks.live_bytes)
    check.equal(where + "most live bytes", counters["allocated_bytes.all.peak"], blocks.peak)


def driver_level(check, where, segments, counters, kind):
    check.equal(where + "reserved bytes", counters["reserved_bytes.all.current"], segments.live_bytes)
    if kind == "segment":
        check.equal(where + "calls of cudaMalloc", counters["num_device_alloc"], segments.allocated)
        check.equal(where + "calls of cudaFree", counters["num_device_free"], segments.freed)


def same_as_pytorch(check, run, traced):
    for role in run.roles:
        # Before the first CUDA call there is no trace that a mark could go to.
        checkpoints = {c["mark"]: c for c in traced.checkpoints(role) if c["devices"]}
        if not checkpoints:
            continue
        pid = next(iter(checkpoints.values()))["pid"]
        seen = set()

        def at_mark(number, replay):
            checkpoint, sums = checkpoints.get(number), replay.sums
            if checkpoint is None:
                return
            seen.add(number)
            for device, counters in checkpoint["devices"].items():
                where = "%s, %s, device %s: " % (role, checkpoint["name"], device)
                if run.reserved:
                    framework_level(check, where, sums["framework_block", device], counters)
                    driver_level(check, where, sums[run.reserved, device], counters, run.reserved)
                elif checkpoint["name"].startswith("held "):
                    check.equal(where + "live bytes", int(checkpoint["name"].split()[1]), sums["device", device].live_bytes)
                elif counters:
                    # The pool rounds up, and tells only the sum.
                    blocks, allocated = sums["stream_ordered", device], counters["allocated_bytes.all.current"]
                    check.equal(where + "live bytes, about", True, 0 <= allocated - blocks.live_bytes <=
                                512 * (blocks.allocated - blocks.freed))
            unknown = [event for event in replay.failures if event.operation == "free_unknown"]
            check.equal("%s, %s: frees of the unknown" % (role, checkpoint["name"]), [], unknown)

        trace_events.replay(trace_events.read(traced.trace(pid)), at_mark)
        check.equal(role + ": marks in the trace", sorted(checkpoints), sorted(seen & set(checkpoints)))


def out_of_memory(check, traced):
    """Every OutOfMemoryError is in the trace with what was asked for."""
    pid = traced.checkpoints("main")[0]["pid"]
    asked = [event.bytes for event in trace_events.read(traced.trace(pid))
             if event.operation == "fail" and event.kind == "framework_block"]
    check.equal("requests that failed", [64 << 20, 200 << 20, 4 << 30], asked)


def passed_over(run):
    """Why the machine's own PyTorch does not do this run; None if it does."""
    if not under_test.OWN_PYTORCH:
        return None
    if "SIMCUDA_MEMORY" in run.environment:
        return "it is for a small device"
    if torch.cuda.device_count() < int(run.environment.get("SIMCUDA_DEVICES", 1)):
        return "there are too few devices"
    missing = [module for module in run.modules if importlib.util.find_spec(module) is None]
    return "%s is not installed" % missing[0] if missing else None


def run_one(name, folder, pythons):
    run = RUNS[name]
    why_not = passed_over(run)
    if why_not:
        print("%-20s skipped: %s" % (name, why_not))
        return True
    seen_plain, seen_traced = [], []
    for attempt in range(ATTEMPTS):
        check = Check()
        plain = Outcome(run, os.path.join(folder, "%s-plain-%d" % (name, attempt)), pythons, traced=False)
        traced = Outcome(run, os.path.join(folder, "%s-traced-%d" % (name, attempt)), pythons, traced=True)
        plain.wait()
        traced.wait()
        same_behaviour(check, run, plain, traced)
        seen_plain.append(left_to_chance(plain, run))
        seen_traced.append(left_to_chance(traced, run))
        check.compared += len(seen_plain[-1])
        by_chance = min((differences(before, after) for before in seen_plain for after in seen_traced), key=len)
        if check.wrong or not by_chance:
            break
    same_as_pytorch(check, run, traced)
    if name == "out_of_memory":
        out_of_memory(check, traced)
    wrong = check.wrong + by_chance
    print("%-20s %6d comparisons, %d wrong%s" % (name, check.compared, len(wrong), ", %d attempts" % (attempt + 1)
                                                 if attempt else ""), flush=True)
    for line in wrong[:20]:
        print("  " + line)
    if traced.exit_code != run.exit_code:
        print(traced.stderr[-3000:])
    return not wrong


def main():
    with tempfile.TemporaryDirectory() as folder, forking_python.Pythons() as pythons:
        return 0 if all([run_one(name, folder, pythons) for name in sys.argv[1:] or RUNS]) else 1


if __name__ == "__main__":
    sys.exit(main())
