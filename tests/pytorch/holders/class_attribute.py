# SPDX-License-Identifier: Apache-2.0
"""A list that is an attribute of a class: all instances share it, and it outlives them."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


class Meter:
    samples = []

    def __init__(self):
        if FIXED:
            self.samples = []

    def add(self, tensor):
        self.samples.append(tensor)
        return len(self.samples)


net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(STEPS):
    meter = Meter()
    output = net(torch.rand(BATCH, 64, device="cuda"))
    meter.add(output.detach())
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
