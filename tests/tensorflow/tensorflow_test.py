#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tensorflow_test.py PYTHON VRAMTRACK

Programs with an unmodified TensorFlow, traced: the line that leaks and its rate, and nothing for what does not leak.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
MIB = 1 << 20
counts = {"passed": 0, "failed": 0}


def say(ok, what):
    counts["passed" if ok else "failed"] += 1
    print("%s: %s" % ("ok" if ok else "FAILED", what), flush=True)


def report(python, vramtrack, program, *arguments):
    """The report on the traced program, which must run as untraced."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TF_CPU_ALLOCATOR_USE_BFC="1", VRAMTRACK_CPU_FRAMEWORKS="1", TF_CPP_MIN_LOG_LEVEL="3")
        command = [python, os.path.join(HERE, program), *arguments]
        done = subprocess.run([vramtrack, "run", "-o", folder, "--", *command], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        say(done.returncode == 0, "%s runs" % " ".join([program, *arguments]))
        if done.returncode != 0:
            print(done.stderr[-2000:])
            return None
        told = subprocess.run([vramtrack, "report", folder, "--format", "json"], stdout=subprocess.PIPE, check=False)
        return json.loads(told.stdout)


def leaks(told):
    return [site for site in told["sites"] if site["id"] in told["ranking"]]


def place(site):
    frame = site["frames"][site["blame_frame"]]
    return "%s:%s" % (os.path.basename(frame["file"] or ""), frame["line"])


def line_of(program, text):
    with open(os.path.join(HERE, program), encoding="utf-8") as source:
        return 1 + [text in line for line in source].index(True)


def test_leak(tools, program, text, rate, tolerance):
    told = report(*tools, program)
    if told is None:
        return None
    found = leaks(told)
    say(len(found) == 1, "%s has one leak: %s" % (program, [place(site) for site in found]))
    if found:
        if text:
            say(place(found[0]) == "%s:%d" % (program, line_of(program, text)), "at its line, not %s" % place(found[0]))
        whole = found[0]["group"] or found[0]
        say(abs(whole["rate_bytes_per_step"] / rate - 1) <= tolerance, "its rate is %d, expected %d" % (whole["rate_bytes_per_step"], rate))
    say([a["framework"] for p in told["processes"] for a in p["allocators"]] == ["TensorFlow"], "the framework has its name")
    fixed = report(*tools, program, "--fixed")
    say(fixed is not None and not fixed["ranking"], "%s --fixed has none" % program)
    return told, found


def main():
    tools = sys.argv[1:3]
    test_leak(tools, "eager_loop.py", "tf.nn.relu", MIB, 0.005)
    told, found = test_leak(tools, "function_loop.py", "", MIB, 0.005) or ({}, [])
    if found:
        say(told["steps"]["count"] == 100, "calls of the function are the steps: %s" % told["steps"])
        opened = "function_loop.py:%d" % line_of("function_loop.py", "train_step(x)")
        inside = found[0]["nvtx_range"] or {}
        say(inside.get("path") == "train_step" and opened in (inside.get("opened_at") or ""), "the function and its caller are named: %s" % inside)
    # The allocator hands out free chunks that are a little larger.
    test_leak(tools, "keras_callback.py", "self.model(sample", MIB / 2, 0.05)
    told = report(*tools, "data_pipeline.py")
    say(told is not None and not told["ranking"], "data_pipeline.py has none")
    print("%(passed)d passed, %(failed)d failed, 0 skipped" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
