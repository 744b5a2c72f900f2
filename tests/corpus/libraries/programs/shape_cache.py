# SPDX-License-Identifier: Apache-2.0
"""Attention masks by sequence length are cached. In the fixed variant lengths come from eight buckets, so that the cache fills and is full;
in the leaky one the key has the step in it, and no entry is ever used again."""
import torch
from x_transformers import ContinuousTransformerWrapper, Encoder

from truth import LEAKY, STEPS, describe, step_end

masks = {}


def mask_of(length, step):
    key = (length, step) if LEAKY else length
    if key not in masks:
        masks[key] = torch.ones(2, length, dtype=torch.bool, device="cuda").repeat(1, 1)  # LEAK
    return masks[key]


model = ContinuousTransformerWrapper(dim_in=16, dim_out=16, max_seq_len=64, attn_layers=Encoder(dim=32, depth=1, heads=2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
describe("train step", period=8)
for step in range(STEPS):
    length = 8 + 4 * (step * 5 % 8)
    loss = model(torch.rand(2, length, 16, device="cuda"), mask=mask_of(length, step)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    del loss
    step_end()
