# SPDX-License-Identifier: Apache-2.0
"""What is allocated while a node of the autograd graph is evaluated is tied to the line that made the node: in every case
of backward_cases.py, for every node, the line that anomaly mode has for it."""

import atexit
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import forking_python
import under_test

OUTSIDE = 512 * 1500  # bytes of what backward_cases.py allocates in no node
EVENT = re.compile(r" +[0-9.]+ +\d+ allocate +framework_block +\d+ +(\d+) ")
FORWARD = re.compile(r"    .*?  (\S.*):(\d+)  \(forward\)$")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


pythons = forking_python.Pythons()
traces = tempfile.TemporaryDirectory()
atexit.register(traces.cleanup)
atexit.register(pythons.close)


def traced(folder, *arguments, script="backward_cases.py", environment={}):
    """Of a run of the script: the lines of JSON that it printed, and its trace as text. The trace itself is left in the folder."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), script)
    try:
        trace, printed = pythons.traced([script, *arguments], traces.name, 200, SIMCUDA_DEVICES="2", **environment)
    except RuntimeError as error:
        if "not yet supported for torch.compile" in str(error):
            raise unittest.SkipTest("this PyTorch does not compile for this Python") from error
        raise
    dump = subprocess.run([under_test.VRAMTRACK, "dump", "--stacks", "--raw-stacks", shutil.move(trace, folder)],
                          capture_output=True, text=True, check=True)
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")], dump.stdout


def probed(dump):
    """Of each block that a probe allocated: its bytes, what is said of the node, and the forward call's place."""
    blocks = []
    for line in dump.splitlines():
        event = EVENT.match(line)
        if event:
            block = {"bytes": int(event.group(1)), "probe": False, "node": None, "place": None}
            blocks.append(block)
        elif not line.startswith("    "):
            block = None
        elif block is not None:
            forward = FORWARD.match(line)
            if re.match(r"    probe  ", line):
                block["probe"] = True
            elif line.endswith("(backward)"):
                block["node"] = line.split()[0]
            elif forward and block["place"] is None:
                block["place"] = [forward.group(1), int(forward.group(2))]
    return [block for block in blocks if block["probe"]]


class BackwardTest(unittest.TestCase):
    def check(self, case, least, *arguments, **environment):
        """At least so many nodes must have been evaluated, and each of those stand for the line that made it."""
        with tempfile.TemporaryDirectory() as folder:
            truth, dump = traced(folder, case, *arguments, environment=environment)
        blocks = probed(dump)
        nodes = {node["bytes"]: node for node in truth}
        met, wrong = set(), []
        for block in blocks:
            node = nodes.get(block["bytes"])
            if node is None:
                continue
            met.add(block["bytes"])
            if block["node"] is None or block["place"] != node["place"]:
                wrong.append("%s: %s, not %s" % (node["node"], block["place"], node["place"]))
        self.assertEqual(wrong, [], "%d of %d" % (len(wrong), len(met)))
        self.assertGreaterEqual(len(met), least)
        self.assertTrue(any(nodes[bytes_]["place"] is None for bytes_ in met), "no gradient accumulator")
        print("%s: %d nodes of %d evaluated, all as anomaly mode has them" % (case, len(met), len(nodes)))
        return blocks

    def test_plain(self):
        self.check("plain", 140)

    def test_checkpoint(self):
        self.check("checkpoint", 140)

    def test_reentrant_checkpoint(self):
        self.check("reentrant", 160)

    def test_double_backward(self):
        self.check("double_backward", 600)

    def test_retained_graph(self):
        self.check("retained", 140)

    def test_custom_function(self):
        self.check("custom_function", 150)

    def test_two_devices(self):
        self.check("two_devices", 300)

    def test_compiled(self):
        self.check("compile_eager", 140)

    def test_compiled_with_a_graph_of_its_own(self):
        self.check("compile_aot_eager", 30)

    def test_distributed(self):
        self.check("distributed", 140, str(free_port()), SIMCUDA_BACKED="1")  # ranks compare their parameters

    def test_node_left_by_an_exception(self):
        blocks = self.check("raising", 140)
        outside = [block for block in blocks if block["bytes"] == OUTSIDE]
        self.assertEqual([block["node"] for block in outside], [None, None])

    def test_without_stacks_nothing_of_the_graph(self):
        """The same blocks, and nothing of where they come from."""
        blocks = {}
        for stacks in "none", "native,python":
            with tempfile.TemporaryDirectory() as folder:
                dump = traced(folder, "plain", environment={"VRAMTRACK_STACKS": stacks})[1].splitlines()
            blocks[stacks] = [event.group(1) for event in map(EVENT.match, dump) if event]
            if stacks == "none":
                self.assertEqual([line for line in dump if line.startswith("    ") and "backward" in line], [])
        self.assertEqual(blocks["none"], blocks["native,python"])


if __name__ == "__main__":
    unittest.main()
