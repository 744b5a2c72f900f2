"""Wasserstein GAN on point clouds with gradient penalty, EMA generator and a monitor of the critic gap."""
import copy
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

Z, POINT = 32, 48


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(Z, 96), nn.Linear(96, 96), nn.Linear(96, POINT)

    def forward(self, z):
        h = F.relu(self.a(z))
        return self.c(h + F.relu(self.b(h)))  # SITE


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(POINT, 160), nn.Linear(160, 128), nn.Linear(128, 1)

    def forward(self, x):
        h = F.leaky_relu(self.a(x), 0.2)  # SITE main
        h = F.leaky_relu(self.b(h), 0.2)  # SITE
        return self.c(h).squeeze(-1)


class GapMonitor:
    """Exponential average of critic(real) - critic(fake) on a small held-out draw."""

    def __init__(self, critic, momentum=0.98):
        self.critic, self.momentum, self.value = critic, momentum, None

    def update(self, real, fake):
        gap = self.critic(real).mean() - self.critic(fake).mean()
        if self.value is None:
            self.value = gap
        else:
            self.value = self.momentum * self.value + (1 - self.momentum) * gap  # SITE


def penalty(critic, real, fake):
    t = torch.rand(real.shape[0], 1, device=real.device)
    x = (t * real + (1 - t) * fake).requires_grad_(True)
    (g,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return ((g.norm(dim=1) - 1) ** 2).mean()


def main(steps):
    rng = random.Random(13)
    gen, critic = Generator().cuda(), Critic().cuda()
    ema = copy.deepcopy(gen).requires_grad_(False)
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-4, betas=(0.0, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=4e-4, betas=(0.0, 0.9))
    monitor, logged = GapMonitor(critic), []
    for step in range(steps):
        for _ in range(rng.choice((1, 2, 3))):
            real = torch.randn(rng.choice((24, 32, 48)), POINT, device="cuda")  # SITE
            with torch.no_grad():
                fake = gen(torch.randn(real.shape[0], Z, device="cuda"))
            loss_c = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
            opt_c.zero_grad()
            loss_c.backward()
            opt_c.step()
        loss_g = -critic(gen(torch.randn(32, Z, device="cuda"))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), gen.parameters()):
                e.lerp_(p, 0.01)
            shown = ema(torch.randn(16, Z, device="cuda"))
        monitor.update(real[:16], shown)
        if step % 10 == 9:
            logged.append(float(monitor.value.detach()))
        tick()
    print(len(logged), "log lines")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
