#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: watch_test.py VRAMTRACK MAKE_TRACE

`vramtrack watch` runs its commands once for what is new, with JSON on their input. Nothing here depends on how fast the
machine is.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HANGS = 120  # seconds


def check(condition, what):
    if not condition:
        sys.exit("watch_test: " + what)


def watch(program, folder, *arguments):
    return subprocess.run([program, "watch"] + list(arguments), cwd=folder, stdin=subprocess.DEVNULL, timeout=HANGS,
                          capture_output=True, text=True, check=False)


def events(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def test_once(program, folder):
    done = watch(program, folder, "leak.vtrace", "--once", "--on-leak", "cat >> leaks", "--on-full", "cat >> full",
                 "--seconds-to-full", "1000000")
    check(done.returncode == 0 and done.stderr == "", "--once: " + done.stderr)
    leaks = events(folder, "leaks")
    check(len(leaks) == 1 and leaks[0]["event"] == "leak" and leaks[0]["target"] == "leak.vtrace", "the leak")
    site = leaks[0]["site"]
    check(site["verdict"] == "leak" and site["rate_bytes_per_step"] == 4 << 20, "the verdict or the rate in the JSON of the leak is wrong")
    full = events(folder, "full")
    check(len(full) == 1 and full[0]["device"]["index"] == 0, "the device that will be full")
    check(full[0]["device"]["growth"]["seconds_to_oom"] < 1000000, "when it will be full")
    # A second process tells it again: it does not know of the first. A clean run tells nothing.
    watch(program, folder, "clean.vtrace", "--once", "--on-leak", "cat >> nothing")
    check(events(folder, "nothing") == [], "a clean run")
    # There is more time than that.
    watch(program, folder, "leak.vtrace", "--once", "--on-full", "cat >> nothing", "--seconds-to-full", "1")
    check(events(folder, "nothing") == [], "a device that is not full soon")


def test_commands_that_fail(program, folder):
    # One that does not read its input, and one that fails: the next look is made all the same.
    done = watch(program, folder, "leak.vtrace", "--once", "--on-leak", "exec <&-; exit 3")
    check(done.returncode == 0 and "exit code 3" in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def test_follows(program, folder):
    growing = os.path.join(folder, "grows.vtrace")
    process = subprocess.Popen([program, "watch", "grows.vtrace", "--wait", "--interval", "0.1", "--on-leak",
                                "cat >> grown; echo >> looked"], cwd=folder, stdin=subprocess.DEVNULL)
    try:
        for name in ("short", "leak"):
            shutil.copy(os.path.join(folder, name + ".vtrace"), growing + ".next")
            os.replace(growing + ".next", growing)
        end = time.monotonic() + HANGS
        while not events(folder, "grown"):
            check(process.poll() is None and time.monotonic() < end, "the leak is not told")
            time.sleep(0.05)
        # It is told once, however often it is seen; a slow machine looks less often, which hides a fault at worst.
        time.sleep(0.5)
        check(len(events(folder, "grown")) == 1, "a leak is told twice")
        check(process.poll() is None, "ends by itself")
    finally:
        process.kill()
        process.wait()


def test_wrong_calls(program, folder):
    for bad in (["leak.vtrace"], ["no-such-trace", "--on-leak", "true"], ["--on-leak", "true"],
                ["leak.vtrace", "--on-full", "true", "--seconds-to-full", "soon"]):
        failed = watch(program, folder, *bad)
        check(failed.returncode == 2 and failed.stderr.count("\n") == 1, "%s: %s" % (" ".join(bad), failed.stderr))


def main(program, make_trace):
    program, make_trace = os.path.abspath(program), os.path.abspath(make_trace)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("leak", "short", "clean"):
            subprocess.run([make_trace, name, os.path.join(folder, name + ".vtrace")], check=True)
        test_once(program, folder)
        test_commands_that_fail(program, folder)
        test_follows(program, folder)
        test_wrong_calls(program, folder)
    print("watch: events, failing commands, following and wrong calls are as documented")


if __name__ == "__main__":
    main(*sys.argv[1:])
