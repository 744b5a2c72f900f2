#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: memory_viz_test.py SCRIPTS D3 VRAMTRACK MAKE_TRACE REPLAY_BENCHMARK MAKE_TORCH_TRACE

What PyTorch's viewer of snapshots shows in each of its views, compared with the report and with the snapshot's own
events. SCRIPTS: the folder of its MemoryViz.js.
"""
import collections
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile

from memory_viz import MemoryViz

TIMELINES = ("Active Memory Timeline", "Active Cached Segment Timeline")
HISTORY, SETTINGS = "Allocator State History", "Allocator Settings"
MIB = 1 << 20


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, "%s: %s" % (" ".join(command), done.stderr.strip())
    return done.stdout


def allocated_and_reserved(snapshot):
    """After each event, where the viewer has one line for it, counted from the events alone. Nothing was there before."""
    allocated = reserved = 0
    sums = []
    for event in snapshot["device_traces"][0]:
        action, size = event["action"], event["size"]
        allocated += size if action == "alloc" else -size if action == "free_completed" else 0
        reserved += size if action in ("segment_alloc", "segment_map") else 0
        reserved -= size if action in ("segment_free", "segment_unmap") else 0
        if action != "free_requested":
            sums.append((allocated, reserved))
    return sums


class Opened:
    """A trace's snapshot in the viewer, and its report."""

    def __init__(self, scripts, d3, vramtrack, trace, *options):
        self.report = json.loads(run(vramtrack, "report", trace, "--format", "json"))
        run(vramtrack, "export", trace, "--to", "torch-snapshot", "--at", "end", *options, "-o", trace + ".pickle")
        with open(trace + ".pickle", "rb") as file:
            content = file.read()
        self.snapshot = pickle.loads(content)
        self.viz = MemoryViz(scripts, d3, content)

    def __enter__(self):
        self.viz.__enter__()
        for view in self.viz.views():
            self.viz.open(view)  # each draws without an error
        missing = {*TIMELINES, HISTORY, SETTINGS} - set(self.viz.views())
        assert not missing, missing
        return self

    def __exit__(self, *_):
        self.viz.__exit__()

    def peak_live(self):
        return self.report["devices"][0]["peak"]["live"]

    def functions(self):
        """How often the active memory timeline names a function in the first line of what is drawn."""
        self.viz.open(TIMELINES[0])
        stacks = [text.split("\n")[1:] for text in self.viz.contexts() if not text.startswith("Small tensors")]
        return collections.Counter(re.sub(r"^.*?:\d+:", "", stack[0]) for stack in stacks)

    def expect_history(self, every=1):
        events = sum(event["action"] != "free_requested" for event in self.snapshot["device_traces"][0])
        self.viz.open(HISTORY)
        told = self.viz.history(every)
        expected = allocated_and_reserved(self.snapshot)
        at = [i for i in range(events) if i % every == 0 or i == events - 1]
        assert len(told) == len(at), (len(told), len(at))
        for index, (_, stack, _, _) in zip(at, told):
            sums = tuple(map(int, re.match(r"\([^(]*\((\d+) bytes\) allocated / [^(]*\((\d+) bytes\) reserved\)", stack).groups()))
            assert sums == expected[index], (index, sums, expected[index], stack)
        segments, blocks = self.viz.drawn()
        assert len(segments) == len(self.snapshot["segments"]), len(segments)
        live = [block for segment in self.snapshot["segments"] for block in segment["blocks"] if block["state"] == "active_allocated"]
        assert len(blocks) == len(live), (len(blocks), len(live))
        return told, segments, blocks


def expect_of_pytorch(opener, program, trace, kind):
    run(program, kind, trace)
    with opener(trace, "--level", "framework") as opened:
        highest = opened.viz.open(TIMELINES[0])["highest"]
        assert highest == opened.peak_live() == 45 * MIB, (highest, opened.peak_live())
    with opener(trace) as opened:
        counts = opened.functions()
        assert counts == {"forward": 60, "metrics": 30, "workspace": 1}, counts
        assert opened.viz.open(TIMELINES[0])["highest"] == opened.peak_live() + 8 * MIB
        last, segments, blocks = opened.expect_history()
        assert last[-1][0].startswith("OOM (requested 2.0GiB"), last[-1]
        assert "train.py:40:forward" in last[-1][1], last[-1]
        assert sum("OOM" in event for event, _, _, _ in last) == len(opened.report["oom"]) == 1
        assert sum("metrics" in text for text in blocks) == 30 and sum("workspace" in text for text in blocks) == 1, blocks
        # What is mapped side by side is one expandable segment.
        assert len(segments) == (3 if kind == "expandable" else 4), segments
        settings = "".join(opened.viz.open(SETTINGS)["settings"])
        assert ("expandable_segments:True" in settings) == (kind == "expandable"), settings


def main(scripts, d3, vramtrack, make_trace, replay_benchmark, make_torch_trace):
    def opener(trace, *options):
        return Opened(scripts, d3, vramtrack, trace, *options)

    with tempfile.TemporaryDirectory() as folder:
        for kind in ("segments", "expandable"):
            expect_of_pytorch(opener, make_torch_trace, os.path.join(folder, kind), kind)

        driver = os.path.join(folder, "driver")
        run(make_trace, "leak", driver)
        with opener(driver) as opened:
            for view in TIMELINES:
                assert opened.viz.open(view)["highest"] == opened.peak_live(), view
            counts = collections.Counter(re.search("Keep|Make|Load", name)[0] for name in opened.functions().elements())
            assert counts == {"Keep": 60, "Make": 60, "Load": 1}, counts
            opened.expect_history()

        # The viewer draws the largest 15,000 one by one.
        large = os.path.join(folder, "large")
        run(replay_benchmark, "--shape=pytorch", "--events=400000", "--output=" + large)
        with opener(large, "--max-events", "500000") as opened:
            look = opened.viz.open(TIMELINES[0])
            assert look["highest"] == opened.peak_live() and look["polygons"] == 15001, look
            told, _, _ = opened.expect_history(2000)
            assert len(told) > 150, len(told)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
