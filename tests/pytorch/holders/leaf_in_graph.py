# SPDX-License-Identifier: Apache-2.0
"""Inputs that require a gradient are kept by the graph of each loss, and their gradients are."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(WIDTH, 16).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
for _ in range(STEPS):
    features = torch.rand(BATCH, WIDTH, device="cuda", requires_grad=True)
    loss = net(features).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item() if FIXED else loss)
