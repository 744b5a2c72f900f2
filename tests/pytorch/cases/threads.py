# SPDX-License-Identifier: Apache-2.0
"""Threads and greenlets that allocate at the same time."""
import threading

import greenlet
import torch

from models import Transformer, loss_of, tokens
from watch import case, checkpoint, run_cases, settle


def together(function, count):
    threads = [threading.Thread(target=function, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@case
def threads_train():
    shapes = [None] * 4
    models = [Transformer(layers=1).cuda() for _ in shapes]

    def train(i):
        for _ in range(3):
            loss = loss_of(models[i], tokens())
            loss.backward()
            models[i].zero_grad()
        shapes[i] = loss.shape

    together(train, len(shapes))
    return shapes


@case
def freed_by_another_thread():
    held = []
    together(lambda i: held.extend(torch.empty(1000 * (i + 1), device="cuda") for _ in range(50)), 4)
    settle()
    checkpoint("held")
    together(lambda i: [held.pop() for _ in range(50)], 4)
    return len(held)


@case
def greenlets():
    held = []

    def allocate(size):
        for _ in range(20):
            held.append(torch.empty(size, device="cuda"))
            greenlet.getcurrent().parent.switch()

    ones = [greenlet.greenlet(allocate) for _ in range(5)]
    for i, one in enumerate(ones):
        one.switch(100 * (i + 1))
    for _ in range(19):
        for one in ones:
            one.switch()
    checkpoint("held")
    return len(held)


run_cases()
