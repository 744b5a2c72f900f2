# SPDX-License-Identifier: Apache-2.0
"""Objects are kept, and so are the dicts of their attributes, as a log of settings does."""
import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


class Sample:
    def __init__(self, features):
        self.features = features


net = nn.Linear(64, WIDTH).cuda()
samples = []
tables = []
with torch.no_grad():
    for _ in range(STEPS):
        sample = Sample(net(torch.rand(BATCH, 64, device="cuda")))
        samples.append(sample)
        tables.append(vars(sample))
        if FIXED:
            del sample.features
