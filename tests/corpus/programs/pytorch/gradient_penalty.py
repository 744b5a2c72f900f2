# SPDX-License-Identifier: Apache-2.0
"""The norms of a gradient penalty are logged as they are, with the graph of the gradient behind each."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH = 32, 128
net = nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
norms = []


def penalty(x):
    y = torch.exp(net(x))  # LEAK output
    (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)  # LEAK root
    return gradient.pow(2).sum()  # LEAK norm


for step in range(STEPS):
    x = torch.rand(BATCH, WIDTH, device="cuda").requires_grad_()  # LEAK input
    norm = penalty(x)
    norm.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
    norms.append(norm if LEAKY else norm.item())
    del norm, x
# Autograd's thread makes the gradient, what it is made of and the gradients of those two, for operations of the line
# that has the output.
expect(output=4 * block_bytes(BATCH, WIDTH), input=block_bytes(BATCH, WIDTH), root=block_bytes(), norm=block_bytes())
