# SPDX-License-Identifier: Apache-2.0
"""usage: judge.py: reads the JSON report of leak.py on stdin. Exit 0 if it names the line and the exact rate."""

import json
import sys

report = json.load(sys.stdin)
leaks = [site for site in report["sites"] if site["id"] in report["ranking"]]
if len(leaks) != 1 or leaks[0]["rate_bytes_per_step"] != 4096:
    sys.exit("expected one leak of 4096 bytes a step: %s" % [leak["rate_bytes_per_step"] for leak in leaks])
functions = [frame["function"] for frame in leaks[0]["frames"] if frame["language"] == "python"]
if functions != ["allocate", "leak", "<module>"]:
    sys.exit("expected Python frames allocate, leak, <module>: %s" % functions)
