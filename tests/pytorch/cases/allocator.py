# SPDX-License-Identifier: Apache-2.0
"""One job for every back end of the allocator; PYTORCH_CUDA_ALLOC_CONF and the like choose it."""
import torch

from models import model_and_optimizer, step
from watch import case, checkpoint, run_cases, settle


@case
def blocks_of_all_sizes():
    held = [torch.empty(1 << (9 + i), device="cuda", dtype=torch.uint8) for i in range(16)]
    checkpoint("held")
    del held[::2]
    checkpoint("half given back")
    held.append(torch.empty(20 << 20, device="cuda"))
    checkpoint("a large one")
    held.clear()
    torch.cuda.empty_cache()
    return torch.cuda.get_allocator_backend()


@case
def training():
    model, optimizer = model_and_optimizer()
    for i in range(3):
        step(model, optimizer)
        settle()
        checkpoint("step %d" % i)
    return sum(p.nbytes for p in model.parameters())


@case
def captured():
    x, graph = torch.rand(1 << 20, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
        z = y + 1
    graph.replay()
    return z.shape


run_cases()
