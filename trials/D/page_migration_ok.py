"""Two-tier vector index: pages move between a hot tier (fp32, with norms) and a cold tier as the workload drifts."""
import random
import sys
from dataclasses import dataclass
import torch
from truth import tick

rng = random.Random(41)
DIM, ROWS, PAGES = 64, 128, 56


@dataclass
class Page:
    number: int
    rows: torch.Tensor


class Index:
    def __init__(self):
        self.cold = {i: Page(i, torch.randn(ROWS, DIM, device="cuda")) for i in range(PAGES)}
        self.hot = {}

    def promote(self, number):
        page = self.cold.pop(number)
        self.hot[number] = Page(number, torch.nn.functional.normalize(page.rows))

    def demote(self, number):
        page = self.hot.pop(number)
        self.cold[number] = Page(number, page.rows * 1.0)

    def search(self, q, k=8):
        parts = []
        for tier in (self.hot, self.cold):
            for page in rng.sample(sorted(tier), min(6, len(tier))):
                parts.append(torch.topk(q @ tier[page].rows.T, k).values)
        return torch.topk(torch.cat(parts, dim=1), k).indices


class Drift:
    """Interest moves towards new pages for half a period, and away from them again."""

    def __init__(self, index, half=50):
        self.index, self.half, self.clock = index, half, 0

    def move(self):
        rising = (self.clock // self.half) % 2 == 0
        source = self.index.cold if rising else self.index.hot
        number = rng.choice(sorted(source))
        (self.index.promote if rising else self.index.demote)(number)
        self.clock += 1


@torch.no_grad()
def serve(count):
    index = Index()
    drift = Drift(index)
    answered = 0
    for step in range(count):
        drift.move()
        for _ in range(rng.randint(1, 3)):
            q = torch.randn(rng.choice([4, 8, 16]), DIM, device="cuda")
            answered += index.search(q).shape[0]
        if step % 25 == 24:
            print(f"step {step}: hot {len(index.hot)} cold {len(index.cold)} answered {answered}")
        tick()


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
