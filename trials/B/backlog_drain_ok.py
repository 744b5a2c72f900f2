"""Transcoding of image tiles: uploads come in waves, inputs wait on the device until a batch runs."""
import asyncio
import collections
import random
import sys

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
WAVE, RUSH = 60, 40


class Upscaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1))
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x):
        return self.shuffle(self.net(x))


class Backlog:
    def __init__(self):
        self.items = collections.deque()
        self.arrived = asyncio.Event()
        self.peak = 0

    def put(self, item):
        self.items.append(item)
        self.peak = max(self.peak, len(self.items))
        self.arrived.set()

    def take(self, n):
        return [self.items.popleft() for _ in range(min(n, len(self.items)))]


class TileService:
    def __init__(self):
        self.model = Upscaler().cuda().eval()
        self.backlog = Backlog()

    def upload(self, side):
        future = asyncio.get_running_loop().create_future()
        tile = torch.rand(3, side, side).to("cuda")
        self.backlog.put((tile, future))
        return future

    def run_batch(self, budget):
        for tile, future in self.backlog.take(budget):
            with torch.inference_mode():
                out = self.model(tile[None])
            if not future.cancelled():
                future.set_result(out.shape[-1])


async def consumer(service, turns):
    """Gets the device for 1 batch per turn; a batch is small in the rush, and large when ingest is idle."""
    while (turn := await turns.get()) is not None:
        service.run_batch(turn)
        tick()
        turns.task_done()


async def main():
    rng = random.Random(45)
    service, turns, pending = TileService(), asyncio.Queue(), set()
    worker = asyncio.create_task(consumer(service, turns))
    for i in range(STEPS):
        rush = i % WAVE < RUSH
        for _ in range(rng.choice([1, 2, 2]) if rush else rng.choice([0, 1])):
            fut = service.upload(rng.choice([32, 48]))
            pending.add(fut)
            fut.add_done_callback(pending.discard)
        await turns.put(rng.choice([0, 1, 1]) if rush else 4)
        await turns.join()
    await turns.put(None)
    await worker
    print("peak backlog", service.backlog.peak, "now", len(service.backlog.items))


if __name__ == "__main__":
    asyncio.run(main())
