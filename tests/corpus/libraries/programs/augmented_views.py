# SPDX-License-Identifier: Apache-2.0
"""Augmentation with Kornia before training. A registry keeps the augmented images of each step, to show them; the fixed one keeps the last
ten."""
import collections

import kornia
import torch

from truth import LEAKY, STEPS, describe, step_end


class Gallery:
    def __init__(self):
        self.images = [] if LEAKY else collections.deque(maxlen=10)

    def show_later(self, images):
        self.images.append(images[:2].clone())  # LEAK


blur = kornia.filters.GaussianBlur2d((3, 3), (1.0, 1.0)).cuda()
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()).cuda()
optimizer = torch.optim.Adam(model.parameters())
gallery = Gallery()
describe("train step")
for step in range(STEPS):
    images = kornia.color.rgb_to_ycbcr(blur(torch.rand(8, 3, 40, 40, device="cuda")))
    gallery.show_later(images)
    loss = model(images).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    del images, loss
    step_end()
