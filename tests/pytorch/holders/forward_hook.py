# SPDX-License-Identifier: Apache-2.0
"""A forward hook, meant for a look at one batch, keeps the outputs of a layer of all batches."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Sequential(nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 16)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
activations = []


def keep(module, inputs, output):
    activations.append(output.shape if FIXED else output.detach())


net[0].register_forward_hook(keep)
for _ in range(STEPS):
    net(torch.rand(BATCH, 64, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
