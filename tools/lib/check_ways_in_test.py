#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import check_ways_in  # noqa: E402

DUMP = """# trace.vtrace
#    seconds thread operation    kind             device          bytes            address     allocation  stack details
    0.000000000      0 allocate     context               0              0     0x55aa            0:0      1
    0.000001000      0 allocate     device                0           1000     0x7000            0:1      2
    0.000002000      1 allocate     pinned                0            700     0x8000            1:0      3
    0.000003000      1 free         device                0              -          -            0:1      -
    0.000004000      0 fail         device                0     1152921504          -              -      2 error 2
"""


class CheckWaysInTest(unittest.TestCase):
    def test_agreement(self):
        expected = check_ways_in.printed(["device 1 1 1 1000\n", "pinned 1 0 0 700\n"])
        line, wrong = check_ways_in.row("x", expected, check_ways_in.dumped(DUMP.splitlines()))
        self.assertEqual(wrong, [])
        self.assertIn("ok", line)
        self.assertNotIn("NO", line)

    def test_a_missing_free_and_another_size_are_told(self):
        expected = check_ways_in.printed(["device 1 1 1 1001\n", "pinned 1 1 0 700\n"])
        _, wrong = check_ways_in.row("x", expected, check_ways_in.dumped(DUMP.splitlines()))
        self.assertEqual(len(wrong), 2)

    def test_what_the_program_did_not_do_is_told(self):
        _, wrong = check_ways_in.row("x", {}, check_ways_in.dumped(DUMP.splitlines()))
        self.assertEqual(len(wrong), 2)


if __name__ == "__main__":
    unittest.main()
