# SPDX-License-Identifier: Apache-2.0
"""A TorchScript module keeps its outputs in a list of its own: only C++ has references to them."""
import warnings

import torch
import torch.nn as nn
from typing import List

from variant import BATCH, FIXED, STEPS, WIDTH

warnings.simplefilter("ignore")


class Recorder(nn.Module):
    outputs: List[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, WIDTH)
        self.outputs = []

    def forward(self, features, keep: bool):
        output = self.layer(features)
        if keep:
            self.outputs.append(output)
        return output


recorder = torch.jit.script(Recorder().cuda())
with torch.no_grad():
    for _ in range(STEPS):
        recorder(torch.rand(BATCH, 64, device="cuda"), not FIXED)
