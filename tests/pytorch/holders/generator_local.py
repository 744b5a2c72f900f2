# SPDX-License-Identifier: Apache-2.0
"""A generator keeps the batches that it has yielded in a local variable."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


def load():
    yielded = []
    while True:
        batch = torch.rand(BATCH, WIDTH, device="cuda")
        yielded.append(batch.shape if FIXED else batch)
        yield batch


net = nn.Linear(WIDTH, 16).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batches = load()
for _ in range(STEPS):
    net(next(batches)).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
