# SPDX-License-Identifier: Apache-2.0
"""Three lists grow, one for each label."""
import collections

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train():
    net(torch.rand(BATCH, 64, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


by_label = collections.defaultdict(list)
for step in range(STEPS):
    train()
    by_label[step % 3].append(torch.rand(BATCH, WIDTH, device="cuda"))
    if FIXED:
        by_label.clear()
