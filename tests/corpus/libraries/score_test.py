#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What score.py says of answers that are right, wrong and unsure."""
import unittest

import score

LEAK = {"run": "a", "verdict": "leak", "steps": 40, "units": {"train step": 40, "token": 480}, "unit": "train step", "file": "a.py",
        "lines": [7], "rate": 1200.0, "grown": 36000}
CLEAN = dict(LEAK, verdict="no_leak", lines=[], rate=0, grown=0)
RIGHT = {"run": "a", "verdict": "leak", "file": "/home/user/a.py", "line": 7, "rate": 1200, "unit_count": 40}


def judged(truth, **changes):
    return score.judge(truth, dict(RIGHT, **changes))[0]


class Judge(unittest.TestCase):
    def test_right(self):
        result = judged(LEAK)
        self.assertTrue(result["found"] and result["line"] and result["rate"] and result["steps"])
        self.assertFalse(result["confident"])

    def test_rate_of_another_unit_of_the_run(self):
        self.assertTrue(judged(LEAK, rate=100, unit_count=480)["rate"])
        self.assertTrue(judged(LEAK, rate=1200, unit_count=480)["confident"])

    def test_wrong_line_and_wrong_rate_are_confident(self):
        self.assertTrue(judged(LEAK, line=8)["confident"])
        self.assertTrue(judged(LEAK, rate=1300)["confident"])

    def test_wrong_verdicts_are_confident(self):
        self.assertTrue(judged(LEAK, verdict="no_leak")["confident"])
        result = judged(CLEAN)
        self.assertTrue(result["confident"] and result["false"])

    def test_unsure(self):
        for truth in (LEAK, CLEAN):
            result = judged(truth, verdict="unknown", unit_count=None)
            self.assertTrue(result["unknown"] and result["steps"])
            self.assertFalse(result["confident"])
        self.assertFalse(judged(LEAK, unit_count=None)["confident"])

    def test_steps_that_the_run_has_not(self):
        self.assertFalse(judged(LEAK, unit_count=80)["steps"])


if __name__ == "__main__":
    unittest.main()
