"""Speech recognition front end: asyncio service, batches of one, scoring in the background."""
import asyncio
import random
import sys

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
DEVICE = "cuda"


class Encoder(nn.Module):
    def __init__(self, mels=40, width=96, vocab=64):
        super().__init__()
        self.down = nn.Conv1d(mels, width, 3, stride=2, padding=1)
        self.mix = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, vocab)

    def forward(self, mel):
        h = self.down(mel).transpose(1, 2)
        return h + self.mix(h)


class AsrService:
    def __init__(self, model):
        self.model = model
        self.lock = asyncio.Semaphore(3)
        self._background = set()
        self.served = 0

    async def _align(self, states, rid):
        await asyncio.sleep(0)
        with torch.inference_mode():
            log_probs = torch.log_softmax(self.model.head(states[0]), dim=-1)  # SITE main
        await asyncio.sleep(0)
        return log_probs

    async def transcribe(self, rid, mel):
        async with self.lock:
            with torch.inference_mode():
                states = self.model(mel.to(DEVICE))
                text = self.model.head(states).argmax(-1).cpu()
            await asyncio.sleep(0)
            task = asyncio.create_task(self._align(states, rid))
            self._background.add(task)  # SITE
            self.served += 1
            return len(text[0])


async def client(name, service, inbox, rng):
    while True:
        rid = await inbox.get()
        if rid is None:
            return
        frames = rng.choice([64, 80, 96, 128])
        await service.transcribe(rid, torch.zeros(1, 40, frames))
        for _ in range(rng.randint(0, 3)):
            await asyncio.sleep(0)
        tick()


async def main():
    rng = random.Random(11)
    service = AsrService(Encoder().to(DEVICE).eval())
    inbox = asyncio.Queue(maxsize=8)
    clients = [asyncio.create_task(client(i, service, inbox, random.Random(i))) for i in range(4)]
    for rid in range(STEPS):
        await inbox.put(rid)
        if rng.random() < 0.1:
            await asyncio.sleep(0.001)
    for _ in clients:
        await inbox.put(None)
    await asyncio.gather(*clients)
    print("served", service.served)


if __name__ == "__main__":
    asyncio.run(main())
