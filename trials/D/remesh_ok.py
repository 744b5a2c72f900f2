"""Heat flow on a grid: coarse time steps first, one refinement when the front has formed, then fine steps."""
import random
import sys
import torch
import torch.nn.functional as F
from truth import tick

rng = random.Random(90)
REFINE_AT = 60


class Level:
    """A grid with its multigrid hierarchy."""

    def __init__(self, field):
        self.field = field
        n = field.shape[-1]
        self.conductivity = torch.rand(1, 1, n, n, device="cuda") + 0.5
        self.kernel = torch.tensor([[[[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]]], device="cuda")
        self.coarse = []
        cur = self.conductivity
        while cur.shape[-1] > 16:
            cur = F.avg_pool2d(cur, 2)
            self.coarse.append(cur)

    def residual(self, u):
        return F.conv2d(u, self.kernel, padding=1) * self.conductivity

    def cycle(self, dt):
        r = self.residual(self.field)
        for c in self.coarse:
            r = F.avg_pool2d(r, 2) * c
        up = F.interpolate(r, size=self.field.shape[-2:], mode="bilinear")
        self.field = self.field + dt * (self.residual(self.field) + 0.1 * up)


class Simulation:
    def __init__(self, n=128):
        self.level = Level(torch.rand(1, 1, n, n, device="cuda"))
        self.snapshots = torch.zeros(16, 64, 64, device="cuda")
        self.workspace = None
        self.time, self.steps = 0.0, 0
        self.listeners = {REFINE_AT: self.refine}

    def refine(self):
        fine = F.interpolate(self.level.field, scale_factor=8, mode="bilinear")
        self.level = Level(fine)
        self.workspace = torch.empty(3, *fine.shape[-2:], device="cuda")
        print(f"step {self.steps}: refined to {tuple(fine.shape[-2:])}")

    def advance(self):
        event = self.listeners.get(self.steps)
        if event is not None:
            event()
        for _ in range(rng.randint(1, 3)):
            dt = rng.uniform(0.01, 0.1)
            self.level.cycle(dt)
            self.time += dt
        self.snapshots[self.steps % 16] = F.adaptive_avg_pool2d(self.level.field, 64)[0, 0]
        if self.workspace is not None:
            torch.mul(self.level.field[0], 1.01, out=self.workspace[:1])
        self.steps += 1


@torch.no_grad()
def main(steps):
    sim = Simulation()
    for _ in range(steps):
        sim.advance()
        if sim.steps % 50 == 0:
            probe = sim.snapshots.mean((1, 2))
            print(f"t={sim.time:.2f} probes {probe.shape[0]}")
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
