# SPDX-License-Identifier: Apache-2.0
"""usage: judge_pytorch.py: reads the JSON report of leak_pytorch.py on stdin. Exit 0 if it names the line and the exact rate."""

import json
import sys

report = json.load(sys.stdin)
leaks = [site for site in report["sites"] if site["id"] in report["ranking"]]
if len(leaks) != 1 or leaks[0]["rate_bytes_per_step"] != 4096 or leaks[0]["level"] != "framework":
    sys.exit("expected one leak of 4096 bytes a step: %s" % [(leak["level"], leak["rate_bytes_per_step"]) for leak in leaks])
own = leaks[0]["frames"][leaks[0]["own_frame"]]
if (own["function"], own["file"], own["line"]) != ("remember", "/root/leak.py", 13):
    sys.exit("expected the line of remember(): %s" % own)
if (report["steps"]["count"], report["steps"]["source"]) != (40, "optimizer"):
    sys.exit("expected 40 steps of the optimizer: %s" % report["steps"])
