# SPDX-License-Identifier: Apache-2.0
"""A module that was loaded from its file, as plugins are: sys.modules does not have it."""
import importlib.util
import os

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "feature_store.py")
spec = importlib.util.spec_from_file_location("store", path)
store = importlib.util.module_from_spec(spec)
spec.loader.exec_module(store)
layer = nn.Linear(64, WIDTH).cuda()
with torch.no_grad():
    for step in range(STEPS):
        store.register(step, layer(torch.rand(BATCH, 64, device="cuda")))
        if FIXED:
            store.forget(step)
