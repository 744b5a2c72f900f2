# SPDX-License-Identifier: Apache-2.0
"""Segments in private pools of CUDA graphs: what the trace has of them, and what the report makes of it."""

import glob
import json
import os
import re
import subprocess
import tempfile
import unittest

import backward_test
import under_test

ALLOCATED = re.compile(r" allocate +(graph_pool|graph_pool_physical|graph|graph_exec|device|mapping) +\d+ +(\d+) +(0x[0-9a-f]+) "
                       r".*?(?:capture (\d+))?$")
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}


def run(script, *arguments, **environment):
    """What the script printed, its events as text, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        printed, dump = backward_test.traced(folder, *arguments, script=script, environment=environment)
        (trace,) = glob.glob(os.path.join(folder, "*.vtrace"))
        report = subprocess.run([under_test.VRAMTRACK, "report", "--format", "json", trace],
                                capture_output=True, text=True)
    # 3: not enough evidence, which is as good where nothing leaks.
    if report.returncode not in (0, 3):
        raise AssertionError(report.stderr)
    return (printed[0] if printed else {}), dump, json.loads(report.stdout)


def leaks(report):
    """The leading sites of leaks, worst first."""
    sites = {site["id"]: site for site in report["sites"]}
    return [sites[identity] for identity in report["ranking"] if not sites[identity]["part_of"]]


class GraphPoolsTest(unittest.TestCase):
    STEPS = 60

    def test_one_graph_for_each_shape_is_one_leak_of_the_pools_bytes(self):
        truth, dump, report = run("graph_pools.py", "leaky", str(self.STEPS))
        rows = [match.groups() for match in map(ALLOCATED.search, dump.splitlines()) if match]
        pools = {int(address, 0): int(size) for kind, size, address, _ in rows if kind == "graph_pool"}
        self.assertEqual(pools, {int(address): size for address, size in truth["pools"].items()})
        self.check_leak_of_pools(truth, report, rows, "graph_pool")

    def test_expandable_segments_are_of_their_graphs_pools(self):
        truth, dump, report = run("graph_pools.py", "leaky", str(self.STEPS), **EXPANDABLE)
        if not truth["expandable"]:
            self.skipTest("this release has private pools of ordinary segments only")
        rows = [match.groups() for match in map(ALLOCATED.search, dump.splitlines()) if match]
        self.assertEqual(sum(int(size) for kind, size, _, _ in rows if kind == "graph_pool_physical"),
                         sum(truth["pools"].values()))
        self.check_leak_of_pools(truth, report, rows, "graph_pool_physical")

    def check_leak_of_pools(self, truth, report, rows, kind_of_pool):
        pools = truth["pools"]
        captures = {number for kind, _, _, number in rows if kind == kind_of_pool}
        graphs = [number for kind, _, _, number in rows if kind == "graph_exec"]
        self.assertEqual(len(graphs), truth["graphs"])
        self.assertEqual(captures - set(graphs), set())

        found = leaks(report)
        self.assertEqual(len(found), 1, [(site["kind"], site["verdict"]) for site in found])
        self.assertEqual((found[0]["kind"], found[0]["category"]), (kind_of_pool, "graph_pool"))
        self.assertTrue(any(frame["function"] == "capture" for frame in found[0]["frames"]))
        rate = found[0]["group"]["rate_bytes_per_step"]
        expected = (sum(pools.values()) + truth["inputs"]) / self.STEPS
        self.assertLess(abs(rate - expected), 0.1 * expected, (rate, expected))

    def test_a_few_graphs_are_no_leak(self):
        for mode in ("bounded", "dropped"):
            for settings in ({}, EXPANDABLE):
                _, _, report = run("graph_pools.py", mode, str(self.STEPS), **settings)
                self.assertEqual(report["ranking"], [], (mode, settings))

    def test_graphs_that_share_a_pool_leak_what_is_in_it(self):
        """One segment has room for many of them: the blocks and what is left of the segments add up."""
        for settings in ({}, EXPANDABLE):
            truth, _, report = run("graph_pools.py", "shared", str(self.STEPS), **settings)
            rate = sum(site["group"]["rate_bytes_per_step"] for site in leaks(report) if site["level"] != "handle")
            expected = 2 * truth["inputs"] / self.STEPS  # the outputs are as large as the inputs
            self.assertLess(abs(rate - expected), 0.25 * expected, (rate, expected, settings))


if __name__ == "__main__":
    unittest.main()
