# SPDX-License-Identifier: Apache-2.0
"""The hidden state goes from batch to batch without detach(): the graph reaches back to the first."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH = 16, 128
inner, outer = nn.Linear(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD([*inner.parameters(), *outer.parameters()], lr=0.1)
hidden = torch.zeros(BATCH, WIDTH, device="cuda")
for step in range(STEPS):
    x = torch.rand(BATCH, WIDTH, device="cuda")  # LEAK input
    if not LEAKY:
        hidden = hidden.detach()
    hidden = torch.tanh(inner(x) + outer(hidden))  # LEAK hidden
    loss = hidden.mean()
    loss.backward(retain_graph=LEAKY)
    # In place: a step of the optimizer would make the old graph unusable.
    optimizer.zero_grad()
    del x, loss
expect(hidden=block_bytes(BATCH, WIDTH), input=block_bytes(BATCH, WIDTH))
