#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_imports.py finds includes that do not point down."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_imports

PAGE = """
| `proto/` | the trace |
| `interpose/base/`, `interpose/loader/` | below |
| `analyzer/base/` | below |
| `analyzer/cli/` | above |
"""


class CheckImportsTest(unittest.TestCase):

    def problems(self, path, *included):
        text = "".join('#include "%s"\n' % header for header in included)
        return list(check_imports.problems(check_imports.levels(PAGE), [(path, text)]))

    def test_down_and_within_a_folder_are_fine(self):
        self.assertEqual(self.problems("analyzer/cli/run.cc", "analyzer/cli/run.h", "analyzer/base/gzip.h", "proto/frame.h"), [])

    def test_up_and_beside_are_not(self):
        self.assertIn("not below", self.problems("analyzer/base/gzip.cc", "analyzer/cli/run.h")[0])
        self.assertIn("not below", self.problems("interpose/base/lock.h", "interpose/loader/object.h")[0])

    def test_the_two_sides_know_only_the_trace_of_each_other(self):
        self.assertIn("two sides", self.problems("analyzer/cli/run.cc", "interpose/base/lock.h")[0])

    def test_a_folder_that_the_page_does_not_list(self):
        self.assertIn("does not list analyzer/new/", self.problems("analyzer/new/x.cc")[0])
        self.assertIn("does not list analyzer/new/", self.problems("analyzer/cli/run.cc", "analyzer/new/x.h")[0])

    def test_tests_may_include_anything(self):
        for path in ("analyzer/base/gzip_test.cc", "analyzer/base/testing/sample.h", "analyzer/ledger/ledger_fuzz.cc"):
            self.assertTrue(check_imports.is_of_tests(path), path)
        self.assertFalse(check_imports.is_of_tests("analyzer/base/contest.cc"))

    def test_two_types_of_one_name(self):
        def found(*sources):
            return list(check_imports.types_of_one_name(sources))

        one = "namespace a {\nclass Keys {\n};\n}  // namespace a\n"
        self.assertEqual(found(("analyzer/x.h", one), ("analyzer/y.h", one.replace("class Keys", "struct Keys final : Base"))),
                         ["analyzer/y.h: defines a::Keys, and so does analyzer/x.h"])
        self.assertEqual(found(("analyzer/x.h", one), ("analyzer/y.h", one.replace("a {", "b {"))), [])
        self.assertEqual(found(("analyzer/x.h", one), ("interpose/y.h", one)), [])
        self.assertEqual(found(("interpose/x.h", one), ("proto/y.h", one)), ["proto/y.h: defines a::Keys, and so does interpose/x.h"])
        self.assertEqual(len(found(("proto/x.h", one), ("proto/y.h", one))), 1)
        hidden = "namespace a {\nnamespace {\nclass Keys {\n};\n}  // namespace\n}  // namespace a\n"
        self.assertEqual(found(("analyzer/x.cc", hidden), ("analyzer/y.cc", hidden)), [])


if __name__ == "__main__":
    unittest.main()
