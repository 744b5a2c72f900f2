#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test targets of one `bazel test` run, from what it wrote to --build_event_json_file.

usage: count_tests.py EVENTS [CONFIGURATION]

Prints "PASSED FAILED SKIPPED" on stdout and a line for each target that did not pass on stderr. A target that could not
be built counts as failed, one that is incompatible with the machine (no CUDA toolkit) as skipped. One that was built but
left out by a filter is not counted.
"""

import json
import sys


def classify(events):
    """Maps each test target's label to "passed", "skipped" or why it counts as failed."""
    outcome = {}
    tests = set()
    for event in events:
        identity = event.get("id", {})
        if "targetConfigured" in identity:
            label = identity["targetConfigured"]["label"]
            if event.get("configured", {}).get("targetKind", "").endswith("_test rule"):
                tests.add(label)
                outcome.setdefault(label, "did not run")
            elif event.get("aborted"):
                outcome[label] = aborted(event)
        elif "targetCompleted" in identity:
            label = identity["targetCompleted"]["label"]
            if event.get("aborted"):
                outcome[label] = aborted(event)
            elif not event.get("completed", {}).get("success", False):
                outcome[label] = "failed to build"
            elif outcome.get(label) == "did not run":
                outcome[label] = "left out"
        elif "testSummary" in identity:
            label = identity["testSummary"]["label"]
            tests.add(label)
            if event.get("aborted"):
                outcome[label] = aborted(event)
            else:
                status = event["testSummary"].get("overallStatus", "NO_STATUS")
                outcome[label] = "passed" if status in ("PASSED", "FLAKY") else status.lower().replace("_", " ")
    return {label: outcome[label] for label in tests if outcome[label] != "left out"}


def aborted(event):
    reason = event["aborted"].get("reason", "UNKNOWN")
    return "skipped" if reason == "SKIPPED" else "aborted: " + reason.lower().replace("_", " ")


def main(argv):
    with open(argv[1], encoding="utf-8") as lines:
        outcome = classify(json.loads(line) for line in lines)
    suffix = " (%s)" % argv[2] if len(argv) > 2 else ""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for label, what in sorted(outcome.items()):
        counts[what if what in counts else "failed"] += 1
        if what != "passed":
            print("%s%s: %s" % (label, suffix, what), file=sys.stderr)
    print("%(passed)d %(failed)d %(skipped)d" % counts)


if __name__ == "__main__":
    main(sys.argv)
