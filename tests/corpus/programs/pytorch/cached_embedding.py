# SPDX-License-Identifier: Apache-2.0
"""A method with a tensor as argument is cached: each tensor is another key, and its result is never asked for again."""
import functools

import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

TOKENS, WIDTH = 64, 256
table = nn.Embedding(100, WIDTH).cuda()


def embed(tokens):
    return table(tokens)  # LEAK embedding


look_up = functools.lru_cache(maxsize=None)(embed) if LEAKY else embed
with torch.no_grad():
    for step in range(STEPS):
        tokens = torch.zeros(TOKENS, dtype=torch.long, device="cuda")  # LEAK tokens
        torch.tanh(look_up(tokens)).sum().item()
        del tokens
expect(embedding=block_bytes(TOKENS, WIDTH), tokens=block_bytes(TOKENS, item=8))
