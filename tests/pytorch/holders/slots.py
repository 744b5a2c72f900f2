# SPDX-License-Identifier: Apache-2.0
"""Instances with __slots__ have no __dict__. A buffer keeps all of them."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


class Sample:
    __slots__ = ("features", "number")

    def __init__(self, features, number):
        self.features = features
        self.number = number


net = nn.Linear(WIDTH, 16).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
replay = []
for step in range(STEPS):
    sample = Sample(torch.rand(BATCH, WIDTH, device="cuda"), step)
    net(sample.features).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    replay.append(sample)
    if FIXED and len(replay) > 4:
        replay.pop(0)
