# SPDX-License-Identifier: Apache-2.0
"""Objects refer to each other, and the garbage collector is off."""
import gc

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


class Request:
    def __init__(self, output):
        self.output = output
        self.owner = None if FIXED else self


gc.disable()
net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(STEPS):
    output = net(torch.rand(BATCH, 64, device="cuda"))
    request = Request(output.detach())
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
