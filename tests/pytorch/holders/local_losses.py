# SPDX-License-Identifier: Apache-2.0
"""The losses are kept in a local variable of a function that still runs."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


def train(net, optimizer):
    losses = []
    for _ in range(STEPS):
        loss = net(torch.rand(BATCH, 64, device="cuda")).mean()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item() if FIXED else loss)
    return len(losses)


def main():
    net = nn.Sequential(nn.Linear(64, WIDTH), nn.GELU(), nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, 16)).cuda()
    train(net, torch.optim.SGD(net.parameters(), lr=0.1))


main()
