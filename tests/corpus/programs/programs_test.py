#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: programs_test.py --table FILE [--failing FILE] [--json FILE] [CASE...]: the report on each program of the table, or
of these cases, beside what the program says of itself. Runs that --failing lists may be wrong. --json writes one object a
line for each run."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import judgement

TIMEOUT_S = 60
PROGRAMS = os.environ.get("PROGRAMS", ".bazel/bin/tests/corpus/programs/cpp")
SOURCES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "cpp")
LIBRARY = os.path.abspath(os.environ.get("VRAMTRACK_LIBRARY", ".bazel/bin/interpose/libvramtrack.so"))
VRAMTRACK = os.path.abspath(os.environ.get("VRAMTRACK_PROGRAM", ".bazel/bin/analyzer/vramtrack"))
SIMULATED = os.path.abspath(os.environ.get("SIMCUDA_LIBRARIES", "tests/simcuda"))


def runs_of(table):
    with open(table, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            case, program, variants, steps, sources, rate = line.rstrip("\n").split("\t")
            for variant in variants.split(","):
                for count in steps.split(","):
                    for source in sources.split(","):
                        yield {"case": case, "program": program, "variant": variant, "steps": int(count),
                               "steps_by": source, "rate": rate}


KEY = ("case", "program", "variant", "steps", "steps_by")


def key_of(run):
    return tuple(str(run[field]) for field in KEY)


def failing_in(path):
    """Keys of runs."""
    if not path:
        return set()
    with open(path, encoding="utf-8") as file:
        return {tuple(line.rstrip("\n").split("\t")) for line in file if line.strip() and not line.startswith("#")}


def report_on(run, folder):
    """(report, what the program printed) of one traced run."""
    traces = os.path.join(folder, "-".join(key_of(run)))
    os.mkdir(traces)
    environment = dict(os.environ, VRAMTRACK_OUTPUT=os.path.join(traces, "%p.vtrace"), LD_PRELOAD=LIBRARY,
                       LD_LIBRARY_PATH=SIMULATED, SIMCUDA_BACKED="0")
    if run["steps_by"] == "marks":
        environment["CORPUS_MARKS"] = "1"
    command = [os.path.join(PROGRAMS, run["program"]), run["variant"], str(run["steps"])]
    ran = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    if ran.returncode != 0:
        raise RuntimeError("exit code %d: %s" % (ran.returncode, ran.stderr[-2000:]))
    made = subprocess.run([VRAMTRACK, "report", "--format", "json", traces], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    if made.returncode not in (0, 3):
        raise RuntimeError("report: exit code %d: %s" % (made.returncode, made.stderr))
    return json.loads(made.stdout), ran.stdout


def judged(run, folder):
    """(run with its figures, lines that say what is wrong)."""
    try:
        report, printed = report_on(run, folder)
        truth = judgement.Truth(os.path.join(SOURCES, run["program"] + ".cc"), printed)
        wrong, figures = judgement.judge(report, truth, run["steps"], run["rate"] == "exact")
        return dict(run, **figures, right=not wrong), wrong
    except Exception as error:
        return dict(run, right=False), [str(error)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[2])
    parser.add_argument("--table", required=True)
    parser.add_argument("--failing")
    parser.add_argument("--json")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    runs = [run for run in runs_of(arguments.table) if not arguments.cases or run["case"] in arguments.cases]
    failing = failing_in(arguments.failing)
    unknown = failing - {key_of(run) for run in runs_of(arguments.table)}
    if unknown:
        parser.error("%s lists what is not in the table: %s" % (arguments.failing, " ".join(min(unknown))))
    if not runs:
        parser.error("no such case in %s" % arguments.table)
    results = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as executor:
        for result, wrong in executor.map(lambda run: judged(run, os.environ.get("KEEP", folder)), runs):
            results.append(result)
            listed = key_of(result) in failing
            print("%-4s %-36s %4d steps by %-6s  %s%s" % (
                result["case"], result["program"] + " " + result["variant"], result["steps"], result["steps_by"],
                "right" if result["right"] else "wrong", ", listed as failing" if listed else ""), flush=True)
            for line in [] if listed else wrong:
                print("       " + line)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            for result in results:
                file.write(json.dumps(result) + "\n")
    wrong = [result for result in results if not result["right"]]
    new = [result for result in wrong if key_of(result) not in failing]
    print("%d of %d right, %d wrong that are listed as failing, %d others" % (
        len(results) - len(wrong), len(results), len(wrong) - len(new), len(new)))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
