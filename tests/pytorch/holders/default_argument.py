# SPDX-License-Identifier: Apache-2.0
"""A list as the default of a parameter is made once, and all calls share it."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def collect(tensor, collected=[]):  # noqa: B006
    if FIXED:
        collected = []
    collected.append(tensor)
    return len(collected)


for _ in range(STEPS):
    output = net(torch.rand(BATCH, 64, device="cuda"))
    collect(output.detach())
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
