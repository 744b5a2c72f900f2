# SPDX-License-Identifier: Apache-2.0
"""The layers of training.py."""
import torch


class Attention(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.queries = torch.nn.Linear(width, width)  # @queries_weight
        self.keys = torch.nn.Linear(width, 2 * width)  # @keys_weight
        self.out = torch.nn.Linear(width, width)  # @out_weight
        self.kept = []

    def scores(self, queries, keys):
        raw = queries @ keys[..., :queries.shape[-1]].transpose(-1, -2)  # @raw_scores
        return torch.softmax(raw, -1)  # @softmax

    def forward(self, x):
        queries = self.queries(x)  # @queries
        keys = self.keys(x)  # @keys
        weights = self.scores(queries, keys)  # @scores
        # LEAK goes here
        return self.out(weights @ x)  # @out


class FeedForward(torch.nn.Module):
    def __init__(self, width, factor=4):
        super().__init__()
        self.up = torch.nn.Linear(width, factor * width)  # @up_weight
        self.down = torch.nn.Linear(factor * width, width)  # @down_weight

    def forward(self, x):
        hidden = self.up(x)  # @up
        active = torch.nn.functional.gelu(hidden)  # @gelu
        return self.down(active)  # @down
