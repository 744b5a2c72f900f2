#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a report with the leak that the workload says it planted.

usage: check_planted_leak.py REPORT.json WORKLOAD.stderr

The workload writes a line `planted leak: FAMILY FILE:LINE BYTES bytes/step` for each line of its source that leaks. The
report is right if the site that leads its first finding is one of them: that file and line among the frames, and that
rate to the byte. `at least BYTES bytes/step` is for a line that keeps what a library allocates, in sizes of the library's
choice: then the rate of the whole finding counts.
Exit code 0 if so, 1 if not, 2 if there is nothing to compare.
"""

import json
import re
import sys

PLANTED = re.compile(r"^planted leak: (\S+) (\S+):(\d+) (at least )?(\d+) bytes/step", re.MULTILINE)


def same_file(a, b):
    """Whether two spellings of a path, each relative or absolute, mean one file."""
    a, b = a.split("/"), b.split("/")
    common = min(len(a), len(b))
    return a[-common:] == b[-common:]


def first_finding(report):
    ranking = report.get("ranking", [])
    sites = {site["id"]: site for site in report.get("sites", [])}
    return sites[ranking[0]] if ranking else None


def where(frame):
    return "%s (%s:%s)" % (frame.get("function"), frame.get("file"), frame.get("line"))


def main(argv):
    with open(argv[1], encoding="utf-8") as file:
        report = json.load(file)
    with open(argv[2], encoding="utf-8", errors="replace") as file:
        planted = PLANTED.findall(file.read())
    if not planted:
        print("the workload has planted no leak: nothing to compare with", file=sys.stderr)
        return 2
    finding = first_finding(report)
    if finding is None:
        print("the report names no leak; planted was %s:%s, %s%s bytes/step" % planted[0][1:], file=sys.stderr)
        return 1

    for family, file, line, at_least, bytes_per_step in planted:
        rate = ((at_least and finding.get("group")) or finding)["rate_bytes_per_step"]
        for frame in finding["frames"]:
            if frame.get("line") == int(line) and same_file(frame.get("file") or "", file):
                if rate >= int(bytes_per_step) if at_least else abs(rate - int(bytes_per_step)) < 0.5:
                    print("planted leak (%s) found first: %s, %.0f bytes/step" % (family, where(frame), rate))
                    return 0
                print("%s leaks %s%s bytes/step, and the report says %s" % (where(frame), at_least, bytes_per_step, rate), file=sys.stderr)
                return 1
    print("the first finding is not the planted leak %s:%s but:" % planted[0][1:3], file=sys.stderr)
    for frame in finding["frames"]:
        print("  " + where(frame), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
