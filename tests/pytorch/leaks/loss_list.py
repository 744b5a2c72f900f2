# SPDX-License-Identifier: Apache-2.0
"""Losses kept as tensors for a plot: one block of 512 bytes a step."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

net = nn.Linear(64, 8).cuda()
optimizer = torch.optim.AdamW(net.parameters())
losses = []
for step in range(STEPS):
    loss = net(torch.rand(16, 64, device="cuda")).mean()  # LEAK loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.detach() if LEAKY else loss.item())
    del loss
expect(loss=block_bytes())
