# SPDX-License-Identifier: Apache-2.0
"""How often verdicts are right: the emulated cases of tests/corpus, with the rules of others beside (docs/accuracy.md)."""
import json
import os
import subprocess
import sys

TARGETS = ["//tests/corpus:score"]


def bench(root, folder, quick):
    figures = os.path.join(folder, "corpus.json")
    command = [os.path.join(root, ".bazel", "bin", "tests", "corpus", "score"),
               "--suites", "cases,injected,clean,pairs,oom,diff", "--json", figures]
    if quick:
        command += ["--steps", "200", "--seeds", "2"]
    sys.stdout.flush()
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        sys.exit("bench: %s: exit status %d" % (" ".join(command), done.returncode))
    with open(figures, encoding="utf-8") as file:
        return json.load(file)
