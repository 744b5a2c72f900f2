# SPDX-License-Identifier: Apache-2.0
"""Programs whose allocations the model of the allocator must foretell. Usage: workloads.py NAME[:SEED]

Each prints what PyTorch's own counters say at the end. No size depends on the value of a tensor.
"""
import gc
import json
import random
import sys

import torch
from torch import nn

MiB = 1 << 20


def mebibytes(count):
    return torch.empty(int(count * MiB), dtype=torch.uint8, device="cuda")


def training_step(model, optimizer, batch):
    loss = model(torch.randn(batch, 512, device="cuda")).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def network():
    layers = []
    for _ in range(6):
        layers += [nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)]
    model = nn.Sequential(*layers).cuda()
    return model, torch.optim.AdamW(model.parameters())


def training():
    """Every step alike."""
    model, optimizer = network()
    for _ in range(20):
        training_step(model, optimizer, 256)


def lengths():
    """Batches of all sizes, as sentences make them."""
    model, optimizer = network()
    sizes = random.Random(1)
    for _ in range(40):
        training_step(model, optimizer, sizes.randrange(64, 4096))


def emptied():
    """The same, with empty_cache() now and then."""
    model, optimizer = network()
    sizes = random.Random(2)
    for step in range(30):
        training_step(model, optimizer, sizes.randrange(64, 2048))
        if step % 7 == 6:
            torch.cuda.empty_cache()


def churn():
    """Blocks of all sizes, given back in no order."""
    numbers = random.Random(3)
    held = []
    for i in range(6000):
        if held and numbers.random() < 0.5 + 0.1 * ((i // 500) % 2):
            held[numbers.randrange(len(held))] = held[-1]
            held.pop()
        else:
            size = numbers.choice([512, 4096, 100000, 1 << 20, 3 << 20, 9 << 20, 12 << 20, 40 << 20])
            held.append(torch.empty(numbers.randrange(1, size + 1), dtype=torch.uint8, device="cuda"))
        if i % 1500 == 1499:
            torch.cuda.empty_cache()


def streams():
    """Three streams, each with its own free blocks."""
    model, optimizer = network()
    sizes = random.Random(4)
    side = [torch.cuda.Stream(), torch.cuda.Stream()]
    held = [[], []]
    for step in range(30):
        for stream, kept in zip(side, held):
            with torch.cuda.stream(stream):
                kept.append(mebibytes(sizes.choice([0.01, 0.5, 3, 8, 24])))
                if len(kept) > 4:
                    del kept[sizes.randrange(len(kept))]
        training_step(model, optimizer, sizes.choice([128, 256, 777]))


def captured():
    """A graph with a pool of its own, which empty_cache() leaves alone."""
    x, graph = torch.rand(8 << 20, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
        z = y + 1
        del y
    for step in range(20):
        held = [mebibytes(1 + step), mebibytes(30)]
        graph.replay()
        del held
        if step % 5 == 4:
            torch.cuda.empty_cache()


def refused():
    """A device that is too small for what is cached: given back, and asked for again."""
    sizes = random.Random(5)
    for _ in range(40):
        held = [mebibytes(sizes.randrange(20, 120)) for _ in range(5)]
        del held
    held = []
    try:
        while True:
            held.append(mebibytes(90))
    except torch.cuda.OutOfMemoryError:
        print("out of memory after", len(held))


def holes():
    """Two blocks of 7 MiB in each segment of 20: what is left over is enough for a request, in no one piece."""
    kept = [mebibytes(7) for _ in range(96)]
    try:
        large = mebibytes(200)
    except torch.cuda.OutOfMemoryError:
        print("out of memory with", len(kept), "kept")


def limited():
    """Runs out of memory on a device with room, because the process may use a tenth of it only."""
    torch.cuda.set_per_process_memory_fraction(0.1)
    total = torch.cuda.get_device_properties(0).total_memory >> 20
    try:
        kept = [mebibytes(total // 30) for _ in range(10)]
    except torch.cuda.OutOfMemoryError:
        print("out of memory")


def growth():
    """A bit more each time, while what is live at the end of a step stays the same."""
    model, optimizer = network()
    kept = []
    for step in range(60):
        training_step(model, optimizer, 64 + 48 * step)
        # What one step keeps for the next lands in the middle of a large segment.
        kept = [torch.empty(2 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]


def preallocated():
    """`lengths`, with the largest batch before the others."""
    model, optimizer = network()
    sizes = random.Random(1)
    batches = [sizes.randrange(64, 4096) for _ in range(40)]
    for batch in [max(batches)] + batches:
        training_step(model, optimizer, batch)


def any_order(seed=1):
    """Drawn from the seed: sizes of all kinds, streams, lifetimes, empty_cache() now and then."""
    numbers = random.Random(seed)
    streams = [torch.cuda.default_stream()] + [torch.cuda.Stream() for _ in range(numbers.randrange(3))]
    scales = numbers.sample([700, 5000, 60000, 400000, 1 << 20, 3 << 20, 9 << 20, 15 << 20, 40 << 20, 90 << 20],
                            numbers.randrange(2, 7))
    same_sizes = [numbers.randrange(1, scale + 1) for scale in scales for _ in range(3)]
    repeats, most = numbers.random(), numbers.randrange(5, 80)
    emptied = numbers.choice([0, 0, 0.002, 0.01])
    held = [[] for _ in streams]
    for _ in range(3000):
        which = numbers.randrange(len(streams))
        mine = held[which]
        if mine and numbers.random() < len(mine) / most:
            # The last of all, or any.
            mine.pop(-1 if numbers.random() < 0.5 else numbers.randrange(len(mine)))
            continue
        size = numbers.choice(same_sizes) if numbers.random() < repeats else numbers.randrange(
            1, numbers.choice(scales) + 1)
        with torch.cuda.stream(streams[which]):
            mine.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        if numbers.random() < emptied:
            torch.cuda.empty_cache()


def main():
    name, _, seed = sys.argv[1].partition(":")
    globals()[name](*([int(seed)] if seed else []))
    gc.collect()
    stats = torch.cuda.memory_stats()
    print(json.dumps({name: stats["%s_bytes.all.%s" % (name, how)] for name, how in
                      (("reserved", "peak"), ("allocated", "peak"))}))
    sys.stdout.flush()


main()
