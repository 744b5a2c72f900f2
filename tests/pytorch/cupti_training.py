# SPDX-License-Identifier: Apache-2.0
"""usage: cupti_training.py [FIRST LAST]...: trains a small transformer that keeps one activation a step.

torch.profiler is at work from step FIRST up to LAST, or from before the first use of CUDA where FIRST is -1. At the end
of each profile it is printed how many kernels, copies and fills of each name it has seen.
"""
import collections
import sys
import time

import torch

import vramtrack

STEPS, BATCH, LENGTH, WIDTH = 40, 4, 32, 64
numbers = [int(word) for word in sys.argv[1:]]
profiles = dict(zip(numbers[::2], numbers[1::2]))

kept, profiler, last = [], None, None


def start_profile(step):
    global profiler, last
    last = profiles[step]
    profiler = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA])
    profiler.__enter__()


def on_device(profiler):
    events = collections.Counter()
    for event in profiler.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            events[event.name] += 1
    return events


if -1 in profiles:
    start_profile(-1)
model = torch.nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(STEPS):
    if step in profiles:
        start_profile(step)
    batch = torch.rand(BATCH, LENGTH, WIDTH).cuda()
    output = model(batch)
    kept.append(output.detach().clone())
    output.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    del batch, output
    vramtrack.step(step)
    if profiler is not None and step + 1 == last:
        torch.cuda.synchronize()
        profiler.__exit__(None, None, None)
        print("profile")
        for name, count in sorted(on_device(profiler).items()):
            print("event %d %s" % (count, name))
        profiler = None
time.sleep(.2)
