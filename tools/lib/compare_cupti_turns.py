#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: compare_cupti_turns.py FOLDER

How much longer a step takes with CUPTI, with its 95 % interval over the turns: FOLDER has turn.0.N and turn.1.N, what
pytorch_steps.py printed without and with it. And the bytes of a record, from turn.1.info and kernels.info, what
`vramtrack info` printed.
Exit code 1 where a step takes more than 2 % longer for certain, or the record of a kernel more than 12 bytes; 77 where CUPTI
was not there.
"""
import glob
import json
import math
import re
import statistics
import sys

ALLOWED_PERCENT, ALLOWED_BYTES = 2.0, 12.0
# Student's t for two-sided 95 %, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def wall_ms(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(file.read().splitlines()[-1])["wall_ms"]


def percents(folder):
    """Of each turn: how much longer the step with CUPTI takes, and the step without in ms."""
    found = []
    for path in sorted(glob.glob(folder + "/turn.0.*")):
        if path.rsplit(".", 1)[-1].isdigit():
            without = wall_ms(path)
            found.append((100 * (wall_ms(path.replace("/turn.0.", "/turn.1.")) / without - 1), without))
    return found


def interval(values):
    half = STUDENT[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values) - half, statistics.mean(values) + half


def bytes_per_record(path):
    """None: no record of CUPTI's."""
    with open(path, encoding="utf-8") as file:
        found = re.search(r"CUPTI\s.*?([0-9.]+)\s+bytes\s+of\s+file\s+each;\s+its", file.read(), re.DOTALL)
    return float(found.group(1)) if found else None


def main(folder):
    each, of_kernels = bytes_per_record(folder + "/turn.1.info"), bytes_per_record(folder + "/kernels.info")
    if each is None or of_kernels is None:
        print("no records of CUPTI")
        return 77
    turns = percents(folder)
    low, high = interval([percent for percent, _ in turns])
    print("a step of %.2f ms is %.2f %% longer with CUPTI, 95 %% interval %.2f to %.2f over %d turns" %
          (statistics.median(ms for _, ms in turns), statistics.mean(percent for percent, _ in turns), low, high, len(turns)))
    print("bytes of file: %.2f a record of memory and pools, %.2f of kernels" % (each, of_kernels))
    return int(low > ALLOWED_PERCENT or of_kernels > ALLOWED_BYTES)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
