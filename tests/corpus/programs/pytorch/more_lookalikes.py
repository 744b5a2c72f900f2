# SPDX-License-Identifier: Apache-2.0
"""What grows for a while, or looks so, and is no leak; the argument says which."""
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
    return y.detach()


def optimizer_state():
    for _ in range(STEPS):
        train()
    no_leak(state="one_time|steady")


def recorded_streams():
    """What another stream has used goes only when that stream has come so far."""
    side = torch.cuda.Stream()
    for _ in range(STEPS):
        sent = torch.rand(256, WIDTH, device="cuda")  # SITE sent
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            sent.mul_(2)
        sent.record_stream(side)
        del sent
        train()
    no_leak(sent="steady|phase_accumulation|cycle_garbage")


def generation():
    """A cache that grows within each answer and ends with it."""
    with torch.no_grad():
        for _ in range(STEPS // 12):
            keys = torch.empty(4, 0, WIDTH, device="cuda")
            for _ in range(12):
                key = net(torch.rand(4, 1, WIDTH, device="cuda"))
                keys = torch.cat([keys, key], 1)  # SITE keys
                F.scaled_dot_product_attention(key, keys, keys)
    no_leak(keys="steady|phase_accumulation|one_time")


def variable_lengths():
    """Segments are made for ever other sizes, whose blocks do not fit into those of before."""
    kept = []
    for step in range(STEPS):
        length = 1000 + step * 7919 % 9973
        batch = torch.rand(length, 2 * WIDTH, device="cuda")  # SITE batch
        kept.append(torch.rand(300, 2 * WIDTH, device="cuda"))  # SITE kept
        train()
        del batch
        if len(kept) > 5:
            del kept[0]
    no_leak(batch="steady|fragmentation_growth|sublinear|one_time", kept="steady|fragmentation_growth|sublinear|one_time")


def autocast_within_a_phase():
    """The copies of an evaluation's parameters go with its context."""
    for _ in range(STEPS // 15):
        with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
            for _ in range(15):
                adapter = torch.rand(WIDTH, WIDTH, device="cuda").requires_grad_()
                F.linear(torch.rand(8, WIDTH, device="cuda"), adapter)  # SITE cast
                with torch.autocast("cuda", enabled=False):
                    with torch.enable_grad():
                        train()
    no_leak(cast="phase_accumulation|steady")


def buffer_of_turns():
    """A replay buffer that is full after 30 steps."""
    turns = []
    for _ in range(STEPS):
        y = train() * 2  # SITE turn
        turns.append(y)
        del y
        if len(turns) > 30:
            del turns[0]
    no_leak(turn="steady|sublinear")


def moving_weights():
    """The average of the weights, made anew in every step."""
    average = None
    for _ in range(STEPS):
        train()
        weights = [weight.detach() for weight in net.parameters()]
        average = [w.clone() for w in weights] if average is None else [
            0.9 * a + w for a, w in zip(average, weights)]  # SITE average
    no_leak(average="steady|one_time")


CASES = (optimizer_state, recorded_streams, generation, variable_lengths, autocast_within_a_phase,
         buffer_of_turns, moving_weights)
if __name__ == "__main__":
    {case.__name__: case for case in CASES}[sys.argv[1]]()
