# SPDX-License-Identifier: Apache-2.0
"""A new optimizer for each round, for a new learning rate. The old ones stay in a list, with their state."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS

net = nn.Linear(512, 256).cuda()
optimizers = []
for step in range(STEPS):
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.1 / (step + 1))
    if FIXED:
        optimizers.clear()
    optimizers.append(optimizer)
    net(torch.rand(BATCH, 512, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
