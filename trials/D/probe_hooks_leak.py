"""Policy training with diagnostics: evaluation attaches a probe to the trunk to look at its activations."""
import random
import sys
from dataclasses import dataclass, field
from functools import partial
import torch
from torch import nn
from truth import tick

rng = random.Random(99)
OBS, ACT, HID = 24, 6, 256


@dataclass
class Probe:
    tag: str
    rows: list = field(default_factory=list)

    def spread(self):
        return torch.stack([r.std() for r in self.rows[-4:]]).mean() if self.rows else None


def record(probe, module, args, out):
    if module.training or len(probe.rows) < 4:
        probe.rows.append(out.detach()[:8].clone())  # SITE main


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(OBS, HID), nn.Tanh(), nn.Linear(HID, HID), nn.Tanh())
        self.policy, self.value = nn.Linear(HID, ACT), nn.Linear(HID, 1)
        self.probes = []

    def forward(self, obs):
        h = self.trunk(obs)
        return self.policy(h), self.value(h).squeeze(-1)

    def attach(self, tag):
        probe = Probe(tag)
        self.trunk.register_forward_hook(partial(record, probe))  # SITE
        self.probes.append(probe)
        return probe


class Sim:
    """Stand-in for an environment: observations come in episodes of random length."""

    def episode(self):
        return [torch.randn(OBS) for _ in range(rng.randint(12, 48))]


def train_episode(agent, opt, sim):
    obs = torch.stack(sim.episode()).pin_memory().to("cuda", non_blocking=True)
    logits, values = agent(obs)
    returns = torch.linspace(1.0, 0.0, obs.shape[0], device="cuda")
    adv = (returns - values).detach()
    picked = torch.log_softmax(logits, -1)[:, rng.randrange(ACT)]
    loss = -(picked * adv).mean() + 0.5 * (returns - values).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
    opt.step()


@torch.no_grad()
def evaluate(agent, sim, tag):
    probe = agent.attach(tag)
    agent.eval()
    for _ in range(4):
        agent(torch.stack(sim.episode()).to("cuda"))
    agent.train()
    return probe.spread()


def main(episodes):
    agent, sim = Agent().to("cuda"), Sim()
    opt = torch.optim.Adam(agent.parameters(), lr=3e-4)
    for i in range(episodes):
        train_episode(agent, opt, sim)
        if i % 15 == 14:
            spread = evaluate(agent, sim, f"ep{i}")
            print(f"episode {i}: spread {tuple(spread.shape)}")
        tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
