# SPDX-License-Identifier: Apache-2.0
"""A custom autograd function keeps its contexts, and with them what it stored in them."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

contexts = []


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, features, factor):
        ctx.features, ctx.factor = features.detach(), factor
        if not FIXED:
            contexts.append(ctx)
        return features * factor

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None


net = nn.Linear(64, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(STEPS):
    Scale.apply(net(torch.rand(BATCH, 64, device="cuda")), 0.5).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
