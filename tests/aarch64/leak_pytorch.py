# SPDX-License-Identifier: Apache-2.0
"""Trains a small model for 40 steps and keeps a copy of each step's output, which has 4096 bytes. For
tools/test-aarch64 --pytorch."""

import torch

model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []


def remember(output):
    history.append(output.detach().clone())


def step():
    optimizer.zero_grad()
    output = model(torch.ones(32, 32, device="cuda"))
    remember(output)
    output.sum().backward()
    optimizer.step()


for _ in range(40):
    step()
