#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_english.py finds phrases in what users read, at the right line, and nowhere else."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_english


class CheckEnglishTest(unittest.TestCase):

    def lines(self, path, text):
        return sorted(line for line, _ in check_english.problems(path, text))

    def test_says_what_to_write_instead(self):
        ((line, problem),) = check_english.problems("docs/a.md", "One.\n\nThe rank is\ntold apart by its number.\n")
        self.assertEqual(line, 4)
        self.assertIn("'told apart'", problem)
        self.assertIn("distinguished", problem)

    def test_phrases(self):
        for wrong in ("the peak cannot be foretold", "what it is told", "a warning tells of it", "the file beside it", "whoever calls it",
                      "it takes what comes", "memory of nobody", "it ends behind the step", "x is no ELF file", "these are no\nleaks",
                      "a word that is none", "one, and none that leaks", "there is no such key", "the option goes before the variable",
                      "it went by.", "22 more would do", "a shorter run will not do.", "no GPU was to be had", "for want of symbols",
                      "it stands in the report", "it rests on a test", "the address lies within", "the caller gives way", "it backs off",
                      "it ended by itself", "gives memory back", "the run shall end"):
            self.assertEqual(len(self.lines("docs/a.md", wrong)), 1, wrong)

    def test_ordinary_english(self):
        for right in ("There is no trace.", "It is no longer used.", "Where is no limit?", "besides the first", "%p stands for the process",
                      "No such file or directory", "the interval lies between 3 and 5", "memory that a step left behind", "this would do the same",
                      "it goes by the name of x", "exponential backoff", "feedback", "where it comes from", "folder of what was recorded"):
            self.assertEqual(self.lines("docs/a.md", right), [], right)

    def test_code_in_documents_is_not_checked(self):
        self.assertEqual(self.lines("docs/a.md", "A\n\n```console\n$ told\n```\n\n`is no told` and [x](beside.md)\n\n    told\n    told\n"), [])
        self.assertEqual(self.lines("docs/a.md", "* one\n\n    told, still a list\n"), [3])

    def test_strings_of_programs(self):
        self.assertEqual(self.lines("analyzer/a.cc", 'int told;  // told\nauto x = "is "\n  "no size" + told + "is" no;\n'), [1, 2])
        self.assertEqual(self.lines("analyzer/a.cc", '#include "told/beside.h"\nchar c = \'"\';\nauto x = R"(\ntold)";\n'), [4])
        self.assertEqual(self.lines("python/a.py", '# told\ndef f():\n    """A line.\n\n    It is told."""\n    return told + "beside"\n'), [1, 5, 6])
        self.assertEqual(self.lines("page/a.js", "// told\nconst told = `is told`, b = 'beside';\n"), [1, 2, 2])
        self.assertEqual(self.lines("tools/a", '#!/usr/bin/env bash\n# Told at the top.\n\n# told\nsay "is told" # told\ntold\n'), [2, 5])

    def test_comments(self):
        text = "// What is\n// told.\nint told;\n"
        self.assertEqual(self.lines("analyzer/a.h", text), [2])
        self.assertEqual(self.lines("analyzer/a.cc", text), [2])

    def test_tests_and_other_files_are_left_out(self):
        for path in ("analyzer/a_test.cc", "tests/a/b.py", "analyzer/base/testing/a.h", "tools/lib/check_english.py"):
            self.assertTrue(check_english.is_of_tests(path), path)
        for path in ("tests/corpus/README.md", "analyzer/contest.cc", "python/vramtrack/_pytest_limits.py"):
            self.assertFalse(check_english.is_of_tests(path), path)
        self.assertEqual(self.lines("docs/a.json", '{"told": 1}'), [])


if __name__ == "__main__":
    unittest.main()
