# SPDX-License-Identifier: Apache-2.0
"""A deque for a moving average, without maxlen."""
import collections

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
window = collections.deque(maxlen=8 if FIXED else None)
for _ in range(STEPS):
    output = net(torch.rand(BATCH, 64, device="cuda"))
    window.append(output.detach())
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
