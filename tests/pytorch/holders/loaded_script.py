# SPDX-License-Identifier: Apache-2.0
"""TorchScript modules that were loaded from files pile up in a dict. Only C++ has their parameters."""
import io
import warnings

import torch
import torch.nn as nn

from variant import FIXED, STEPS, WIDTH

warnings.simplefilter("ignore")
file = io.BytesIO()
torch.jit.save(torch.jit.script(nn.Sequential(nn.Linear(256, WIDTH), nn.ReLU()).cuda()), file)
models = {}
with torch.no_grad():
    for step in range(STEPS):
        file.seek(0)
        models[step] = torch.jit.load(file)
        models[step](torch.rand(64, 256, device="cuda"))
        if FIXED:
            del models[step]
