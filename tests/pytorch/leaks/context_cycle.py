# SPDX-License-Identifier: Apache-2.0
"""A custom function keeps its output as an attribute of ctx: a cycle, in a job that has switched the collector off."""
import gc

import torch

from ground_truth import LEAKY, STEPS, block_bytes, expect

ROWS, COLUMNS = 32, 256


class Exponential(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x)  # LEAK output
        if LEAKY:
            ctx.y = y
        else:
            ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        y = ctx.y if LEAKY else ctx.saved_tensors[0]
        return gradient * y


gc.disable()
weight = torch.rand(ROWS, COLUMNS, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(STEPS):
    Exponential.apply(weight).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
expect(output=block_bytes(ROWS, COLUMNS))
