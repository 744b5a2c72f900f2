# SPDX-License-Identifier: Apache-2.0
"""A NumPy array of objects keeps a tensor for each step."""
import numpy as np
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train():
    net(torch.rand(BATCH, 64, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


table = np.empty(STEPS, dtype=object)
for step in range(STEPS):
    train()
    table[0 if FIXED else step] = torch.rand(BATCH, WIDTH, device="cuda")
