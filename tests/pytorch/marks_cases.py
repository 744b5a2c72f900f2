# SPDX-License-Identifier: Apache-2.0
"""Passes places that tell where a step is, and gives memory back in two of them. The traced half of marks_test.py."""

import torch


def release_here():
    torch.cuda.empty_cache()


def release_there():
    torch.cuda.empty_cache()


model = torch.nn.Linear(100, 100).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    torch.cuda.nvtx.range_push("outer step %d of 3" % step)
    with torch.profiler.record_function("inner"):
        model(torch.zeros(10, 100, device="cuda")).sum().backward()
    optimizer.step()
    torch.cuda.nvtx.mark("instant")
    torch.cuda.nvtx.range_pop()
for release in (release_here, release_there, release_here):
    tensors = [torch.empty(30 << 20, device="cuda") for _ in range(4)]
    del tensors
    release()
