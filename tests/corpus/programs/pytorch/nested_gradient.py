# SPDX-License-Identifier: Apache-2.0
"""A custom function differentiates within its backward pass, and keeps the result for a look at it."""
import torch

from ground_truth import LEAKY, STEPS, block_bytes, expect

ROWS, COLUMNS = 64, 128
seen = []


class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            copy = x.detach().clone().requires_grad_()  # LEAK copy
            (inner,) = torch.autograd.grad(torch.exp(copy).sum(), copy, create_graph=True)  # LEAK inner
        seen.append(inner if LEAKY else None)
        return gradient * inner.detach()


weight = torch.rand(ROWS, COLUMNS, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(STEPS):
    Inner.apply(weight).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
expect(copy=block_bytes(ROWS, COLUMNS), inner=0)
