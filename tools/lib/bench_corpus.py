# SPDX-License-Identifier: Apache-2.0
"""Measures how often verdicts are right on the emulated cases of tests/corpus, next to the rules of other tools (docs/internals/accuracy.md)."""
import json
import os
import subprocess
import sys

TARGETS = ["//tests/corpus:score"]


def bench(root, folder, quick):
    figures = os.path.join(folder, "corpus.json")
    command = [os.path.join(root, ".bazel", "bin", "tests", "corpus", "score"),
               "--suites", "cases,injected,clean,pairs,ablations,oom,diff", "--json", figures]
    if quick:
        command += ["--steps", "200", "--seeds", "2"]
    sys.stdout.flush()
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        sys.exit("bench: %s: exit status %d" % (" ".join(command), done.returncode))
    with open(figures, encoding="utf-8") as file:
        return json.load(file)
