"""Actor-critic with rollouts of random length and a replay store bounded by its number of transitions."""
import random
import sys
from collections import deque
import torch
from torch import nn
from truth import tick

rng = random.Random(55)
OBS, ACT = 32, 4


@torch.jit.script
def discounted(rewards: torch.Tensor, gamma: float) -> torch.Tensor:
    out = torch.zeros_like(rewards)
    acc = torch.zeros_like(rewards[0])
    for i in range(rewards.size(0) - 1, -1, -1):
        acc = rewards[i] + gamma * acc
        out[i] = acc
    return out


class Rollout:
    def __init__(self):
        self.obs, self.logp, self.values, self.rewards = [], [], [], []

    def __len__(self):
        return len(self.obs)

    def add(self, obs, logp, value, reward):
        self.obs.append(obs)
        self.logp.append(logp)
        self.values.append(value)
        self.rewards.append(reward)


class Replay:
    def __init__(self, capacity):
        self.capacity, self.held, self.items = capacity, 0, deque()

    def push(self, obs, returns):
        self.items.append((obs, returns))
        self.held += obs.shape[0]
        while self.held > self.capacity:
            old, _ = self.items.popleft()
            self.held -= old.shape[0]

    def sample(self, n):
        return [rng.choice(self.items) for _ in range(n)]


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 96), nn.Tanh())
        self.pi, self.v = nn.Linear(96, ACT), nn.Linear(96, 1)

    def forward(self, obs):
        h = self.body(obs)
        return torch.log_softmax(self.pi(h), -1), self.v(h).squeeze(-1)


def play(net, frames):
    roll = Rollout()
    for _ in range(frames):
        obs = torch.randn(1, OBS, device="cuda")
        logp, value = net(obs)
        roll.add(obs, logp[:, rng.randrange(ACT)], value, torch.rand(1, device="cuda"))
    return roll


def update(net, opt, rolls, replay):
    losses = []
    for roll in rolls:
        returns = discounted(torch.cat(roll.rewards), 0.98)
        values, logp = torch.cat(roll.values), torch.cat(roll.logp)
        losses.append((returns - values).pow(2).mean() - (logp * (returns - values.detach())).mean())
        replay.push(torch.cat(roll.obs), returns)
    for obs, returns in replay.sample(2):
        losses.append((net(obs)[1] - returns).pow(2).mean())
    opt.zero_grad()
    torch.stack(losses).mean().backward()
    opt.step()


def main(episodes):
    net = ActorCritic().to("cuda")
    opt = torch.optim.RMSprop(net.parameters(), lr=7e-4)
    replay, waiting = Replay(1500), []
    for episode in range(episodes):
        waiting.append(play(net, min(120, int(rng.expovariate(1 / 30)) + 5)))
        if sum(map(len, waiting)) >= 120:
            update(net, opt, waiting, replay)
            waiting = []
        if episode % 50 == 49:
            print(f"episode {episode}: replay {replay.held} in {len(replay.items)}")
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
