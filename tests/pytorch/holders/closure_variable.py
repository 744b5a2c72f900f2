# SPDX-License-Identifier: Apache-2.0
"""A variable of an outer function, which the function that it returned keeps alive."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


def make_recorder():
    recorded = []

    def record(tensor):
        recorded.append(tensor.shape if FIXED else tensor.detach())
        return len(recorded)

    return record


net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
record_output = make_recorder()
for _ in range(STEPS):
    output = net(torch.rand(BATCH, 64, device="cuda"))
    record_output(output)
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
