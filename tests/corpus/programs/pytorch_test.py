# SPDX-License-Identifier: Apache-2.0
"""usage: pytorch_test.py [--bench] [--json FILE] [CASE...]: the report on each script of pytorch.tsv, or of these cases,
beside what the script says of itself. --bench runs those that other tests have as well, --json writes one object a line
for each run."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import threading

import judgement
import results

FOLDER = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(FOLDER)))
LIBRARY = os.path.abspath(os.environ.get("VRAMTRACK_LIBRARY", "interpose/libvramtrack.so"))
SCRIPTS = (os.path.join(FOLDER, "pytorch"), os.path.join(ROOT, "tests/pytorch/leaks"))
PROCESSES = 2


def script_of(name):
    return next(path for path in (os.path.join(folder, name + ".py") for folder in SCRIPTS) if os.path.exists(path))


def runs_of(table, bench):
    for case, program, variants, steps, rate, where in results.rows(table):
        if where == "test" or bench:
            for variant in variants.split(","):
                yield {"case": case, "program": program, "variant": variant, "steps": int(steps), "steps_by": "stream",
                       "rate": rate, "language": "python"}


class Python:
    """A process that has PyTorch loaded and runs scripts, one after another."""

    def __init__(self, folder):
        self.folder = folder
        environment = dict(os.environ, VRAMTRACK_OUTPUT=os.path.join(folder, "%p.vtrace"), SIMCUDA_BACKED="0",
                           OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                           PYTHONPATH=":".join((os.path.join(ROOT, "python"),) + SCRIPTS[1:]),
                           LD_PRELOAD=":".join([LIBRARY] + os.environ.get("LD_PRELOAD", "").split()))
        self.process = subprocess.Popen([sys.executable, os.path.join(FOLDER, "forking_python.py")], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, arguments):
        """(path of the trace, what was printed) of a script."""
        output = os.path.join(self.folder, "output")
        self.process.stdin.write(json.dumps({"argv": arguments, "output": output}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        with open(output, encoding="utf-8") as file:
            printed = file.read()
        if not answer:
            raise RuntimeError("PyTorch has ended: " + printed[-2000:])
        child, code = json.loads(answer)
        if code != 0:
            raise RuntimeError("exit code %d: %s" % (code, printed[-2000:]))
        return os.path.join(self.folder, "%d.vtrace" % child), printed

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[2])
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    failing = results.failing_in(os.path.join(FOLDER, "failing.tsv"))
    runs = [run for run in runs_of(os.path.join(FOLDER, "pytorch.tsv"), arguments.bench or arguments.cases)
            if not arguments.cases or run["case"] in arguments.cases]
    pythons, own = [], threading.local()
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.environ.get("KEEP", temporary)

        def start():
            home = tempfile.mkdtemp(dir=folder)
            own.python = Python(home)
            pythons.append(own.python)

        def judged(run):
            try:
                script = script_of(run["program"])
                trace, printed = own.python.run([script, run["variant"], str(run["steps"])])
                truth = judgement.Truth(script, printed)
                return results.with_figures(run, results.report_on(trace), truth)
            except Exception as error:
                return dict(run, right=False), [str(error)]

        with concurrent.futures.ThreadPoolExecutor(PROCESSES, initializer=start) as executor:
            code = results.show(executor.map(judged, runs), failing, arguments.json)
        for python in pythons:
            python.end()
    return code


if __name__ == "__main__":
    sys.exit(main())
