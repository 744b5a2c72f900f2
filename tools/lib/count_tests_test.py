#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_tests.py counts a test target once, whatever became of it."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count_tests


def configured(label, kind="cc_test rule"):
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"targetKind": kind}}


def completed(label, **result):
    return {"id": {"targetCompleted": {"label": label}}, **result}


def summary(label, status):
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


class CountTestsTest(unittest.TestCase):

    def outcome(self, *events):
        return count_tests.classify([configured("//a:test"), *events]).get("//a:test")

    def test_takes_the_summary_of_a_test_that_ran(self):
        built = completed("//a:test", completed={"success": True})
        self.assertEqual(self.outcome(built, summary("//a:test", "PASSED")), "passed")
        self.assertEqual(self.outcome(built, summary("//a:test", "FAILED")), "failed")
        self.assertEqual(self.outcome(built, summary("//a:test", "TIMEOUT")), "timeout")

    def test_counts_what_was_not_built_as_failed(self):
        self.assertEqual(self.outcome(completed("//a:test", completed={})), "failed to build")
        self.assertEqual(self.outcome(completed("//a:test", aborted={"reason": "ANALYSIS_FAILURE"})),
                         "aborted: analysis failure")

    def test_counts_what_never_ran_as_failed(self):
        self.assertEqual(self.outcome(), "did not run")

    def test_leaves_out_what_a_filter_left_out(self):
        self.assertIsNone(self.outcome(completed("//a:test", completed={"success": True})))

    def test_counts_what_the_machine_cannot_run_as_skipped(self):
        self.assertEqual(self.outcome(completed("//a:test", aborted={"reason": "SKIPPED"})), "skipped")

    def test_leaves_out_what_is_no_test(self):
        library = [configured("//a:library", "cc_library rule"), completed("//a:library", completed={"success": True})]
        self.assertEqual(list(count_tests.classify(library)), [])


if __name__ == "__main__":
    unittest.main()
