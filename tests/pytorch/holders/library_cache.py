# SPDX-License-Identifier: Apache-2.0
"""An installed library has a cache. The script imports a function of the library, and not the cache."""
import os
import sys

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "site-packages"))
from feature_library import clear, encode  # noqa: E402

layer = nn.Linear(64, WIDTH).cuda()
with torch.no_grad():
    for step in range(STEPS):
        encode(layer, step, torch.rand(BATCH, 64, device="cuda"))
        if FIXED:
            clear()
