# SPDX-License-Identifier: Apache-2.0
"""The blocks of PyTorch's pinned-memory pool, against what the program keeps and what PyTorch counts."""

import importlib.metadata
import json
import os
import re
import unittest

import graph_pools_test
from graph_pools_test import leaks

EVENT = re.compile(r" *[0-9.]+ +\d+ (allocate|free|step) +(\S+) +\d+ +(\d+|-) +(0x[0-9a-f]+|-) +(\d+:\d+|-)")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pinned_pool.py")
STEPS = 60


def run(mode, **environment):
    return graph_pools_test.run("pinned_pool.py", mode, str(STEPS), **environment)


def live_after_last_step(dump):
    """The blocks as [address, bytes]; the interpreter frees them when it ends."""
    live, at_step = {}, None
    for event in filter(None, map(EVENT.match, dump.splitlines())):
        what, kind, size, address, name = event.groups()
        if what == "step":
            at_step = sorted(live.values())
        elif kind == "pinned_block" and what == "allocate":
            live[name] = [int(address, 0), int(size)]
        elif kind == "pinned_block":
            del live[name]
    return at_step


def line_of(mark):
    with open(SCRIPT, encoding="utf-8") as script:
        return next(number for number, line in enumerate(script, 1) if line.rstrip().endswith("# LINE " + mark))


@unittest.skipIf(tuple(map(int, importlib.metadata.version("torch").split(".")[:2])) < (2, 8), "not seen before 2.8")
class PinnedPoolTest(unittest.TestCase):
    def test_blocks_are_those_that_the_program_keeps(self):
        for mode in ("leaky", "fixed", "buffers", "copies", "loader", "threads"):
            with self.subTest(mode):
                truth, dump, report = run(mode)
                live = live_after_last_step(dump)
                self.assertEqual(live, truth["kept"])
                self.assertIn(" pinned_block ", dump)
                if mode not in ("copies", "loader"):  # there some wait for a copy to end
                    # The pool gives out powers of two.
                    self.assertEqual(sum(1 << (size - 1).bit_length() for _, size in live), truth["active"])
                self.assertEqual(bool(report["ranking"]), mode == "leaky", report["ranking"])

    def test_a_leak_has_the_line_that_keeps_it(self):
        _, _, report = run("leaky", VRAMTRACK_HOLDERS="exit")
        found = leaks(report)
        self.assertEqual(len(found), 1, [site["explanation"] for site in found])
        self.assertEqual((found[0]["kind"], found[0]["device"]), ("pinned_block", None))
        lines = [frame["line"] for frame in found[0]["frames"] if frame["file"].endswith("pinned_pool.py")]
        self.assertIn(line_of("keep"), lines)
        self.assertEqual(found[0]["rate_bytes_per_step"], 200000)
        self.assertIn("of pinned memory", found[0]["rate"])
        self.assertEqual(found[0]["holder"]["container"], "__main__.kept")


if __name__ == "__main__":
    unittest.main()
