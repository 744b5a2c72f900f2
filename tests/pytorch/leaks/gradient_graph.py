# SPDX-License-Identifier: Apache-2.0
"""backward(create_graph=True) into gradients that are never given up: each keeps the graph of all steps before."""
import torch

from ground_truth import LEAKY, STEPS, block_bytes, expect

ROWS, COLUMNS = 64, 128
weight = torch.rand(ROWS, COLUMNS, device="cuda", requires_grad=True)
for step in range(STEPS):
    x = torch.rand(ROWS, COLUMNS, device="cuda")  # LEAK input
    y = torch.exp(weight * x)  # LEAK result
    y.sum().backward(create_graph=True)  # LEAK root
    if not LEAKY:
        weight.grad = None
    del x, y
expect(result=block_bytes(ROWS, COLUMNS), input=block_bytes(ROWS, COLUMNS), root=block_bytes())
