# SPDX-License-Identifier: Apache-2.0
"""Tables of runs, their reports, and what is said of them."""
import json
import os
import subprocess

import judgement

VRAMTRACK = os.path.abspath(os.environ.get("VRAMTRACK_PROGRAM", ".bazel/bin/analyzer/vramtrack"))
TIMEOUT_S = 60
KEY = ("case", "program", "variant", "steps", "steps_by")


def rows(path):
    """The fields of each line."""
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]


def key_of(run):
    return tuple(str(run[field]) for field in KEY)


def failing_in(path):
    """Keys of the runs that may be wrong."""
    return {tuple(row) for row in rows(path)}


def report_on(trace):
    made = subprocess.run([VRAMTRACK, "report", "--format", "json", "--top", "1000", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    if made.returncode not in (0, 3):
        raise RuntimeError("report: exit code %d: %s" % (made.returncode, made.stderr))
    return json.loads(made.stdout)


def with_figures(run, report, truth):
    """(the run with its figures, lines that say what is wrong)."""
    wrong, figures = judgement.judge(report, truth, run["steps"], run["rate"] == "exact")
    return dict(run, **figures, right=not wrong), wrong


def show(judged, failing, json_path=None):
    """Prints each of `judged`, pairs as of with_figures, as it comes; the exit code of the test."""
    results = []
    for result, wrong in judged:
        results.append(result)
        listed = key_of(result) in failing
        print("%-4s %-40s %4d steps by %-6s  %s%s" % (
            result["case"], result["program"] + " " + result["variant"], result["steps"], result["steps_by"],
            "right" if result["right"] else "wrong", ", listed as failing" if listed else ""), flush=True)
        for line in [] if listed and not os.environ.get("ALL") else wrong:
            print("       " + line)
    if json_path:
        with open(json_path, "w", encoding="utf-8") as file:
            for result in results:
                file.write(json.dumps(result) + "\n")
    wrong = [result for result in results if not result["right"]]
    new = [result for result in wrong if key_of(result) not in failing]
    print("%d of %d right, %d wrong that are listed as failing, %d others" % (
        len(results) - len(wrong), len(results), len(wrong) - len(new), len(new)))
    return 1 if new else 0
