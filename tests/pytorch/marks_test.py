# SPDX-License-Identifier: Apache-2.0
"""Marks: record_function, steps of an optimizer and NVTX with their stacks, and where memory was given back."""

import os
import re
import tempfile
import unittest

import backward_test
import under_test

EVENT = re.compile(r" +[0-9.]+ +\d+ (\S+) +(\S+) +\d+ +(\S+) +\S+ +\S+ +(\S+) ?(.*)$")


def events(dump):
    """Of each event its operation, kind, bytes, details and frames."""
    found = []
    for line in dump.splitlines():
        event = EVENT.match(line)
        if event:
            found.append((event.group(1), event.group(2), event.group(3), event.group(5), []))
        elif line.startswith("    ") and found:
            found[-1][4].append(line.strip())
    return found


def has(frames, function, file):
    return any(re.match(r"%s  .*%s:\d+$" % (re.escape(function), re.escape(file)), frame) for frame in frames)


class MarksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        environment = {"NVTX_INJECTION64_PATH": under_test.LIBRARY}
        with tempfile.TemporaryDirectory() as folder:
            _, dump = backward_test.traced(folder, script="marks_cases.py", environment=environment)
        cls.events = events(dump)

    def marks(self, kind):
        return [event for event in self.events if event[:2] == ("mark", kind)]

    def test_record_function_and_optimizer(self):
        frames = [frames for *_, frames in self.marks("record_function")]
        in_step = [has(f, "Optimizer.profile_hook_step.<locals>.wrapper", "optimizer.py") for f in frames]
        self.assertEqual(in_step, [False, True] * 3)
        self.assertTrue(all(has(f, "<module>", "marks_cases.py") for f in frames))

    def test_nvtx(self):
        self.assertEqual([event[3] for event in self.marks("range_push")], ["outer step # of # 3"] * 3)
        self.assertEqual([event[3] for event in self.marks("instant")], ["instant"] * 3)
        self.assertEqual(len(self.marks("range_pop")), 3)
        self.assertTrue(all(has(event[4], "<module>", "marks_cases.py") for event in self.marks("range_push")))

    def test_release(self):
        """Every free of a segment follows the mark of the call that made it."""
        released = []
        for operation, kind, _, _, frames in self.events:
            if (operation, kind) == ("mark", "release"):
                released.append([next(f.split()[0] for f in frames if re.match("release_t?here ", f)), 0])
            elif (operation, kind) == ("free", "device"):
                released[-1][1] += 1
        self.assertEqual([place for place, _ in released], ["release_here", "release_there", "release_here"])
        self.assertTrue(all(count >= 4 for _, count in released), released)


if __name__ == "__main__":
    unittest.main()
