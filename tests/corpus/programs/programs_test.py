#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: programs_test.py [--json FILE] [CASE...]: the report on each program of programs.tsv, or of these cases, beside what
the program says of itself. --json writes one object a line for each run."""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import judgement
import results

TIMEOUT_S = 60
FOLDER = os.path.dirname(os.path.realpath(__file__))
PROGRAMS = os.environ.get("PROGRAMS", ".bazel/bin/tests/corpus/programs/cpp")
LIBRARY = os.path.abspath(os.environ.get("VRAMTRACK_LIBRARY", ".bazel/bin/interpose/libvramtrack.so"))
SIMULATED = os.path.abspath(os.environ.get("SIMCUDA_LIBRARIES", "tests/simcuda"))


def runs_of(table):
    for case, program, variants, steps, sources, rate in results.rows(table):
        for variant in variants.split(","):
            for count in steps.split(","):
                for source in sources.split(","):
                    yield {"case": case, "program": program, "variant": variant, "steps": int(count),
                           "steps_by": source, "rate": rate, "language": "c++"}


def traced(run, folder):
    """(folder of the traces, what the program printed)."""
    traces = os.path.join(folder, "-".join(results.key_of(run)))
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
    return traces, ran.stdout


def judged(run, folder):
    try:
        traces, printed = traced(run, folder)
        truth = judgement.Truth(os.path.join(FOLDER, "cpp", run["program"] + ".cc"), printed)
        return results.with_figures(run, results.report_on(traces), truth)
    except Exception as error:
        return dict(run, right=False), [str(error)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[2])
    parser.add_argument("--json")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    failing = results.failing_in(os.path.join(FOLDER, "failing.tsv"))
    runs = [run for run in runs_of(os.path.join(FOLDER, "programs.tsv")) if run["case"] in arguments.cases or
            not arguments.cases]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as executor:
        folder = os.environ.get("KEEP", folder)
        return results.show(executor.map(lambda run: judged(run, folder), runs), failing, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
