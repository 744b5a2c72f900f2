# SPDX-License-Identifier: Apache-2.0
"""A full backward hook stores the gradients of a layer's output."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH = 16, 512
first, second = nn.Linear(32, WIDTH).cuda(), nn.Linear(WIDTH, 8).cuda()
optimizer = torch.optim.AdamW([*first.parameters(), *second.parameters()])
seen = []
first.register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs[0]) if LEAKY else None)
for step in range(STEPS):
    y = second(first(torch.rand(BATCH, 32, device="cuda")))  # LEAK gradient
    y.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    del y
expect(gradient=block_bytes(BATCH, WIDTH))
