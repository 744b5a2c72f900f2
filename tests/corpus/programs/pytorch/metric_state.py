# SPDX-License-Identifier: Apache-2.0
"""A metric collects the predictions of all batches of an epoch, and of all epochs: nobody resets it."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect, no_leak

BATCH, CLASSES, EPOCH = 64, 20, 10


class Metric:
    def __init__(self):
        self.predictions, self.targets = [], []

    def update(self, predictions, targets):
        self.predictions.append(predictions.softmax(-1))  # LEAK predictions # SITE predictions
        self.targets.append(targets)

    def compute(self):
        return torch.cat(self.predictions).mean().item(), torch.cat(self.targets).float().mean().item()

    def reset(self):
        self.__init__()


net = nn.Linear(32, CLASSES).cuda()
optimizer = torch.optim.AdamW(net.parameters())
metric = Metric()
for step in range(STEPS):
    targets = torch.zeros(BATCH, dtype=torch.long, device="cuda")  # LEAK targets # SITE targets
    y = net(torch.rand(BATCH, 32, device="cuda"))
    y.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    metric.update(y.detach(), targets)
    del y, targets
    if step % EPOCH == EPOCH - 1:
        metric.compute()
        if not LEAKY:
            metric.reset()
expect(predictions=block_bytes(BATCH, CLASSES), targets=block_bytes(BATCH, item=8))
if not LEAKY:
    no_leak(predictions="phase_accumulation", targets="phase_accumulation")
