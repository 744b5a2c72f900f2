# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation with Accelerate. The losses of an epoch are gathered for its mean; the list lives longer than the epoch."""
import torch
from accelerate import Accelerator

from truth import LEAKY, STEPS, describe, step_end

ACCUMULATE, EPOCH = 4, 10

accelerator = Accelerator(gradient_accumulation_steps=ACCUMULATE)
model = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(), torch.nn.Linear(512, 128))
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(EPOCH * ACCUMULATE * 8, 128)), 8)
model, optimizer, data = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), data)
describe("train step", period=EPOCH, also={"micro-step": STEPS * ACCUMULATE, "epoch": STEPS // EPOCH})
losses = []
for epoch in range(STEPS // EPOCH):
    for (batch,) in data:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(batch), batch, reduction="none").mean(0)  # LEAK
            accelerator.backward(loss.mean())
            optimizer.step()
            optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()))  # LEAK
        if accelerator.sync_gradients:
            step_end()
    torch.stack(losses).mean(0)
    if not LEAKY:
        losses.clear()
