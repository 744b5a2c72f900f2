"""Off-policy control: episodes from a toy environment go to a columnar store, a twin-Q learner trains between them."""
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

OBS, ACT = 256, 12


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 128), nn.SiLU(), nn.Linear(128, o))


class EpisodeStore:
    """Columns with spare capacity, enlarged by CHUNK rows when an episode does not fit."""

    CHUNK = 64
    SPEC = {"obs": (OBS,), "act": (ACT,), "ret": (1,)}

    def __init__(self):
        self.rows = 0
        self.capacity = self.CHUNK
        self.columns = {n: torch.zeros(self.capacity, *s, device="cuda") for n, s in self.SPEC.items()}

    def _enlarge(self):
        self.capacity += self.CHUNK
        for name, col in self.columns.items():
            bigger = col.new_empty((self.capacity, *col.shape[1:]))  # SITE main
            bigger[:self.rows].copy_(col[:self.rows])
            self.columns[name] = bigger  # SITE

    def extend(self, episode):
        n = len(episode["obs"])
        while self.rows + n > self.capacity:
            self._enlarge()
        for name, col in self.columns.items():
            col[self.rows:self.rows + n].copy_(episode[name])
        self.rows += n

    def sample(self, k, rng):
        pick = torch.tensor([rng.randrange(self.rows) for _ in range(k)], device="cuda")
        return {n: c.index_select(0, pick) for n, c in self.columns.items()}


def rollout(policy, obs, left, rng):
    """Yields transitions recursively, as the environment may branch into a sub-task."""
    with torch.no_grad():
        act = policy(obs).tanh()
    yield obs, act
    if left > 1:
        yield from rollout(policy, obs + 0.01 * torch.randn_like(obs), left - 1, rng)


def collect(policy, rng):
    pairs = list(rollout(policy, torch.randn(OBS, device="cuda"), rng.randint(6, 10), rng))
    obs, act = (torch.stack(x) for x in zip(*pairs))
    return {"obs": obs, "act": act, "ret": torch.zeros(len(pairs), 1, device="cuda")}


def main(episodes):
    rng = random.Random(11)
    policy, q1, q2 = mlp(OBS, ACT).cuda(), mlp(OBS + ACT, 1).cuda(), mlp(OBS + ACT, 1).cuda()
    opt_pi = torch.optim.Adam(policy.parameters(), lr=1e-4)
    opt_q = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-3)
    store, done = EpisodeStore(), 0
    while done < episodes:
        store.extend(collect(policy, rng))
        done += 1
        for _ in range(rng.choice((1, 1, 2))):
            b = store.sample(rng.choice((16, 32, 64)), rng)
            xa = torch.cat([b["obs"], b["act"]], 1)
            q_loss = F.mse_loss(q1(xa), b["ret"]) + F.mse_loss(q2(xa), b["ret"])
            opt_q.zero_grad()
            q_loss.backward()
            opt_q.step()
        if done % 2 == 0:
            pi_loss = -torch.min(q1(torch.cat([b["obs"], policy(b["obs"]).tanh()], 1)), q2(xa)).mean()
            opt_pi.zero_grad()
            pi_loss.backward()
            opt_pi.step()
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
