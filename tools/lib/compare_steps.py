#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: compare_steps.py steps.MODE.TURN...: the best step of each mode, from what pytorch_steps.py printed.

Exit code 1 if the traced step took more than a twentieth longer than the untraced one.
"""
import json
import sys

ALLOWED = 1.05


def main(paths):
    best = {}
    for path in paths:
        mode = path.rsplit("/", 1)[-1].split(".")[1]
        with open(path, encoding="utf-8") as file:
            wall = json.loads(file.read().splitlines()[-1])["wall_ms"]
        best[mode] = min(wall, best.get(mode, wall))
    for mode, wall in best.items():
        print("%-16s %8.2f ms a step  %+6.1f%%" % (mode, wall, 100 * (wall / best["untraced"] - 1)))
    return int(best["traced"] > ALLOWED * best["untraced"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
