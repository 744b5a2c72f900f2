# SPDX-License-Identifier: Apache-2.0
"""usage: holders_test.py [--moments WHEN] [TABLE [SCRIPT...]]: who holds what the scripts of the corpus leak.

TABLE has a script in each line, with what holds its leak: holders.tsv beside this file, or that of the programs over libraries.
Each script runs by itself, as a user starts it, with walks at these moments [default: all]. The report's first three lines must
say the line of the code, the rate and the holder. The last line has the figures of all that the reports call a leak.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from typing import List, NamedTuple

import results

FOLDER = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(FOLDER)))
LIBRARY = os.path.abspath(os.environ.get("VRAMTRACK_LIBRARY", ".bazel/bin/interpose/libvramtrack.so"))
FOLDERS = [os.path.join(ROOT, folder) for folder in ("tests/corpus/programs/pytorch", "tests/pytorch/leaks", "tests/corpus/libraries/programs")]
STEPS = "120"
TIMEOUT_S = 600
LEAST_NAMED, LEAST_EXPLAINED = .95, .9
FIRST_LINE = re.compile(r"(LEAK|GROWING BUFFER)  \S+:\d+\b.*  (leaks|grows by) [\d.,]+ \w?i?B per \w+")


class Result(NamedTuple):
    wrong: List[str]
    named: bool = False
    leaked: float = 0  # bytes per step
    explained: float = 0  # of these, those that the right path holds
    by_python: bool = True
    path: str = ""
    found: bool = True  # the report calls it a leak


def run(script, moments, folder):
    """The report on a traced run, as text and as an object."""
    trace = os.path.join(folder, "%p.vtrace")
    path = next(path for path in (os.path.join(one, script + ".py") for one in FOLDERS) if os.path.exists(path))
    environment = dict(os.environ, VRAMTRACK_OUTPUT=trace, VRAMTRACK_HOLDERS=moments, SIMCUDA_BACKED="0", OMP_NUM_THREADS="1",
                       PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1", TQDM_DISABLE="1",
                       PYTHONPATH=":".join([os.path.join(ROOT, "python"), FOLDERS[1]]),
                       LD_PRELOAD=":".join([LIBRARY] + os.environ.get("LD_PRELOAD", "").split()))
    process = subprocess.Popen([sys.executable, path, "leaky", STEPS], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    printed, _ = process.communicate(timeout=TIMEOUT_S)
    if process.returncode != 0:
        raise RuntimeError("exit code %d: %s" % (process.returncode, printed[-2000:]))
    trace = trace.replace("%p", str(process.pid))
    text = subprocess.run([results.VRAMTRACK, "report", trace], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S).stdout
    return text, results.report_on(trace)


def judge(text, report, path, how):
    sites = {site["id"]: site for site in report["sites"]}
    leaks = [sites[identity] for identity in report["ranking"]]
    if not leaks:
        return Result(["not called a leak: " + " ".join(text.splitlines()[:1])], found=False)
    wrong = []
    lines = text.splitlines()[:3]
    if not FIRST_LINE.match(lines[0]):
        wrong.append("the line and the rate are not in the first line: " + lines[0])
    if not any(line.startswith("      kept by  ") for line in lines):
        wrong.append("the holder is not in the first three lines: " + json.dumps(lines))
    explained, matches = 0.0, re.compile(path).match
    for site in leaks:
        held = [site["holder"]] + site["holder"]["others"] if site["holder"] else []
        explained += site["group"]["rate_bytes_per_step"] * sum(part["share"] for part in held if matches(part["path"]))
    first = leaks[0]["holder"] or {"path": "", "how": "none"}
    named = bool(matches(first["path"])) and re.fullmatch(how, first["how"]) is not None
    if not named:
        wrong.append("held by %s (%s), and should be %s (%s)" % (first["path"] or "nobody", first["how"], path, how))
    return Result(wrong, named, sum(site["group"]["rate_bytes_per_step"] for site in leaks), explained,
                  not re.match("outside|unknown", how), first["path"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[2])
    parser.add_argument("--moments", default="all")
    parser.add_argument("table", nargs="?", default=os.path.join(FOLDER, "holders.tsv"))
    parser.add_argument("scripts", nargs="*")
    arguments = parser.parse_args()
    rows = [row for row in results.rows(arguments.table) if not arguments.scripts or row[0] in arguments.scripts]
    found = []
    with concurrent.futures.ThreadPoolExecutor(2) as executor, tempfile.TemporaryDirectory() as temporary:

        def judged(row):
            folder = os.path.join(os.environ.get("KEEP", temporary), row[0])
            os.makedirs(folder, exist_ok=True)
            try:
                return judge(*run(row[0], arguments.moments, folder), row[1], row[2])
            except Exception as error:
                return Result([str(error)])

        for row, result in zip(rows, executor.map(judged, rows)):
            share = "%4.0f %%" % (100 * result.explained / result.leaked) if result.leaked else "      "
            print("%-22s %-6s%s  %s" % (row[0], "wrong" if result.wrong else "right", share, result.path), flush=True)
            for line in result.wrong:
                print("  " + line)
            if result.found:
                found.append(result)
    named = sum(result.named for result in found)
    leaked = sum(result.leaked for result in found if result.by_python)
    explained = sum(result.explained for result in found if result.by_python)
    # Each leak counts the same, however large it is.
    shares = [result.explained / result.leaked if result.leaked else 0 for result in found if result.by_python]
    print("%d of %d holders named right; of what Python holds %.1f %% of the leaked bytes explained, %.1f %% on average over the leaks; "
          "%d runs wrong" % (named, len(found), 100 * explained / leaked if leaked else 0,
                             100 * sum(shares) / len(shares) if shares else 0, sum(bool(result.wrong) for result in found)))
    good = named >= LEAST_NAMED * len(found) and explained >= LEAST_EXPLAINED * leaked
    return 0 if good and not any(result.wrong and result.named for result in found) else 1


if __name__ == "__main__":
    sys.exit(main())
