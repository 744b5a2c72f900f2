# SPDX-License-Identifier: Apache-2.0
"""A server stores the cache of keys and values with each answer. It marks its requests: it has no optimizer to go by."""
import torch
import torch.nn as nn
import vramtrack

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH, TOKENS = 2, 128, 6
project = nn.Linear(WIDTH, 2 * WIDTH).cuda()
answers = []


def generate():
    keys = values = torch.empty(BATCH, 0, WIDTH, device="cuda")
    for _ in range(TOKENS):
        key, value = project(torch.rand(BATCH, 1, WIDTH, device="cuda")).split(WIDTH, 2)
        keys = torch.cat([keys, key], 1)  # LEAK keys
        values = torch.cat([values, value], 1)  # LEAK values
    return keys[:, -1].sum().item(), (keys, values)


with torch.no_grad():
    for request in range(STEPS):
        answer, cache = generate()
        answers.append((answer, cache) if LEAKY else (answer,))
        del cache
        vramtrack.step(request, tokens=BATCH * TOKENS)
expect(keys=block_bytes(BATCH, TOKENS, WIDTH), values=block_bytes(BATCH, TOKENS, WIDTH))
