# SPDX-License-Identifier: Apache-2.0
"""A registry in another module, to which each step adds an entry under a new name."""
import feature_store
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(STEPS):
    output = net(torch.rand(BATCH, 64, device="cuda"))
    feature_store.register("batch-%d" % step, output.detach())
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if FIXED:
        feature_store.forget("batch-%d" % step)
