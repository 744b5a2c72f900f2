# SPDX-License-Identifier: Apache-2.0
"""A variable keeps an exception whose traceback has the variable: a cycle, and the garbage collector is off."""
import gc

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train():
    net(torch.rand(BATCH, 64, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def attempt():
    features = torch.rand(BATCH, WIDTH, device="cuda")
    failure = None
    try:
        raise ValueError("the batch is bad")
    except ValueError as error:
        failure = error
    if FIXED:
        del failure
    return features.shape


gc.disable()
for _ in range(STEPS):
    train()
    attempt()
