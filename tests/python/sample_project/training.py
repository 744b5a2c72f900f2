# SPDX-License-Identifier: Apache-2.0
"""A small model that is trained, in a way that leaks and in one that does not."""
import torch


class Trainer:
    def __init__(self):
        self.model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.losses = []

    def loss_of(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def leaky_step(self, batch):
        # The loss keeps its part of the graph.
        self.losses.append(self.loss_of(batch))

    def step(self, batch):
        self.losses.append(self.loss_of(batch).detach().cpu())
