# SPDX-License-Identifier: Apache-2.0
"""A loader keeps the pinned host memory of every batch."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, expect

net = nn.Linear(1024, 8).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batches = []
for step in range(STEPS):
    batch = torch.rand(64, 1024)
    batch = batch.pin_memory()  # LEAK pin
    net(batch.cuda(non_blocking=True)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if LEAKY:
        batches.append(batch)
    torch.cuda.synchronize()
expect(pin=64 * 1024 * 4)
