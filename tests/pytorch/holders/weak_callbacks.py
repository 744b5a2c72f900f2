# SPDX-License-Identifier: Apache-2.0
"""The callback of a weak reference has a tensor as its default argument."""
import weakref

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train():
    net(torch.rand(BATCH, 64, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


class Session:
    pass


sessions, references = [], []
for _ in range(STEPS):
    train()
    session, features = Session(), torch.rand(BATCH, WIDTH, device="cuda")
    sessions.append(session)
    references.append(weakref.ref(session, lambda _, features=features: None))
    if FIXED:
        references.clear()
