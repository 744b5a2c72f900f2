# SPDX-License-Identifier: Apache-2.0
"""Training with differential privacy (Opacus). The norms of the per-sample gradients are recorded with the gradients that they came from,
by a program that means to look at outliers."""
import torch
from opacus import PrivacyEngine

from truth import LEAKY, STEPS, describe, step_end

model = torch.nn.Sequential(torch.nn.Linear(32, 48), torch.nn.ReLU(), torch.nn.Linear(48, 8)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(STEPS * 4, 32)), 4)
model, optimizer, data = PrivacyEngine(secure_mode=False).make_private(module=model, optimizer=optimizer, data_loader=data,
                                                                       noise_multiplier=1.0, max_grad_norm=1.0, poisson_sampling=False)
outliers = []
describe("train step")
for (batch,) in data:
    loss = model(batch.cuda()).square().mean()
    loss.backward()  # LEAK
    if LEAKY:
        outliers.append([weight.grad_sample for weight in model.parameters()])  # LEAK
    optimizer.step()
    optimizer.zero_grad()
    del batch, loss
    step_end()
