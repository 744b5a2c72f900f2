# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs, private pools and compiled models."""
import torch
import torch.nn as nn

from models import WIDTH, Transformer, loss_of, tokens
from watch import case, checkpoint, run_cases


@case
def captured_training():
    model = nn.Linear(WIDTH, WIDTH).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
    x = torch.rand(64, WIDTH, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(x).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
    checkpoint("captured")
    for _ in range(3):
        graph.replay()
    return loss.shape


@case
def graphs_that_share_a_pool():
    x, first, second = torch.rand(1 << 16, device="cuda"), torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first):
        y = x * 2
    with torch.cuda.graph(second, pool=first.pool()):
        z = y + 1
    checkpoint("both captured")
    first.replay()
    second.replay()
    return z.shape


@case
def graphed_callable():
    model = nn.Sequential(nn.Linear(16, 16), nn.ReLU()).cuda()
    graphed = torch.cuda.make_graphed_callables(model, (torch.rand(4, 16, device="cuda"),))
    y = graphed(torch.rand(4, 16, device="cuda"))
    y.sum().backward()
    return y.shape


@case
def failed_capture():
    x, graph = torch.rand(1 << 16, device="cuda"), torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            x = x * 2
            raise RuntimeError("given up")
    except RuntimeError as error:
        return str(error)


@case
def pool_of_its_own():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        x = torch.rand(1 << 20, device="cuda")
        y = x + 1
    checkpoint("from the pool")
    del x
    checkpoint("half given back")
    return y.shape


@case
def compiled():
    for backend in ("eager", "aot_eager"):
        model = Transformer(layers=1).cuda()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        fast = torch.compile(model, backend=backend)
        for _ in range(3):
            loss_of(fast, tokens()).backward()
            optimizer.step()
            optimizer.zero_grad()
        checkpoint(backend)


run_cases()
