# SPDX-License-Identifier: Apache-2.0
"""One row of each output is kept for later; the view holds the whole of it."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, CLASSES = 64, 1000


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(32, 64), nn.Linear(64, CLASSES)

    def forward(self, x):
        x = torch.relu(self.body(x))
        return self.head(x)  # LEAK output


net = Classifier().cuda()
optimizer = torch.optim.AdamW(net.parameters())
kept = []
for step in range(STEPS):
    output = net(torch.rand(BATCH, 32, device="cuda"))
    output.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(output.detach()[-1] if LEAKY else output.detach()[-1].clone().cpu())
    del output
expect(output=block_bytes(BATCH, CLASSES))
