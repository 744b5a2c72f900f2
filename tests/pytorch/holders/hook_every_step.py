# SPDX-License-Identifier: Apache-2.0
"""Each step registers a hook and none is removed. The closure of each keeps its batch."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, 16)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def watch(batch):
    def compare(module, inputs, output):
        return None if output.shape[0] == batch.shape[0] else output[: batch.shape[0]]

    return net[2].register_forward_hook(compare)


for _ in range(STEPS):
    batch = torch.rand(BATCH, WIDTH, device="cuda")
    handle = watch(batch)
    net(batch).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if FIXED:
        handle.remove()
