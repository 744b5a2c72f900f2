# SPDX-License-Identifier: Apache-2.0
"""Containers that have not reached the limit that they have. The argument says which. They grow in each step, and will stop."""
import collections
import functools
import queue
import sys

import torch

from training import train
from variant import BATCH, STEPS, WIDTH

LIMIT = 5 * STEPS


def block():
    return torch.rand(BATCH, WIDTH, device="cuda")


def window():
    """A deque with maxlen."""
    last = collections.deque(maxlen=LIMIT)
    for _ in range(STEPS):
        train()
        last.append(block())


def cache():
    """A cache by number."""

    @functools.lru_cache(maxsize=LIMIT)
    def embedding(number):
        return block() + number

    for step in range(STEPS):
        train()
        embedding(step)


def requests():
    """A queue that nobody reads yet."""
    waiting = queue.Queue(maxsize=LIMIT)
    for _ in range(STEPS):
        train()
        waiting.put(block())


class ReplayBuffer:
    def __init__(self, capacity):
        self.capacity = capacity
        self.batch_size = 8
        self.memory = []

    def push(self, item):
        if len(self.memory) == self.capacity:
            self.memory.pop(0)
        self.memory.append(item)


def replay():
    """A list in an object that has a capacity."""
    buffer = ReplayBuffer(LIMIT)
    for _ in range(STEPS):
        train()
        buffer.push((block(), block()))


class Rollouts:
    def __init__(self):
        self._max_size = LIMIT
        self._rows = {"observations": [], "actions": []}

    def add(self):
        for row in self._rows.values():
            row.append(block())


def rollouts():
    """Lists in a dict of such an object."""
    storage = Rollouts()
    for _ in range(STEPS):
        train()
        storage.add()


{f.__name__: f for f in (window, cache, requests, replay, rollouts)}[sys.argv[1]]()
