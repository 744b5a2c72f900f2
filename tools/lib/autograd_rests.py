# SPDX-License-Identifier: Apache-2.0
"""Waits for autograd's threads before the interpreter ends.

One that asks for the interpreter's lock after that ends the process with "terminate called without an active exception",
traced or not: see "When a process ends" in docs/pytorch.md. A test cannot live with that; this is loaded at the start of
each Python of the test's environments.
"""

import atexit
import os
import sys
import time


def running_threads():
    """How many threads of this process, besides the caller, run or wait for a disk."""
    count = 0
    for task in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/stat" % task, encoding="latin-1") as stat:
                count += stat.read().rpartition(")")[2].split()[0] in "RD"
        except OSError:
            pass  # it has ended
    return count - 1


@atexit.register
def wait_for_threads():
    if "torch" not in sys.modules:
        return
    at_rest = 0
    for _ in range(200):
        time.sleep(0.01)  # who waits for the interpreter's lock gets it now
        at_rest = at_rest + 1 if running_threads() <= 0 else 0
        if at_rest == 3:
            return
