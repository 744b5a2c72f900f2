# SPDX-License-Identifier: Apache-2.0
"""Some programs of the benchmark, with the libraries that .venv/pytorch has: a leak is not called NO LEAK, its line and rate are right,
and the fixed twin has none."""
import json
import os
import sys
import tempfile
import unittest

import ours
import runs
import score

LIBRARY = os.path.abspath(os.environ["VRAMTRACK_LIBRARY"])
PROGRAM = os.path.abspath(os.environ["VRAMTRACK_PROGRAM"])
STEPS = 40


class Benchmark(unittest.TestCase):
    def check(self, name):
        row = next(row for row in runs.table() if row["program"] == name)
        with tempfile.TemporaryDirectory() as folder:
            untraced = runs.Python(row, sys.executable, folder)
            traced = runs.Python(row, sys.executable, folder, LIBRARY)
            for variant in runs.VARIANTS:
                said = os.path.join(folder, "truth.json")
                untraced.run(variant, STEPS, said)
                with open(said, encoding="utf-8") as file:
                    truth = runs.truth_of(row, variant, STEPS, json.load(file))
                trace = os.path.join(folder, "%d.vtrace" % traced.run(variant, STEPS))
                answer = ours.answer_on(PROGRAM, trace, truth["run"], truth["file"])
                result, wrong = score.judge(truth, answer)
                self.assertEqual((answer["verdict"], bool(result["confident"])), (truth["verdict"], False), (wrong, answer))
            untraced.end()
            traced.end()

    def test_accelerate(self):
        self.check("accelerate_losses")

    def test_transformers_in_threads(self):
        self.check("chat_sessions")


if __name__ == "__main__":
    unittest.main()
