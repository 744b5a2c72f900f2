# SPDX-License-Identifier: Apache-2.0
"""What grows for a while, or looks so, and is no leak; the argument says which."""
import collections
import gc
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from ground_truth import STEPS, no_leak

WIDTH = 128
net = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)).cuda()
optimizer = torch.optim.AdamW(net.parameters())


def train(batch=16):
    y = net(torch.rand(batch, WIDTH, device="cuda"))
    y.sum().backward()
    optimizer.step()  # SITE state
    optimizer.zero_grad()
    return y


def first_steps():
    """The optimizer's state and the workspace of cuBLAS come with the first step and stay."""
    for _ in range(STEPS):
        train()
    no_leak(state="one_time")


def cycles():
    """Objects that refer to each other, until the garbage collector comes."""
    gc.disable()
    for step in range(STEPS):
        holder = {"y": train().detach() + 1}  # SITE held
        holder["self"] = holder
        del holder
        if step % 20 == 19:
            gc.collect()
    # The collections come at equal distances.
    no_leak(held="phase_accumulation|cycle_garbage")


def bounded_cache():
    cache = collections.OrderedDict()
    for step in range(STEPS):
        cache[step * 7 % 50] = train().detach() + 1  # SITE entry
        while len(cache) > 16:
            cache.popitem(last=False)
    no_leak(entry="steady|sublinear")


def cache_by_shape():
    """One mask for each length; there are twelve lengths."""
    masks = {}
    for step in range(STEPS):
        length = 8 + step * step % 13
        if length not in masks:
            masks[length] = torch.ones(length, length, device="cuda")  # SITE mask
        train(batch=length)
    no_leak(mask="one_time|sublinear")


def phases():
    """Predictions are kept until the evaluation ends."""
    for _ in range(4):
        predictions = []
        for _ in range(STEPS // 4):
            predictions.append(train().detach() + 1)  # SITE prediction
        torch.cat(predictions)
    no_leak(prediction="phase_accumulation")


def static_cache():
    keys = torch.zeros(4, 64, WIDTH, device="cuda")  # SITE keys
    for step in range(STEPS):
        keys[:, step % 64] = train(4).detach()
    no_leak(keys="one_time")


def curriculum():
    """Ever longer batches: the peak grows, what survives a step does not."""
    for step in range(STEPS):
        train(batch=4 + step)
    no_leak(state="one_time")


def moving_average():
    average = None
    for _ in range(STEPS):
        y = train().detach()
        average = y if average is None else F.normalize(average * 0.9 + y * 0.1)  # SITE average
    no_leak(average="steady")


{f.__name__: f for f in (first_steps, cycles, bounded_cache, cache_by_shape, phases, static_cache, curriculum,
                         moving_average)}[sys.argv[1]]()
