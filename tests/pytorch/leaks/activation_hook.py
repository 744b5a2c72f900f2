# SPDX-License-Identifier: Apache-2.0
"""A forward hook, meant for a look at one batch, stores the activations of all."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH = 16, 512


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(32, WIDTH), nn.Linear(WIDTH, 8)

    def forward(self, x):
        return self.second(F.gelu(self.first(x)))  # LEAK activation


net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
seen = []
net.first.register_forward_hook(lambda module, inputs, output: seen.append(output.detach()) if LEAKY else None)
for step in range(STEPS):
    net(torch.rand(BATCH, 32, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
expect(activation=block_bytes(BATCH, WIDTH))
