# SPDX-License-Identifier: Apache-2.0
"""Metric learning with a distance of pytorch-metric-learning and a memory of past batches, which has a limit, and a list of all embeddings for a plot, which
has none and is kept from the run's second third on."""
import torch
from pytorch_metric_learning.distances import CosineSimilarity

from truth import LEAKY, STEPS, describe, step_end

MEMORY = 128

trunk = torch.nn.Sequential(torch.nn.Linear(60, 120), torch.nn.BatchNorm1d(120), torch.nn.ReLU(), torch.nn.Linear(120, 40)).cuda()
distance = CosineSimilarity()
optimizer = torch.optim.AdamW(trunk.parameters())
memory, cursor = torch.zeros(MEMORY, 40, device="cuda"), 0
plotted = []
describe("train step", onset=STEPS // 3)
for step in range(STEPS):
    embeddings = torch.nn.functional.normalize(trunk(torch.rand(32, 60, device="cuda")))  # LEAK
    similarity = distance(embeddings, memory.clone())
    loss = similarity.exp().mean() + similarity.square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    memory[cursor:cursor + 32] = embeddings.detach()
    cursor = (cursor + 32) % MEMORY
    if LEAKY and step >= STEPS // 3:
        plotted.append(embeddings.detach())  # LEAK
    del embeddings, similarity, loss
    step_end()
