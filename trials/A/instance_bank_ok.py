"""Instance discrimination with a memory bank of all training items, momentum updates in place, gradient accumulation."""
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

ITEMS, DIM, MICRO = 2000, 64, 3


class InstanceBank(nn.Module):
    def __init__(self, momentum=0.5):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("bank", F.normalize(torch.randn(ITEMS, DIM), dim=1))
        self.register_buffer("age", torch.zeros(ITEMS, dtype=torch.long))

    def logits(self, z, idx, noise):
        pos = (z * self.bank[idx]).sum(1, keepdim=True)
        neg = torch.einsum("bd,bkd->bk", z, self.bank[noise])
        return torch.cat([pos, neg], 1) / 0.1

    @torch.no_grad()
    def update(self, z, idx):
        mixed = self.momentum * self.bank[idx] + (1 - self.momentum) * z
        self.bank.index_copy_(0, idx, F.normalize(mixed, dim=1))
        self.age.index_fill_(0, idx, 0)
        self.age += 1


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(75, 128), nn.ReLU())
        self.mixer = nn.Linear(128, 128)
        self.proj = nn.Linear(128, DIM)

    def forward(self, patches):
        h = self.stem(patches)
        h = h + F.relu(self.mixer(h))
        return F.normalize(self.proj(h.mean(1)), dim=1)


def order(rng):
    """Endless shuffled passes over the items, in batches of varying size."""
    while True:
        items = list(range(ITEMS))
        rng.shuffle(items)
        while items:
            n = rng.choice((12, 20, 28))
            yield items[:n]
            del items[:n]


def main(steps):
    rng = random.Random(37)
    net, bank = PatchNet().cuda(), InstanceBank().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9, nesterov=True)
    losses, source = [], order(rng)
    for step in range(steps):
        pending = []
        for _ in range(MICRO):
            idx = torch.tensor(next(source), device="cuda")
            z = net(torch.randn(len(idx), rng.choice((9, 16)), 75, device="cuda"))
            noise = torch.randint(ITEMS, (len(idx), 32), device="cuda")
            loss = F.cross_entropy(bank.logits(z, idx, noise), torch.zeros_like(idx)) / MICRO
            loss.backward()
            pending.append((z.detach(), idx))
            losses.append(loss.detach())
        opt.step()
        opt.zero_grad(set_to_none=True)
        for z, idx in pending:
            bank.update(z, idx)
        if step % 8 == 7:
            print("step", step, "loss entries", torch.stack(losses).cpu().numel(), flush=True)
            losses.clear()
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
