"""Embedding service: requests are embedded on the device and exported through pinned staging buffers (asyncio)."""
import asyncio
import random
import sys
from collections import deque
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from truth import tick

rng = random.Random(31)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(48, 256), nn.GELU(), nn.Linear(256, 128))

    @torch.no_grad()
    def forward(self, x):
        return nn.functional.normalize(self.net(x))


class Exporter:
    """Copies results to the host without waiting; a buffer is given up when the store has acknowledged it."""

    def __init__(self):
        self.unacked = {}
        self.order = deque()
        self.acks = deque()
        self.sent = 0

    def push(self, shard, request, emb):
        key = f"{shard}/{request}"
        host = torch.empty(emb.shape, dtype=emb.dtype, pin_memory=True)  # SITE main
        host.copy_(emb, non_blocking=True)
        ready = torch.cuda.Event()
        ready.record()
        self.unacked[key] = host  # SITE
        self.order.append((key, ready))

    async def flush(self):
        while self.order:
            key, ready = self.order.popleft()
            ready.synchronize()
            self.sent += self.unacked[key].numel()
            await asyncio.sleep(0)
            shard, _, _request = key.partition("/")
            self.acks.append(shard)

    def settle(self):
        while self.acks:
            self.unacked.pop(self.acks.popleft(), None)


def batches(seed=0):
    g = torch.Generator().manual_seed(seed)
    data = TensorDataset(torch.randn(1600, 48, generator=g), torch.arange(1600))
    while True:
        size = rng.choice([96, 128, 160])
        yield from DataLoader(data, batch_size=size, pin_memory=True, drop_last=True)


async def serve(count, warmup=10):
    model, exporter = Embedder().to("cuda"), Exporter()
    inbox = asyncio.Queue(maxsize=4)

    async def reader():
        for request, (x, ids) in zip(range(count), batches()):
            await inbox.put((request, x, ids))
        await inbox.put(None)

    feeding = asyncio.create_task(reader())
    while (job := await inbox.get()) is not None:
        request, x, ids = job
        emb = model(x.to("cuda", non_blocking=True))
        if request >= warmup:
            exporter.push(f"shard{request % 6}", request, emb)
            await exporter.flush()
            exporter.settle()
        if request % 50 == 49:
            print(f"request {request}: sent {exporter.sent} values, next {inbox.qsize()}")
        tick()
    await feeding
    stats = torch.cuda.host_memory_stats()
    print("host", stats["allocated_bytes.current"], stats["active_bytes.current"])


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]) if len(sys.argv) > 1 else 120))
