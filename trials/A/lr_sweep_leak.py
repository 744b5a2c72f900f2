"""Random search over width and learning rate: trials run one after the other with early stopping, progress goes over an event bus."""
import itertools
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick


class EventBus:
    def __init__(self):
        self.listeners = {}

    def subscribe(self, topic, fn):
        self.listeners.setdefault(topic, []).append(fn)  # SITE

    def publish(self, topic, *args):
        for fn in self.listeners.get(topic, ()):
            fn(*args)


BUS = EventBus()


class Budget:
    def __init__(self, steps):
        self.left = steps

    def spend(self):
        self.left -= 1
        tick()
        return self.left > 0


class Trial:
    def __init__(self, number, config, rng):
        self.number, self.config, self.rng, self.seen = number, config, rng, 0
        w = config["width"]
        self.model = nn.Sequential(nn.Linear(64, w), nn.Tanh(), nn.Linear(w, w), nn.Tanh(), nn.Linear(w, 5))
        self.model.cuda()  # SITE
        self.opt = torch.optim.Adam(self.model.parameters(), lr=config["lr"])
        self.patience = rng.randint(8, 12)  # stands for the early stopping rule
        BUS.subscribe("step", self.on_step)

    def on_step(self, number, loss):
        if number == self.number:
            self.seen += 1

    def step(self):
        x = torch.randn(self.rng.choice((16, 32, 64)), 64, device="cuda")
        y = torch.randint(5, (x.shape[0],), device="cuda")
        loss = F.cross_entropy(self.model(x), y)
        self.opt.zero_grad()
        loss.backward()  # SITE
        self.opt.step()  # SITE main
        BUS.publish("step", self.number, float(loss.detach()))

    @torch.no_grad()
    def score(self):
        return self.model(torch.randn(128, 64, device="cuda")).argmax(1).cpu().numel() + self.rng.random()

    def run(self, budget):
        while self.seen < self.patience:
            self.step()
            if not budget.spend():
                return None
        return self.score()


def search(steps, seed=19):
    rng, budget, table = random.Random(seed), Budget(steps), []
    for number in itertools.count():
        config = {"width": rng.choice((64, 96, 128)), "lr": 10 ** rng.uniform(-4, -2)}
        result = Trial(number, config, rng).run(budget)
        if result is None:
            return table
        table.append((result, config))


if __name__ == "__main__":
    table = search(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
    print(len(table), "trials", max(table, key=lambda t: t[0])[1] if table else None)
