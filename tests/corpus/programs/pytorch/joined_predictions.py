# SPDX-License-Identifier: Apache-2.0
"""A trainer joins the predictions of each step with those of all steps before, on the GPU. Corrected, it moves them to
the host."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, expect, no_leak

BATCH, CLASSES = 64, 1000

net = nn.Linear(32, CLASSES).cuda()
optimizer = torch.optim.AdamW(net.parameters())
predictions = None
average = torch.zeros(BATCH, CLASSES, device="cuda")
on_host = []
for step in range(STEPS):
    y = net(torch.rand(BATCH, 32, device="cuda"))
    y.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    # Replaced in each step as well, by one of its size.
    average = average * 0.9 + y.detach() * 0.1  # SITE average
    if LEAKY:
        predictions = y.detach() if predictions is None else torch.cat((predictions, y.detach()))  # LEAK predictions
    else:
        on_host.append(y.detach().cpu())
    del y
expect(predictions=BATCH * CLASSES * 4)
no_leak(average="steady|one_time")
