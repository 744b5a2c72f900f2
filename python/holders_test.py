#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The module asks the tracer for a walk, and says so where there is none."""

import os
import subprocess
import sys
import unittest

PROGRAM = "import vramtrack; print(vramtrack.holders(), vramtrack.holders())"


class HoldersTest(unittest.TestCase):
    def answers(self, **environment):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("VRAMTRACK_")}
        environment = dict(kept, PYTHONPATH="python", PYTHONDONTWRITEBYTECODE="1", **environment)
        ran = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             universal_newlines=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout.split()

    def test_untraced(self):
        self.assertEqual(self.answers(), ["False", "False"])

    def test_traced_with_holders_off(self):
        library = os.path.abspath("interpose/libvramtrack.so")
        self.assertEqual(self.answers(LD_PRELOAD=library), ["False", "False"])
        self.assertEqual(self.answers(LD_PRELOAD=library, VRAMTRACK_HOLDERS="0"), ["False", "False"])

    def test_what_the_library_answers(self):
        library = os.path.abspath("python/fake_holders.so")
        self.assertEqual(self.answers(LD_PRELOAD=library, FAKE_HOLDERS="1"), ["True", "True"])
        self.assertEqual(self.answers(LD_PRELOAD=library, FAKE_HOLDERS="0"), ["False", "False"])


if __name__ == "__main__":
    unittest.main()
