# SPDX-License-Identifier: Apache-2.0
"""The running sum of losses keeps the graphs of a training loop that asked for them to be retained."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH = 32, 256


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, WIDTH), nn.Linear(WIDTH, 8)

    def forward(self, x):
        hidden = torch.tanh(self.first(x))  # LEAK hidden
        return self.second(hidden)


net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for step in range(STEPS):
    x = torch.rand(BATCH, 64, device="cuda")  # LEAK input
    loss = net(x).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    total = total + (loss if LEAKY else loss.detach())
    del loss, x
expect(hidden=block_bytes(BATCH, WIDTH), input=block_bytes(BATCH, 64))
