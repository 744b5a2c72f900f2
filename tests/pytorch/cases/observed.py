# SPDX-License-Identifier: Apache-2.0
"""Tools of PyTorch's own at the same time: each still tells what it tells without us."""
import torch
from torch.profiler import ProfilerActivity, profile, record_function

from models import model_and_optimizer, step, tokens
from watch import case, checkpoint, run_cases, settle


@case
def profiler():
    model, optimizer = model_and_optimizer()
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, profile_memory=True, record_shapes=True, with_stack=True) as observed:
        with record_function("two steps"):
            for _ in range(2):
                step(model, optimizer)
        settle()
    events = observed.events()
    return (sum(event.self_device_memory_usage for event in events), sum(event.name == "two steps" for event in events),
            sum(event.name == "aten::empty_like" for event in events))


@case
def history():
    told = []
    for stacks in ("python", "all"):
        torch.cuda.memory._record_memory_history(max_entries=100000, stacks=stacks)
        model, optimizer = model_and_optimizer()
        step(model, optimizer)
        settle()
        checkpoint(stacks)
        entries = torch.cuda.memory._snapshot()["device_traces"][0]
        torch.cuda.memory._record_memory_history(enabled=None)
        told.append((len(entries), sum(any(f["filename"].endswith("observed.py") for f in e.get("frames", []))
                                       for e in entries)))
    return told


@case
def saved_tensor_hooks():
    model, _ = model_and_optimizer()
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        y = model(tokens())
    checkpoint("saved on the host")
    y.sum().backward()
    return y.shape


run_cases()
