# SPDX-License-Identifier: Apache-2.0
"""usage: pytorch_test.py [--bench] [--json FILE] [CASE...]: the report on each script of pytorch.tsv, or of these cases,
beside what the script says of itself. --bench runs those that other tests have as well, --json writes one object a line
for each run."""
import argparse
import concurrent.futures
import os
import sys
import tempfile

import judgement
import results

FOLDER = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(FOLDER)))
SCRIPTS = (os.path.join(FOLDER, "pytorch"), os.path.join(ROOT, "tests/pytorch/leaks"))
sys.path.insert(0, os.path.join(ROOT, "tests/pytorch"))
import forking_python  # noqa: E402
PYTHONPATH = ":".join((os.path.join(ROOT, "python"),) + SCRIPTS[1:])
PROCESSES = 2


def script_of(name):
    return next(path for path in (os.path.join(folder, name + ".py") for folder in SCRIPTS) if os.path.exists(path))


def runs_of(table, bench):
    for case, program, variants, steps, rate, where in results.rows(table):
        if where == "test" or bench:
            for variant in variants.split(","):
                yield {"case": case, "program": program, "variant": variant, "steps": int(steps), "steps_by": "stream",
                       "rate": rate, "language": "python"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[2])
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    failing = results.failing_in(os.path.join(FOLDER, "failing.tsv"))
    runs = [run for run in runs_of(os.path.join(FOLDER, "pytorch.tsv"), arguments.bench or arguments.cases)
            if not arguments.cases or run["case"] in arguments.cases]
    with tempfile.TemporaryDirectory() as temporary, forking_python.Pythons() as pythons:
        folder = os.environ.get("KEEP", temporary)

        def judged(run):
            try:
                script = script_of(run["program"])
                trace, printed = pythons.traced([script, run["variant"], str(run["steps"])], folder, PYTHONPATH=PYTHONPATH)
                truth = judgement.Truth(script, printed)
                return results.with_figures(run, results.report_on(trace), truth)
            except Exception as error:
                return dict(run, right=False), [str(error)]

        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as executor:
            code = results.show(executor.map(judged, runs), failing, arguments.json)
    return code


if __name__ == "__main__":
    sys.exit(main())
