"""Adaptive tiling of scenes: a recursive splitter looks closer where it is not sure, down to a random depth."""
import random
import sys
from dataclasses import dataclass, field
import torch
import torch.nn.functional as F
from torch import nn
from truth import tick

rng = random.Random(77)


class Encoder(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.body = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.body(torch.relu(self.stem(x))))


@dataclass
class Report:
    scene: int
    tiles: int = 0
    deepest: int = 0
    labels: list = field(default_factory=list)


def bisect(tile):
    dim = 2 if tile.shape[2] >= tile.shape[3] else 3
    half = tile.shape[dim] // 2
    return tile.narrow(dim, 0, half), tile.narrow(dim, half, tile.shape[dim] - half)


class Tiler:
    def __init__(self, encoder, smallest=8):
        self.encoder, self.smallest = encoder, smallest
        self.head = nn.Linear(16 * 64, 10).to("cuda")
        self.deferred = {}
        self.settled = 0

    def descend(self, tile, depth, path, report):
        report.tiles += 1
        report.deepest = max(report.deepest, len(path))
        feats = self.encoder(tile)
        pooled = F.adaptive_avg_pool2d(feats, 8).flatten(1)  # SITE main
        if rng.random() < 0.25:  # unsure: decide once the whole scene has been seen
            self.deferred[report.scene, path] = pooled  # SITE
        else:
            report.labels.append((path, self.head(pooled).shape[-1]))
        if depth == 0 or min(tile.shape[2:]) <= self.smallest:
            return
        left, right = bisect(tile)
        turn = rng.random()
        if turn < 0.7:
            self.descend(left, depth - 1, path + "0", report)
        if turn > 0.4:
            self.descend(right, depth - 1, path + "1", report)

    def settle(self, report):
        """Second opinion on what was put off, coarse tiles together in one batch."""
        coarse = [key for key in self.deferred if key[0] == report.scene and len(key[1]) < 3]
        if coarse:
            batch = torch.cat([self.deferred.pop(key) for key in coarse])
            report.labels.extend((key[1], 0) for key in coarse[:self.head(batch).shape[0]])
            self.settled += len(coarse)


@torch.no_grad()
def process(tiler, number):
    size = rng.choice([64, 96, 128])
    scene = torch.rand(1, 3, size, size, device="cuda")
    report = Report(number)
    tiler.descend(scene, rng.randint(2, 9), "", report)
    tiler.settle(report)
    return report


if __name__ == "__main__":
    scenes = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    tiler = Tiler(Encoder().to("cuda"))
    reports = []
    while len(reports) < scenes:
        reports.append(process(tiler, len(reports)))
        if len(reports) % 40 == 0:
            last = reports[-1]
            print(f"scene {last.scene}: tiles {last.tiles} deepest {last.deepest} settled {tiler.settled}")
        tick()
    print("labels", sum(len(r.labels) for r in reports), "deferred", len(tiler.deferred))
