# SPDX-License-Identifier: Apache-2.0
"""PPO of Stable-Baselines3 with a callback that logs the critic's values of every environment step and keeps them on the device."""
import gymnasium
import numpy
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from truth import LEAKY, STEPS, describe, step_end

ROLLOUT = 16


class Point(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (24,), numpy.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (4,), numpy.float32)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return numpy.zeros(24, numpy.float32), {}

    def step(self, action):
        self.time += 1
        return numpy.zeros(24, numpy.float32), 0.0, self.time % 50 == 0, False, {}


class ValueLog(BaseCallback):
    def __init__(self):
        super().__init__()
        self.values = []

    def _on_step(self):
        self.values.append(self.locals["values"])  # LEAK
        return True

    def _on_rollout_end(self):
        if not LEAKY:
            self.values.clear()

    def _on_rollout_start(self):
        if self.num_timesteps:
            step_end()


# Kernels do not compute here, so nothing may look at values.
torch.distributions.Distribution.set_default_validate_args(False)
describe("training iteration", also={"environment step": STEPS * ROLLOUT, "optimizer step": STEPS * 4, "epoch": STEPS * 2})
agent = PPO("MlpPolicy", Point(), n_steps=ROLLOUT, batch_size=8, n_epochs=2, device="cuda", policy_kwargs={"net_arch": [32, 32]})
agent.learn(STEPS * ROLLOUT, callback=ValueLog())  # LEAK
step_end()
