# SPDX-License-Identifier: Apache-2.0
"""A history for a plot keeps the loss of each step, and with it the graph of the step."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 16)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
history = []
for step in range(STEPS):
    loss = net(torch.rand(BATCH, WIDTH, device="cuda")).mean()
    loss.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
    history.append({"step": step, "loss": loss.item() if FIXED else loss})
