# SPDX-License-Identifier: Apache-2.0
"""A log keeps exceptions. Their tracebacks keep the frames, and those the local variables."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(WIDTH, 16).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
errors = []


def check(features, step):
    scaled = features * 2
    if step % 2 == 0:
        raise ValueError("batch %d of %d rows has a value that is not finite" % (step, len(scaled)))
    return scaled


for step in range(STEPS):
    features = torch.rand(BATCH, WIDTH, device="cuda")
    try:
        net(check(features, step)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    except ValueError as error:
        errors.append(str(error) if FIXED else error)
