# SPDX-License-Identifier: Apache-2.0
"""The model of PyTorch's caching allocator against PyTorch's caching allocator.

At default settings and with expandable segments it must reserve what the allocator reserved, after every single block.
What it predicts from a trace at default settings must be near what a run with another setting does.
"""
import json
import os
import subprocess
import sys
import tempfile

import forking_python
import under_test

HERE = os.path.dirname(os.path.realpath(__file__))
CHECK = os.path.abspath(os.environ["CHECK_MODEL"])
WORKLOAD = os.path.join(HERE, "allocator_model", "workloads.py")
TIMEOUT_S = 120
SMALL = {"SIMCUDA_MEMORY": "1G"}

# Name of the workload, and what else its environment has.
DEFAULT = [("training", {}), ("lengths", {}), ("emptied", {}), ("churn", {}), ("streams", {}), ("captured", {}),
           ("growth", {}), ("refused", SMALL), ("holes", SMALL)]
# Drawn from a seed: of any sizes, on one to three streams, emptied now and then or not.
SEEDS = range(1, 7)
DEFAULT += [("any_order:%d" % seed, {}) for seed in SEEDS]
# Workload, setting, and how many of its blocks may be followed by a difference.
WITH_SETTING = [("lengths", "expandable_segments:True", 0.0), ("churn", "expandable_segments:True", 0.0),
                ("emptied", "expandable_segments:True", 0.0), ("streams", "expandable_segments:True", 0.0),
                ("any_order:4", "expandable_segments:True", 0.0), 
                ("any_order:5", "roundup_power2_divisions:4", 0.0)]
# What a request was before it was given a larger block is not in a trace: the model may be wrong by one of the pieces
# that memory is taken in, or by this share.
PIECE = 20 << 20
SHARE = 0.02
# Workload and setting.
FORETOLD = [("lengths", "expandable_segments:True"), ("churn", "expandable_segments:True"),
            ("growth", "expandable_segments:True"), ("emptied", "expandable_segments:True"),
            ("streams", "expandable_segments:True"), ("lengths", "roundup_power2_divisions:4"),
            ("growth", "roundup_power2_divisions:2")]
# A pass with the largest shape before the others: of one workload foretold, and made by the other, which has no
# optimizer's state yet when it makes it.
PREALLOCATED = ("lengths", "preallocated", "preallocate:largest")
PREALLOCATED_SHARE = 0.05


class Runs:
    """Traced runs of the workloads, each made once."""

    def __init__(self, folder, pythons):
        self.folder = folder
        self.pythons = pythons
        self.made = {}

    def run(self, workload, **extra):
        key = workload, tuple(sorted(extra.items()))
        if key not in self.made:
            self.made[key] = self.make(workload, extra)
        return self.made[key]

    def make(self, workload, extra):
        trace, printed = self.pythons.traced([WORKLOAD, workload], self.folder, TIMEOUT_S, **extra)
        return trace, json.loads(printed.splitlines()[-1])


def check_model(trace, *settings):
    done = subprocess.run([CHECK, trace, *settings], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=True)
    return json.loads(done.stdout)[0]


def report(trace):
    done = subprocess.run([under_test.VRAMTRACK, "report", trace, "--format", "json"], stdout=subprocess.PIPE,
                          text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode not in (0, 1, 3):  # 3: not enough evidence for a verdict on leaks
        raise RuntimeError("report %s: exit code %d" % (trace, done.returncode))
    return json.loads(done.stdout)


def near(foretold_bytes, real_bytes):
    return abs(foretold_bytes - real_bytes) <= max(PIECE, SHARE * real_bytes)


class Verdict:
    def __init__(self):
        self.failed = 0

    def say(self, right, text):
        self.failed += not right
        print("%s  %s" % ("    " if right else "FAIL", text), flush=True)


def same_as_pytorch(runs, verdict):
    for workload, extra in DEFAULT:
        trace, told = runs.run(workload, **extra)
        found = check_model(trace)
        right = (found["differences"] == 0 and
                 found["model_reserved_peak"] == found["reserved_peak"] == told["reserved"])
        verdict.say(right, "%-9s %6d blocks, %d with another sum reserved; %d pools" %
                    (workload, found["blocks"], found["differences"], found["arenas"]))


def with_settings(runs, verdict):
    for workload, setting, allowed in WITH_SETTING:
        trace, told = runs.run(workload, PYTORCH_CUDA_ALLOC_CONF=setting)
        found = check_model(trace)
        verdict.say(found["differences"] <= allowed * found["blocks"],
                    "%-9s with %s: %d of %d blocks with another sum reserved; at the peak %d, PyTorch %d" %
                    (workload, setting, found["differences"], found["blocks"], found["model_reserved_peak"],
                     told["reserved"]))


def foretold(runs, verdict):
    for workload, setting in FORETOLD:
        trace, before = runs.run(workload)
        model = check_model(trace, setting)["trials"][setting]["reserved_peak"]
        _, real = runs.run(workload, PYTORCH_CUDA_ALLOC_CONF=setting)
        error = model / real["reserved"] - 1
        verdict.say(near(model, real["reserved"]),
                    "%-9s with %s: %.1f MiB foretold, %.1f MiB reserved (%+.2f %%), %.1f without" %
                    (workload, setting, model / 2**20, real["reserved"] / 2**20, 100 * error,
                     before["reserved"] / 2**20))


def preallocated(runs, verdict):
    workload, made, setting = PREALLOCATED
    trace, before = runs.run(workload)
    model = check_model(trace, setting)["trials"][setting]["reserved_peak"]
    _, real = runs.run(made)
    error = abs(model - real["reserved"])
    verdict.say(error <= PREALLOCATED_SHARE * real["reserved"] and real["reserved"] < 0.75 * before["reserved"],
                "%-9s with the largest batch first: %.1f MiB foretold, %.1f MiB reserved, %.1f without" %
                (workload, model / 2**20, real["reserved"] / 2**20, before["reserved"] / 2**20))


def advised(runs, verdict):
    """What the report advises saves what it says, and it does not advise what does not help."""
    for workload in ("lengths", "growth"):
        trace, before = runs.run(workload)
        found = report(trace)["devices"][0]["fragmentation"]
        use = found["at_reserved_peak"]
        verdict.say(use["reserved"] == use["live"] + use["free_releasable"] + use["free_pinned"] == before["reserved"],
                    "%s: the segments at their peak add up to what PyTorch reserved" % workload)
        verdict.say(sum(pin["bytes"] for pin in found["pins"]) == use["free_pinned"],
                    "%s: the bytes pinned add up" % workload)
        advice = found["advice"][0] if found["advice"] else None
        verdict.say(advice is not None and advice["setting"] == "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                    "%s: %s" % (workload, advice))
        if advice:
            name, value = advice["setting"].split("=")
            _, after = runs.run(workload, **{name: value})
            verdict.say(near(advice["reserved_after"], after["reserved"]) and
                        advice["reserved_before"] == before["reserved"],
                        "%s: %d foretold, %d reserved" % (workload, advice["reserved_after"], after["reserved"]))
    trace, _ = runs.run("training")
    verdict.say(not report(trace)["devices"][0]["fragmentation"]["advice"], "training: nothing to advise")


def out_of_memory(runs, verdict):
    """A request that failed for lack of one piece; with the setting it is fulfilled in fact."""
    trace, _ = runs.run("holes", **SMALL)
    failures = [oom for oom in report(trace)["oom"] if oom["level"] == "framework"]
    settings = [fit["setting"] for oom in failures for fit in oom["would_fit"]]
    setting = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    verdict.say(setting in settings, "holes: would have fitted with %s" % settings)
    name, value = setting.split("=")
    environment = dict(os.environ, SIMCUDA_BACKED="0", **{name: value}, **SMALL)
    done = subprocess.run([sys.executable, WORKLOAD, "holes"], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S,
                          env=environment, check=True)
    verdict.say("out of memory" not in done.stdout, "holes: and does")
    trace, _ = runs.run("limited")
    failures = [(oom["cause"], oom["would_fit"]) for oom in report(trace)["oom"]]
    verdict.say(failures == [(None, [])], "limited: no setting is told to help: %s" % failures)


def main():
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as folder, forking_python.Pythons() as pythons:
        runs = Runs(folder, pythons)
        for check in (same_as_pytorch, with_settings, foretold, preallocated, advised, out_of_memory):
            print(check.__name__)
            check(runs, verdict)
    return 1 if verdict.failed else 0


if __name__ == "__main__":
    sys.exit(main())
