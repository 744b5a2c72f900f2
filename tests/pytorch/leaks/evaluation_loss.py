# SPDX-License-Identifier: Apache-2.0
"""The sum of the losses keeps the graph of every evaluation step, and with it what the graph saved."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH = 32, 256


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, WIDTH), nn.Linear(WIDTH, 8)

    def forward(self, x):
        hidden = self.first(x)
        hidden = torch.sigmoid(hidden)  # LEAK hidden
        return self.second(hidden)


net = Net().cuda()
total = 0.0
for step in range(STEPS):
    x = torch.rand(BATCH, 64, device="cuda")  # LEAK input
    loss = net(x).mean()
    total = total + (loss if LEAKY else loss.item())
    del loss, x
expect(hidden=block_bytes(BATCH, WIDTH), input=block_bytes(BATCH, 64))
