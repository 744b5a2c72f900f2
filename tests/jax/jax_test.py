#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: jax_test.py PYTHON VRAMTRACK

Programs with an unmodified JAX, traced on the simulated device: the line that leaks and its rate, nothing for what does not
leak, and the bytes that JAX itself has for its arrays. Kernels do not compute there.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# The plugin has their functions' names, but puts the names of the libraries together.
LIBRARIES = ["libcublas.so.12", "libcublasLt.so.12", "libcudnn.so.9", "libcufft.so.11", "libcusolver.so.11",
             "libcusparse.so.12", "libnvrtc.so.12"]
counts = {"passed": 0, "failed": 0}


def say(ok, what):
    counts["passed" if ok else "failed"] += 1
    print("%s: %s" % ("ok" if ok else "FAILED", what), flush=True)


class Tools:
    def __init__(self, python, vramtrack, wanted):
        self.python, self.vramtrack = python, vramtrack
        packages = glob.glob(os.path.join(os.path.dirname(os.path.dirname(python)), "lib", "python3*", "site-packages"))[0]
        plugins = [os.path.join(packages, name) for name in ("jax_plugins", "jax_cuda12_plugin")]
        for library in LIBRARIES:
            with open(os.path.join(wanted, library), "wb"):
                pass
        compilers = os.path.join(packages, "nvidia", "cuda_nvcc", "bin")
        self.environment = dict(os.environ, SIMCUDA_PACKAGE=":".join(plugins + [wanted]), SIMCUDA_MEMORY="8G", SIMCUDA_BACKED="1",
                                JAX_PLATFORMS="cuda", JAX_SKIP_CUDA_CONSTRAINTS_CHECK="1", TF_CPP_MIN_LOG_LEVEL="3",
                                PATH=compilers + os.pathsep + os.environ["PATH"])

    def report(self, program):
        """What the program prints, and the report on it."""
        with tempfile.TemporaryDirectory() as folder:
            command = [os.path.join(ROOT, "tools", "simulated-cuda"), "--", self.vramtrack, "run", "-q", "-o", folder, "--",
                       self.python, os.path.join(HERE, "on_simulated_device.py"), os.path.join(HERE, program)]
            done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=False)
            say(done.returncode == 0, program + " runs")
            if done.returncode != 0:
                sys.exit(done.stdout[-500:] + done.stderr[-2000:])
            told = subprocess.run([self.vramtrack, "report", folder, "--format", "json"], stdout=subprocess.PIPE, check=False)
            return done.stdout, json.loads(told.stdout)


def line_of(program, text):
    with open(os.path.join(HERE, program), encoding="utf-8") as source:
        return 1 + [text in line for line in source].index(True)


def is_own(frame, program, text):
    return os.path.basename(frame["file"] or "") == program and frame["line"] == line_of(program, text)


def test_leak(tools):
    out, told = tools.report("kept_results.py")
    found = [site for site in told["sites"] if site["id"] in told["ranking"]]
    say(len(found) == 1, "one leak: %d" % len(found))
    if found:
        say(is_own(found[0]["frames"][found[0]["blame_frame"]], "kept_results.py", "# the leak"), "at its line")
        say(found[0]["rate_bytes_per_step"] == 4 * 256 * 256, "at its rate: %s" % found[0]["rate_bytes_per_step"])
    # The first call has no range of its own: its name is not known yet.
    say(told["steps"]["name"] == "train_step" and told["steps"]["count"] == 99, "steps: %s" % told["steps"])
    # JAX keeps a few small constants that are not arrays of the program.
    live, most = int(re.search(r"live (\d+)", out)[1]), told["devices"][0]["peak"]["live"]
    say(0 <= most - live < 16 << 20, "%d bytes at the most, with %d of JAX's arrays at the end" % (most, live))
    say(told["devices"][0]["growth"]["steps_to_oom"] is None, "when XLA's memory is full is not known")


def test_clean(tools):
    _, told = tools.report("donated.py")
    say(told["answer"] == "no_leak" and not told["reasons"], "no leak: %s %s" % (told["answer"], told["reasons"]))


def test_out_of_memory(tools):
    out, told = tools.report("out_of_memory.py")
    say("RESOURCE_EXHAUSTED" in out, "memory runs out: %s" % out.strip())
    found = told["oom"]
    holders = {site["id"]: site["kind"] for site in told["sites"]}
    say(len(found) == 1 and found[0]["requested"] == 1 << 30, "it is told once, with its bytes: %s" % [f["requested"] for f in found])
    if found:
        say(any(is_own(frame, "out_of_memory.py", "# the request") for frame in found[0]["stack"]), "at its line")
        # Not the memory that XLA divides into them.
        say([holders[h["site"]] for h in found[0]["holders"]][:1] == ["framework_block"], "arrays hold the memory: %s" % found[0]["holders"])


def main():
    python, vramtrack = (os.path.abspath(one) for one in sys.argv[1:])
    with tempfile.TemporaryDirectory() as wanted:
        tools = Tools(python, vramtrack, wanted)
        test_leak(tools)
        test_clean(tools)
        test_out_of_memory(tools)
    print("%d passed, %d failed, 0 skipped" % (counts["passed"], counts["failed"]))
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
