# SPDX-License-Identifier: Apache-2.0
"""usage: train.py [--steps N]: a small job, on each rank's device. With LEAK=1 in the environment it keeps its outputs."""
import argparse
import os
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=60)
steps = parser.parse_args().steps
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", os.environ.get("SLURM_LOCALID", "0"))))
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64)).cuda()
optimizer = torch.optim.Adam(model.parameters())
kept = []

for _ in range(steps):
    optimizer.zero_grad()
    output = model(torch.ones(256, 64, device="cuda"))
    if os.environ.get("LEAK") == "1":
        kept.append(output.detach() * 2)  # LEAK
    output.square().mean().backward()
    optimizer.step()
# PyTorch's backward thread may still be letting go of Python objects.
time.sleep(0.2)
