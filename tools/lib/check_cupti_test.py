#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_cupti.py accepts what hooks and CUPTI agree about, and nothing else."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_cupti

AGREED = {"records": 4, "dropped": 0, "unwritten": 0, "joined": 2, "joined_bytes": 1024, "other_sizes": 0,
          "only_cupti": [], "only_hooks": [], "missing": []}
UNHEARD = {"kind": "physical", "allocations": 1, "bytes": 2097152, "reported": False}
HIDDEN = {"library": "libcublas.so.13", "kind": "device", "device": 0, "allocations": 1, "bytes": 4096,
          "live_objects": 1, "live_bytes": 4096}


class CheckCuptiTest(unittest.TestCase):

    def check(self, activities, stderr="", dump=None):
        with tempfile.TemporaryDirectory() as folder:
            report, errors = os.path.join(folder, "report.json"), os.path.join(folder, "stderr")
            with open(report, "w", encoding="utf-8") as file:
                json.dump({"processes": [{"activities": activities}]}, file)
            with open(errors, "w", encoding="utf-8") as file:
                file.write(stderr)
            dumps = [os.path.join(folder, "dump")] if dump else []
            for path in dumps:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(dump)
            self.out = io.StringIO()
            with contextlib.redirect_stdout(self.out):
                return check_cupti.main(["train", report, errors] + dumps)

    def test_agreement(self):
        self.assertEqual(self.check(AGREED), 0)

    def test_what_cupti_never_tells_of_and_what_no_hook_can_see_is_named_only(self):
        self.assertEqual(self.check({**AGREED, "only_hooks": [UNHEARD], "only_cupti": [HIDDEN]}), 0)
        self.assertIn("libcublas.so.13", self.out.getvalue())
        self.assertIn("physical", self.out.getvalue())

    def test_kinds_of_memory(self):
        line = "1 1 allocate %s 0 %d 0x1 %d -\n"
        dump = line % ("device", 512, 1) + line % ("physical", 2097152, 2) + line % ("device", 512, 3)
        self.assertEqual(self.check({**AGREED, "only_hooks": [UNHEARD]}, dump=dump), 0)
        self.assertIn("with a record: device 2 of 2, physical 0 of 1\n", self.out.getvalue())

    def test_differences(self):
        for difference in ({"only_hooks": [{**UNHEARD, "reported": True}]}, {"other_sizes": 1}, {"dropped": 1},
                           {"unwritten": 1}, {"joined": 0}):
            self.assertEqual(self.check({**AGREED, **difference}), 1, difference)

    def test_without_cupti(self):
        self.assertEqual(self.check(None, "x\nvramtrack: no CUPTI: it is not there\n"), 77)
        self.assertIn("it is not there", self.out.getvalue())


if __name__ == "__main__":
    unittest.main()
