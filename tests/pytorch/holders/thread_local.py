# SPDX-License-Identifier: Apache-2.0
"""A list in a threading.local."""
import threading

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train():
    net(torch.rand(BATCH, 64, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


local = threading.local()
local.batches = []
for _ in range(STEPS):
    train()
    local.batches.append(torch.rand(BATCH, WIDTH, device="cuda"))
    if FIXED:
        local.batches.clear()
