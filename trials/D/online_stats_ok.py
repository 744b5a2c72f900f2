"""Online statistics over a stream: preallocated totals, one record per class, made when the class is first seen."""
import random
import sys
from dataclasses import dataclass, field
import torch
from torch import nn
from truth import tick

rng = random.Random(44)
DIM, BINS = 96, 128
CLASSES = [f"class{i:02d}" for i in range(16)]
WEIGHTS = [1.0 / (i + 1) ** 0.6 for i in range(16)]


@dataclass
class Moments:
    name: str
    count: int = 0
    mean: torch.Tensor = field(default_factory=lambda: torch.zeros(DIM, device="cuda"))
    cov: torch.Tensor = field(default_factory=lambda: torch.zeros(DIM, DIM, device="cuda"))
    hist: torch.Tensor = field(default_factory=lambda: torch.zeros(DIM, BINS, device="cuda"))

    def update(self, x):
        self.count += x.shape[0]
        delta = x - self.mean
        self.mean += delta.sum(0) / self.count
        self.cov += delta.T @ delta
        self.hist[:, :8] += torch.rand(DIM, 8, device="cuda")


class Registry(dict):
    def __missing__(self, name):
        self[name] = record = Moments(name)
        return record


class Pipeline:
    """Stages are plain callables; each gets what the one before made."""

    def __init__(self, *stages):
        self.stages = stages

    def __call__(self, item):
        for stage in self.stages:
            item = stage(item)
        return item


class Totals:
    def __init__(self, capacity=256):
        self.log = torch.zeros(capacity, 3, DIM, device="cuda")
        self.cursor = 0

    def __call__(self, item):
        name, x = item
        row = self.log[self.cursor % self.log.shape[0]]
        torch.mean(x, 0, out=row[0])
        torch.amax(x, 0, out=row[1])
        torch.amin(x, 0, out=row[2])
        self.cursor += 1
        return item


def main(count):
    encoder = nn.Sequential(nn.Linear(32, DIM), nn.ReLU(), nn.Linear(DIM, DIM)).to("cuda")
    registry, totals = Registry(), Totals()

    def load(_):
        return rng.choices(CLASSES, WEIGHTS)[0], torch.randn(rng.randint(8, 64), 32).pin_memory()

    def encode(item):
        name, x = item
        return name, encoder(x.to("cuda", non_blocking=True))

    def absorb(item):
        name, x = item
        registry[name].update(x)
        return name

    run = Pipeline(load, encode, totals, absorb)
    with torch.no_grad():
        for i in range(count):
            run(i)
            if i % 60 == 59:
                print(f"batch {i}: classes {len(registry)} rows {totals.cursor}")
            tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
