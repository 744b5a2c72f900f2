# SPDX-License-Identifier: Apache-2.0
"""An inference server captures a graph for each shape that it meets. The leaky one's shapes never repeat; the other one pads
them to multiples of 64."""
import torch
import torch.nn as nn
import vramtrack

from ground_truth import LEAKY, STEPS, expect, no_leak

WIDTH = 1024
net = nn.Linear(WIDTH, WIDTH).cuda()
graphs = {}


def capture(length):
    x = torch.zeros(length, WIDTH, device="cuda")  # LEAK input # SITE input
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):  # LEAK graph
        y = torch.relu(net(x))  # LEAK output # SITE output
    return graph, x, y


with torch.no_grad():
    net(torch.zeros(1, WIDTH, device="cuda"))
for request in range(STEPS):
    length = 1 + request * 37 % 509
    length = length if LEAKY else (length + 63) // 64 * 64
    if length not in graphs:
        graphs[length] = capture(length)
    graphs[length][0].replay()
    vramtrack.step(request)
if LEAKY:
    mean = sum(1 + request * 37 % 509 for request in range(STEPS)) * WIDTH * 4 // STEPS
    # A graph keeps all of its private pool, which has the outputs in it.
    pools = sum(segment["total_size"] for segment in torch.cuda.memory_snapshot()
                if tuple(segment["segment_pool_id"]) != (0, 0))
    expect(input=mean, output=pools // STEPS, graph=0)
else:
    no_leak(input="one_time|sublinear", output="one_time|sublinear")
