# SPDX-License-Identifier: Apache-2.0
"""The sum for the epoch's average is a tensor, which keeps the graphs of all validation steps."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Sigmoid(), nn.Linear(WIDTH, 16)).cuda()
total_loss = 0.0
for _ in range(STEPS):
    loss = net(torch.rand(BATCH, WIDTH, device="cuda")).mean()
    total_loss += loss.item() if FIXED else loss
    del loss
