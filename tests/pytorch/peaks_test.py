# SPDX-License-Identifier: Apache-2.0
"""What is live at the peak of a training job, by category, must be what the job's own tensors say it is.

The spike that makes the peak is left out: of the other bytes at least BAR must be in their category, in each run.
"""
import json
import os
import subprocess
import sys
import tempfile

import forking_python
import under_test

BAR = .95
SCRIPT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "peaks", "gpt.py")
RUNS = (("forward", "early"), ("forward", "late"), ("forward", "end", "marked"), ("backward", "early"),
        ("backward", "end", "marked"), ("step", "end"))


def categories(pythons, arguments, folder):
    """({category: bytes} as the job has it, the peak of the report)."""
    trace, printed = pythons.traced([SCRIPT, *arguments], folder)
    made = subprocess.run([under_test.VRAMTRACK, "report", "--format", "json", trace], stdout=subprocess.PIPE, text=True,
                          check=True, timeout=120)
    return json.loads(printed.splitlines()[-1]), json.loads(made.stdout)


def adds_up(report):
    """What does not add up to the peak, in words."""
    device = report["devices"][0]
    for name in ("categories", "ages", "sizes"):
        total = sum(part["bytes"] for part in device["peak"][name])
        if total != device["peak"]["live"]:
            yield "%s add up to %d bytes, not to %d" % (name, total, device["peak"]["live"])
    timeline = report["timeline"][0]
    for bin, live in enumerate(timeline["live"]["high"]):
        if sum(series["high"][bin] for series in timeline["categories"].values()) < live:
            yield "the categories' highest of bin %d are less than the live bytes" % bin


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder, forking_python.Pythons() as pythons:
        for arguments in RUNS:
            truth, report = categories(pythons, arguments, os.environ.get("KEEP", folder))
            found = {part["name"]: part["bytes"] for part in report["devices"][0]["peak"]["categories"]}
            wrong = list(adds_up(report))
            spike = truth.pop("spike")
            found["temporary"] = found.get("temporary", 0) - spike
            right = sum(min(size, found.get(name, 0)) for name, size in truth.items() if name != "unclaimed")
            share = right / sum(truth.values())
            if share < BAR:
                wrong.append("only %.4f of the bytes are in their category" % share)
            print("%-24s %.4f  %s" % (" ".join(arguments), share, "wrong" if wrong else "right"))
            for name in sorted(set(truth) | set(found)):
                print("  %-16s %10d  report %10d" % (name, truth.get(name, 0), found.get(name, 0)))
            for line in wrong:
                print("  " + line)
            failed |= bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
