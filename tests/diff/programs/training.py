# SPDX-License-Identifier: Apache-2.0
"""usage: training.py STEPS: trains a small transformer with Adam."""
import sys
import time

import torch

from blocks import Attention, FeedForward

WIDTH, BATCH, LENGTH, LAYERS = 512, 4, 256, 2


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention(WIDTH)  # @make_attention
        self.feed_forward = FeedForward(WIDTH)  # @make_feed_forward

    def forward(self, x):
        x = x + self.attention(x)  # @attention
        return x + self.feed_forward(x)  # @feed_forward


def make_batch():
    return torch.ones(BATCH, LENGTH, WIDTH, device="cuda")  # @batch


def compute_loss(model, batch):
    output = model(batch)  # @model
    return output.square().mean()  # @loss


def train_step(model, optimizer):
    loss = compute_loss(model, make_batch())  # @forward
    loss.backward()  # @backward
    optimizer.step()  # @optimizer
    optimizer.zero_grad()


def main():
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[Layer() for _ in range(LAYERS)]).to("cuda")  # @to_device
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(int(sys.argv[1])):
        train_step(model, optimizer)
    # PyTorch's backward thread may still be letting go of Python objects: an interpreter that ends meanwhile stops it within
    # a destructor, which aborts the process.
    time.sleep(0.2)


if __name__ == "__main__":
    main()
