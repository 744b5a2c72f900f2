#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_cupti_turns.py says how sure it is, and fails on what is sure."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_cupti_turns

INFO = "events    9 in 1 block, 40.00 bytes of file each\nCUPTI     9 records: 9 memory; %s bytes of\n          file each; its version is 13\n"


class CompareCuptiTurnsTest(unittest.TestCase):

    def compare(self, with_cupti, kernels=INFO % "8.95"):
        with tempfile.TemporaryDirectory() as folder:
            files = {"turn.1.info": INFO % "21.50", "kernels.info": kernels, "turn.1.vtrace": "", "turn.0.vtrace": ""}
            for turn, wall in enumerate(with_cupti, 1):
                files["turn.0.%d" % turn] = "x\n" + json.dumps({"wall_ms": 100.0})
                files["turn.1.%d" % turn] = json.dumps({"wall_ms": wall})
            for name, text in files.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            self.out = io.StringIO()
            with contextlib.redirect_stdout(self.out):
                return compare_cupti_turns.main(folder)

    def test_fast(self):
        self.assertEqual(self.compare([101, 100.5, 101.5, 101]), 0)
        self.assertIn("1.00 % longer with CUPTI, 95 % interval 0.35 to 1.65 over 4 turns", self.out.getvalue())
        self.assertIn("21.50 a record of memory and pools, 8.95 of kernels", self.out.getvalue())

    def test_slow_for_certain(self):
        self.assertEqual(self.compare([103, 103.1, 102.9, 103]), 1)

    def test_slow_by_chance(self):
        self.assertEqual(self.compare([110, 99, 100, 101]), 0)

    def test_large_records(self):
        self.assertEqual(self.compare([100, 101, 100, 101], INFO % "12.10"), 1)

    def test_without_cupti(self):
        self.assertEqual(self.compare([100, 101], "events    9 in 1 block, 40.00 bytes of file each\n"), 77)


if __name__ == "__main__":
    unittest.main()
