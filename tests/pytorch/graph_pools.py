# SPDX-License-Identifier: Apache-2.0
"""Captures CUDA graphs with private pools of their own, shared, and given up. The traced half of graph_pools_test.py.

usage: graph_pools.py leaky|bounded|shared|dropped STEPS: prints what the allocator itself says, as JSON.
"""
import json
import sys

import torch
import vramtrack

WIDTH = 1024
MODE, STEPS = sys.argv[1], int(sys.argv[2])
net = torch.nn.Linear(WIDTH, WIDTH).cuda()
graphs = {}
shared = torch.cuda.graph_pool_handle()


def capture(length):
    x = torch.zeros(length, WIDTH, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, pool=shared if MODE == "shared" else None):
        y = torch.relu(net(x))
    return graph, x, y


def pool_bytes():
    """Of segments in private pools, by address."""
    return {segment["address"]: segment["total_size"] for segment in torch.cuda.memory_snapshot()
            if tuple(segment["segment_pool_id"]) != (0, 0)}


with torch.no_grad():
    net(torch.zeros(1, WIDTH, device="cuda"))
inputs = 0
for step in range(STEPS):
    length = 1 + step * 37 % 509
    if MODE == "bounded":
        length = 1 + step % 3 * 64
    if MODE == "dropped":
        graphs.clear()
    if length not in graphs:
        graphs[length] = capture(length)
    graphs[length][0].replay()
    vramtrack.step(step)
later = torch.zeros(10 << 20, device="cuda")  # not captured: in no pool
inputs = sum(x.untyped_storage().nbytes() for _, x, _ in graphs.values())
expandable = all(segment.get("is_expandable", False) for segment in torch.cuda.memory_snapshot())
print(json.dumps({"pools": pool_bytes(), "graphs": len(graphs), "inputs": inputs, "expandable": expandable}))
