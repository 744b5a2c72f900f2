"""Two phases: a teacher is pretrained, then a student is distilled from it; teacher features are cached per shard of the data."""
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

PRETRAIN, SHARDS, FEAT = 40, 48, 160


def net(width, depth):
    layers = [nn.Linear(60, width), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, FEAT))


class Shards:
    """Data of one shard is produced again from its seed, so nothing of it stays on the device."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.rows = [rng.choice((24, 32, 40)) for _ in range(SHARDS)]

    def load(self, i):
        return torch.randn(self.rows[i], 60, generator=torch.Generator().manual_seed(i)).cuda()


class TeacherCache:
    def __init__(self, teacher):
        self.teacher, self.features = teacher, {}

    @torch.no_grad()
    def __call__(self, i, x):
        if i not in self.features:
            self.features[i] = self.teacher(x)
        return self.features[i]


class EarlyStop:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, None, 0

    def keep_going(self, score):
        if self.best is None or score < self.best:
            self.best, self.bad = score, 0
        else:
            self.bad += 1
        return self.bad <= self.patience


def pretrain(shards, steps, rng):
    model = nn.Sequential(net(192, 2), nn.Linear(FEAT, 60)).cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    stop = EarlyStop(patience=steps)
    for _ in range(steps):
        x = shards.load(rng.randrange(SHARDS))
        loss = F.mse_loss(model(x + 0.1 * torch.randn_like(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tick()
        if not stop.keep_going(rng.random()):
            break
    return model[0].eval().requires_grad_(False)


def distill(teacher, shards, steps, rng):
    student, cache = net(64, 1).cuda(), TeacherCache(teacher)
    opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    while steps > 0:
        for i in rng.sample(range(SHARDS), min(SHARDS, steps)):
            x = shards.load(i)
            want = cache(i, x)
            loss = 1 - F.cosine_similarity(student(x), want).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            steps -= 1
            tick()


def main(steps):
    rng, shards = random.Random(14), Shards(6)
    teacher = pretrain(shards, min(PRETRAIN, steps), rng)
    if steps > PRETRAIN:
        distill(teacher, shards, steps - PRETRAIN, rng)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
