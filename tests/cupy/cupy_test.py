#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cupy_test.py PYTHON VRAMTRACK

Programs with CuPy, traced on the simulated device: the line that leaks and its rate, nothing for what does not leak, and the
bytes that CuPy's pool itself has for its arrays. Kernels do not compute there.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
counts = {"passed": 0, "failed": 0}


def say(ok, what):
    counts["passed" if ok else "failed"] += 1
    print("%s: %s" % ("ok" if ok else "FAILED", what), flush=True)


def run(python, vramtrack, program, *arguments):
    """What the program prints, and the report on it."""
    environment = dict(os.environ, SIMCUDA_MEMORY="8G", SIMCUDA_BACKED="0", PYTHONPATH=os.path.join(ROOT, "python"))
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.join(ROOT, "tools", "simulated-cuda"), "--", vramtrack, "run", "-q", "-o", folder, "--", python,
                   os.path.join(HERE, program), *arguments]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        say(done.returncode == 0 and not done.stderr, "%s runs" % " ".join([program, *arguments]))
        if done.returncode != 0:
            sys.exit(done.stdout[-500:] + done.stderr[-2000:])
        told = subprocess.run([vramtrack, "report", folder, "--format", "json"], stdout=subprocess.PIPE, check=False)
        return done.stdout, json.loads(told.stdout)


def is_own(frame, program, text):
    with open(os.path.join(HERE, program), encoding="utf-8") as source:
        line = 1 + [text in line for line in source].index(True)
    return os.path.basename(frame["file"] or "") == program and frame["line"] == line


def same_bytes(out, told):
    live, reserved = (int(number) for number in re.search(r"live (\d+) (\d+)", out).groups())
    end = told["devices"][0]["end"]
    say((end["live"], end["reserved"]) == (live, reserved),
        "live and reserved bytes as CuPy has them: %d %d, %d %d" % (end["live"], end["reserved"], live, reserved))
    say(told["devices"][0]["unattributed_bytes"] == 0, "nothing is left over")


def test_leak(tools):
    out, told = run(*tools, "kept_arrays.py", "kept")
    found = [site for site in told["sites"] if site["id"] in told["ranking"]]
    say(len(found) == 1, "one leak: %d" % len(found))
    if found:
        say(is_own(found[0]["frames"][found[0]["blame_frame"]], "kept_arrays.py", "# the leak"), "at its line")
        say(found[0]["rate_bytes_per_step"] == 1 << 20, "at its rate: %s" % found[0]["rate_bytes_per_step"])
    same_bytes(out, told)


def test_twin(tools):
    out, told = run(*tools, "kept_arrays.py", "dropped")
    say(told["answer"] == "no_leak" and not told["reasons"], "no leak: %s %s" % (told["answer"], told["reasons"]))
    same_bytes(out, told)


def test_untold(tools):
    _, told = run(*tools, "kept_arrays.py", "kept", "untold")
    say(told["answer"] == "not_enough_evidence", "without the hook there is no verdict: %s" % told["answer"])
    say(any("vramtrack.trace_cupy()" in why["text"] for why in told["reasons"]), "but advice: %s" % told["reasons"])


def test_threads(tools):
    out, told = run(*tools, "consumers.py")
    say(told["answer"] == "no_leak", "no leak: %s %s" % (told["answer"], told["reasons"]))
    same_bytes(out, told)


def test_out_of_memory(tools):
    out, told = run(*tools, "out_of_memory.py")
    say("Out of memory" in out, "memory runs out: %s" % out.strip())
    found = told["oom"]
    holders = {site["id"]: site for site in told["sites"]}
    say(len(found) > 0 and {one["requested"] for one in found} == {1 << 29}, "with its bytes: %s" % [one["requested"] for one in found])
    if found:
        say(any(is_own(frame, "out_of_memory.py", "# the request") for frame in found[-1]["stack"]), "at its line")
        first = holders[found[-1]["holders"][0]["site"]]
        say(first["kind"] == "framework_block", "arrays hold the memory: %s" % found[-1]["holders"])


def main():
    tools = [os.path.abspath(one) for one in sys.argv[1:]]
    for test in (test_leak, test_twin, test_untold, test_threads, test_out_of_memory):
        test(tools)
    print("%d passed, %d failed, 0 skipped" % (counts["passed"], counts["failed"]))
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
