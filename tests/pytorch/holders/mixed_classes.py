# SPDX-License-Identifier: Apache-2.0
"""A class without __slots__ whose base class has some: its instances have both a slot and a __dict__. A buffer keeps all of them."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


class Features:
    __slots__ = ("features",)


class Sample(Features):
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
