# SPDX-License-Identifier: Apache-2.0
"""Programs that hold memory for good reasons. The argument says which; none of them leaks."""
import collections
import copy
import functools
import sys

import torch

from training import net, train
from variant import BATCH, STEPS, WIDTH


def bounded_window():
    """A deque with maxlen."""
    window = collections.deque(maxlen=8)
    for _ in range(STEPS):
        train()
        window.append(torch.rand(BATCH, WIDTH, device="cuda"))


def average_model():
    """A copy of the model with averaged weights."""
    average = copy.deepcopy(net)
    for _ in range(STEPS):
        train()
        with torch.no_grad():
            for mean, parameter in zip(average.parameters(), net.parameters()):
                mean.lerp_(parameter, 0.01)


def replay_ring():
    """A replay buffer of fixed size, overwritten from its beginning."""
    ring = [None] * 10
    for step in range(STEPS):
        train()
        ring[step % len(ring)] = torch.rand(BATCH, WIDTH, device="cuda")


def limited_cache():
    """A cache by length with as many entries as there are lengths."""

    @functools.lru_cache(maxsize=4)
    def mask(length):
        return torch.ones(length, WIDTH, device="cuda")

    for step in range(STEPS):
        mask(256 + step % 4)
        train()


def best_output():
    """The best output so far, replaced now and then."""
    best = None
    for step in range(STEPS):
        output = train()
        if step % 7 == 0:
            best = output.clone()
    return best


def kept_scalars():
    """The losses as numbers."""
    losses = []
    for _ in range(STEPS):
        losses.append(train().mean().item())


{f.__name__: f for f in (bounded_window, average_model, replay_ring, limited_cache, best_output, kept_scalars)}[sys.argv[1]]()
