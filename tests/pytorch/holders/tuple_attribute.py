# SPDX-License-Identifier: Apache-2.0
"""Results are tuples with an attribute besides: its dict lies behind the tuple's items."""
import collections

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH


class Result(collections.namedtuple("Result", ["step", "batch"])):
    """Has a dict, since it has no __slots__."""


net = nn.Linear(64, WIDTH).cuda()
results = []
with torch.no_grad():
    for step in range(STEPS):
        result = Result(step, BATCH)
        result.features = net(torch.rand(BATCH, 64, device="cuda"))
        results.append(result)
        if FIXED:
            del result.features
