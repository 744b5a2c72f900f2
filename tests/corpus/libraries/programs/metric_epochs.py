# SPDX-License-Identifier: Apache-2.0
"""A torchmetrics metric that concatenates predictions is updated in each step and, in the leaky variant, never reset between epochs."""
import torch
from torchmetrics import CatMetric, MeanMetric

from truth import LEAKY, STEPS, describe, step_end

EPOCH = 8

model = torch.nn.Sequential(torch.nn.Linear(96, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=.1, momentum=.9)
scores = CatMetric(nan_strategy=0.0).cuda()
mean = MeanMetric(nan_strategy=0.0).cuda()
describe("train step", period=EPOCH, also={"epoch": STEPS // EPOCH})
for step in range(STEPS):
    predictions = model(torch.rand(512, 96, device="cuda")).squeeze(-1)  # LEAK
    loss = predictions.square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    scores.update(predictions.detach())  # LEAK
    mean.update(loss.detach())
    if step % EPOCH == EPOCH - 1:
        mean.compute()
        mean.reset()
        if not LEAKY:
            scores.reset()
    del predictions, loss
    step_end()
