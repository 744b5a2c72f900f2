# SPDX-License-Identifier: Apache-2.0
"""A stream is followed with a hidden state that is never detached: its graph reaches back to the first item."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH = 16, 128
inner, outer = nn.Linear(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, WIDTH).cuda()
hidden = torch.zeros(BATCH, WIDTH, device="cuda")
for item in range(STEPS):
    x = torch.rand(BATCH, WIDTH, device="cuda")  # LEAK input
    if not LEAKY:
        hidden = hidden.detach()
    hidden = torch.tanh(inner(x) + outer(hidden))  # LEAK hidden
    del x
expect(hidden=block_bytes(BATCH, WIDTH), input=block_bytes(BATCH, WIDTH))
