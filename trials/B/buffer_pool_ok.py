"""Video windows: frames are staged in pooled device buffers which a clip holds until it is scored."""
import contextlib
import contextvars
import random
import sys

import torch
from torch import nn

from truth import tick

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 120
current_clip = contextvars.ContextVar("current_clip", default=None)


class PoolExhausted(RuntimeError):
    pass


class BufferPool:
    def __init__(self, shape, limit):
        self.shape, self.limit = shape, limit
        self.free, self.made = [], 0

    def acquire(self):
        if self.free:
            return self.free.pop()
        if self.made >= self.limit:
            raise PoolExhausted(current_clip.get())
        self.made += 1
        return torch.empty(self.shape, device="cuda")

    def release(self, buffer):
        self.free.append(buffer)


class Clip:
    def __init__(self, pool, name, frames):
        self.pool, self.name, self.frames = pool, name, frames
        self.buffers = []

    def stage(self, frame):
        buffer = self.pool.acquire()
        buffer.copy_(frame)
        self.buffers.append(buffer)
        return len(self.buffers) == self.frames

    def close(self):
        while self.buffers:
            self.pool.release(self.buffers.pop())


class ClipScorer:
    def __init__(self):
        self.net = nn.Sequential(nn.Conv2d(3, 8, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                                 nn.Linear(128, 10)).cuda().eval()
        self.pool = BufferPool((3, 48, 48), limit=12)
        self.open, self.shed, self.serial = [], 0, 0

    @contextlib.contextmanager
    def _as_current(self, clip):
        token = current_clip.set(clip.name)
        try:
            yield
        finally:
            current_clip.reset(token)

    @torch.inference_mode()
    def frame(self, rng):
        if not self.open or (len(self.open) < 5 and rng.random() < 0.2):
            self.serial += 1
            self.open.append(Clip(self.pool, "clip%d" % self.serial, rng.randint(2, 6)))
        clip = rng.choice(self.open)
        with self._as_current(clip):
            try:
                complete = clip.stage(torch.rand(3, 48, 48))
            except PoolExhausted:
                self.shed += 1
                complete = True
            if complete:
                self.open.remove(clip)
                if clip.buffers:
                    self.net(torch.stack(clip.buffers)).mean(0).cpu()
                clip.close()


if __name__ == "__main__":
    scorer, rng = ClipScorer(), random.Random(5)
    for _ in range(STEPS):
        scorer.frame(rng)
        tick()
    print("clips", scorer.serial, "shed", scorer.shed, "buffers", scorer.pool.made)
