#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_planted_leak.py accepts exactly the report whose first finding is the planted line with its rate."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_planted_leak

STDERR = "step 60 loss 2.1\nplanted leak: attention-cache testdata/transformer/attention.cu:61 65536 bytes/step\n"


def site(identity, line, rate, file="/build/testdata/transformer/attention.cu"):
    return {
        "id": identity,
        "rate_bytes_per_step": rate,
        "frames": [
            {"function": "cudaMalloc", "file": None, "line": 0},
            {"function": "Attention::Forward", "file": file, "line": line},
        ],
    }


class CheckPlantedLeakTest(unittest.TestCase):

    def check(self, sites, ranking, stderr=STDERR):
        with tempfile.TemporaryDirectory() as folder:
            report, errors = os.path.join(folder, "report.json"), os.path.join(folder, "stderr")
            with open(report, "w", encoding="utf-8") as file:
                json.dump({"sites": sites, "ranking": ranking}, file)
            with open(errors, "w", encoding="utf-8") as file:
                file.write(stderr)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                return check_planted_leak.main(["", report, errors])

    def test_accepts_the_planted_line_with_its_rate(self):
        self.assertEqual(self.check([site("b", 7, 3), site("a", 61, 65536)], ["a", "b"]), 0)

    def test_accepts_any_of_several_planted_lines(self):
        more = STDERR + "planted leak: attention-cache testdata/transformer/attention.cu:90 128 bytes/step\n"
        self.assertEqual(self.check([site("a", 90, 128)], ["a"], more), 0)

    def test_refuses_another_line_first(self):
        self.assertEqual(self.check([site("b", 7, 65536), site("a", 61, 65536)], ["b", "a"]), 1)

    def test_refuses_another_file_of_the_same_line(self):
        self.assertEqual(self.check([site("a", 61, 65536, "/build/testdata/transformer/mlp.cu")], ["a"]), 1)

    def test_refuses_another_rate(self):
        self.assertEqual(self.check([site("a", 61, 65537)], ["a"]), 1)

    def test_compares_a_least_rate_with_that_of_the_whole_finding(self):
        least = STDERR.replace("65536", "at least 65536")
        self.assertEqual(self.check([site("a", 61, 65537)], ["a"], least), 0)
        self.assertEqual(self.check([site("a", 61, 65535)], ["a"], least), 1)
        self.assertEqual(self.check([site("a", 7, 65537)], ["a"], least), 1)
        for whole, code in ((65536, 0), (65535, 1)):
            self.assertEqual(self.check([dict(site("a", 61, 128), group={"rate_bytes_per_step": whole})], ["a"], least), code)

    def test_refuses_an_empty_ranking(self):
        self.assertEqual(self.check([site("a", 61, 65536)], []), 1)

    def test_says_that_nothing_was_planted(self):
        self.assertEqual(self.check([site("a", 61, 65536)], ["a"], "step 60 loss 2.1\n"), 2)


if __name__ == "__main__":
    unittest.main()
