# SPDX-License-Identifier: Apache-2.0
"""Training with an Ignite engine. A handler collects the engine's outputs for a report that is written at the end of the run."""
import torch
from ignite.engine import Engine, Events

from truth import LEAKY, STEPS, describe, step_end

EPOCH = 20

model = torch.nn.Sequential(torch.nn.Conv1d(4, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(40)).cuda()
model(torch.zeros(1, 4, 30, device="cuda"))
optimizer = torch.optim.RMSprop(model.parameters())
collected = []


def update(engine, batch):
    predictions = model(batch)  # LEAK
    loss = predictions.square().mean()  # LEAK
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return {"loss": loss, "predictions": predictions}


trainer = Engine(update)


@trainer.on(Events.ITERATION_COMPLETED)
def collect(engine):
    if LEAKY:
        collected.append(engine.state.output)  # LEAK
    step_end()


describe("train step", also={"epoch": STEPS // EPOCH})
trainer.run([torch.rand(8, 4, 30, device="cuda") for _ in range(EPOCH)], max_epochs=STEPS // EPOCH)
