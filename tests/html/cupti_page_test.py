#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""cupti_page_test.py VRAMTRACK LIBRARY TRAIN HIDDEN_LEAK SIMCUDA SIMCUPTI: what CUPTI's records tell is in the page: what
was not used any more and since when, which kernel was the first behind an allocation."""

import json
import os
import subprocess
import sys
import unittest

from page_case import FOLDER, PageCase, report_page

VRAMTRACK = LIBRARY = TRAIN = HIDDEN_LEAK = SIMCUDA = SIMCUPTI = None


def traced(name, *command):
    path = FOLDER / name
    if path.exists():
        return path
    libraries = FOLDER / "libraries"
    libraries.mkdir(exist_ok=True)
    for version in ("13", "12", "11.8"):
        link = libraries / ("libcupti.so." + version)
        if not link.exists():
            link.symlink_to(SIMCUPTI)
    environment = dict(os.environ, VRAMTRACK_LIBRARY=LIBRARY, SIMCUDA_BACKED="0",
                       LD_LIBRARY_PATH="%s:%s" % (os.path.dirname(SIMCUDA), libraries))
    subprocess.run([VRAMTRACK, "run", "-q", "--cupti", "--cupti-records", "memory,pools,kernels,copies,fills", "-o", str(path),
                    "--", *command], check=True, stdout=subprocess.DEVNULL, env=environment)
    return path


def report_of(trace):
    return json.loads(subprocess.run([VRAMTRACK, "report", "--format", "json", str(trace)], check=True,
                                     stdout=subprocess.PIPE).stdout)


class Cupti(PageCase):
    def open_trace(self, trace, hash=""):
        self.open(report_page(VRAMTRACK, trace, codes=(0,)), hash)

    def test_tells_since_when_a_leak_is_not_used(self):
        trace = traced("rests", HIDDEN_LEAK, "60", "2097152", "rests")
        leak = report_of(trace)["sites"][0]
        self.assertIsNotNone(leak["last_use"])
        self.open_trace(trace, "#view=leaks")
        opened = self.see(".finding[open] .body")
        self.assertIn("not used after", opened)
        self.assertIn("objects were idle for", opened)
        if leak["last_use"]["latest_step"] is not None:
            self.assertIn("step %d (" % leak["last_use"]["latest_step"], opened)

    def test_tells_the_first_kernel(self):
        trace = traced("train", TRAIN, "--leak=attention-cache", "--steps=60")
        kernel = report_of(trace)["sites"][0]["first_kernel"]
        self.open_trace(trace, "#view=leaks")
        opened = self.see(".finding[open] .body")
        self.assertEqual("first kernel after it" in opened, kernel is not None)


if __name__ == "__main__":
    VRAMTRACK, LIBRARY, TRAIN, HIDDEN_LEAK, SIMCUDA, SIMCUPTI = [os.path.realpath(one) for one in sys.argv[1:7]]
    for name in ("LD_PRELOAD", "COLUMNS"):
        os.environ.pop(name, None)
    unittest.main(argv=sys.argv[:1])
