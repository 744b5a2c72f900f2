# SPDX-License-Identifier: Apache-2.0
"""Futures of C++ hold their results: no reference of Python leads to them."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
futures = []
for _ in range(STEPS):
    output = net(torch.rand(BATCH, 64, device="cuda"))
    future = torch.futures.Future()
    future.set_result(output.detach())
    futures.append(future)
    output.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if FIXED:
        futures.clear()
    del future
