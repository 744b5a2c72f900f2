# SPDX-License-Identifier: Apache-2.0
"""Q-learning with TorchRL's replay buffer on the device. The leaky buffer is a list without a limit; the fixed one is full after some
steps. Each step has four environment steps and two updates."""
import torch
from tensordict import TensorDict
from torchrl.data import LazyTensorStorage, ListStorage, ReplayBuffer

from truth import LEAKY, STEPS, describe, step_end

ACT, UPDATE = 4, 2

value = torch.nn.Sequential(torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 6)).cuda()
target = torch.nn.Sequential(torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 6)).cuda()
optimizer = torch.optim.Adam(value.parameters())
storage = ListStorage(10**6) if LEAKY else LazyTensorStorage(64, device="cuda")
memory = ReplayBuffer(storage=storage, batch_size=8, collate_fn=torch.stack if LEAKY else None)
describe("iteration", also={"environment step": STEPS * ACT, "update": STEPS * UPDATE})
for step in range(STEPS):
    for _ in range(ACT):
        with torch.no_grad():
            state = torch.rand(128, device="cuda")  # LEAK
            action = value(state).argmax()  # LEAK
            following = torch.rand(128, device="cuda")  # LEAK
        memory.add(TensorDict({"state": state, "action": action, "following": following}))  # LEAK
    for _ in range(UPDATE):
        batch = memory.sample()
        with torch.no_grad():
            best = target(batch["following"]).max(-1).values
        loss = (value(batch["state"]).mean(-1) - best).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    del state, action, following, batch, best, loss
    step_end()
