"""DQN with an actor thread: it plays with a frozen copy of the network and hands transitions to a bounded replay."""
import copy
import queue
import random
import sys
import threading
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

OBS, ACTIONS = 200, 6


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(OBS, 128), nn.ReLU())
        self.adv, self.val = nn.Linear(128, ACTIONS), nn.Linear(128, 1)

    def forward(self, x):
        h = self.trunk(x)
        a = self.adv(h)
        return self.val(h) + a - a.mean(-1, keepdim=True)


class Replay:
    def __init__(self, size=160):
        self.items = deque(maxlen=size)

    def push(self, *transition):
        self.items.append(transition)

    def sample(self, k, rng):
        picked = rng.sample(self.items, min(k, len(self.items)))
        s, a, r, n = zip(*picked)
        return torch.stack(s), torch.tensor(a, device="cuda"), torch.tensor(r, device="cuda"), torch.stack(n)


class Actor(threading.Thread):
    def __init__(self, net, out, rounds):
        super().__init__(daemon=True)
        self.net, self.out, self.rounds, self.rng = net, out, rounds, random.Random(2)

    def run(self):
        state = torch.randn(OBS, device="cuda")
        for _ in range(self.rounds):
            chunk = []
            for _ in range(4):
                with torch.no_grad():
                    self.net(state)
                following = torch.randn(OBS, device="cuda")
                chunk.append((state, self.rng.randrange(ACTIONS), self.rng.random(), following))
                state = following
            self.out.put(chunk)
        self.out.put(None)


def learn(online, target, opt, batch):
    s, a, r, n = batch
    with torch.no_grad():
        best = online(n).argmax(1, keepdim=True)
        goal = r + 0.99 * target(n).gather(1, best).squeeze(1)
    loss = F.smooth_l1_loss(online(s).gather(1, a[:, None]).squeeze(1), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()


def main(steps):
    rng = random.Random(1)
    online = Dueling().cuda()
    target, acting = copy.deepcopy(online), copy.deepcopy(online)
    opt = torch.optim.Adam(online.parameters(), lr=2.5e-4)
    replay, inbox = Replay(), queue.Queue(2)
    Actor(acting, inbox, steps).start()
    step = 0
    for chunk in iter(inbox.get, None):
        for t in chunk:
            replay.push(*t)
        learn(online, target, opt, replay.sample(rng.choice((16, 32)), rng))
        step += 1
        if step % 20 == 0:
            target.load_state_dict(online.state_dict())
            acting.load_state_dict(online.state_dict())
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
