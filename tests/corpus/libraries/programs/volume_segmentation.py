# SPDX-License-Identifier: Apache-2.0
"""Segmentation of volumes with MONAI: after each 10 training steps two volumes are segmented by sliding windows, and the results of all
validations stay in a list."""
import torch
from monai.inferers import sliding_window_inference
from monai.losses import DiceLoss
from monai.networks.nets import UNet

from truth import LEAKY, STEPS, describe, step_end

EVERY = 10


def validate(model, volumes, results):
    model.eval()
    with torch.no_grad():
        for volume in volumes:
            results.append(sliding_window_inference(volume, (16, 16, 16), 4, model))  # LEAK
    model.train()


model = UNet(spatial_dims=3, in_channels=1, out_channels=2, channels=(4, 8), strides=(2,)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
criterion = DiceLoss(sigmoid=True)
volumes = [torch.rand(1, 1, 24, 24, 24, device="cuda") for _ in range(2)]
results = []
describe("train step", period=EVERY, also={"validation": STEPS // EVERY})
for step in range(STEPS):
    patch = torch.rand(2, 1, 16, 16, 16, device="cuda")
    loss = criterion(model(patch), torch.ones(2, 2, 16, 16, 16, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % EVERY == EVERY - 1:
        validate(model, volumes, results)
        if not LEAKY:
            results.clear()
    del patch, loss
    step_end()
