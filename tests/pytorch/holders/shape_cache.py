# SPDX-License-Identifier: Apache-2.0
"""A cache of masks by shape. The lengths vary, so there is a new shape in almost every step."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS

net = nn.Linear(64, 16).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
mask_by_shape = {}


def mask_for(length):
    shape = (1, length, 512) if not FIXED else (1, 512, 512)
    if shape not in mask_by_shape:
        mask_by_shape[shape] = torch.ones(shape, device="cuda")
    return mask_by_shape[shape]


for step in range(STEPS):
    mask_for(512 + step)
    net(torch.rand(BATCH, 64, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
