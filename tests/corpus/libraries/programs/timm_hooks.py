# SPDX-License-Identifier: Apache-2.0
"""Visual inspection of a timm model: each evaluation registers hooks that keep the feature maps. They are not removed, and what they kept
stays with them. The moving average of the weights is timm's own and harmless."""
import timm
import torch
from timm.utils import ModelEmaV3

from truth import LEAKY, STEPS, describe, step_end

EVERY = 5


class FeatureRecorder:
    def __init__(self, model):
        self.features = []
        self.handle = model.register_forward_hook(self.keep)

    def keep(self, module, inputs, output):
        if not module.training:
            self.features = [output.detach().clone()]  # LEAK

    def close(self):
        self.handle.remove()
        self.features = []


def evaluate(model, images):
    recorder = FeatureRecorder(model.stages[0])
    model.eval()
    with torch.no_grad():
        model(images)
    model.train()
    return recorder


model = timm.create_model("resnetv2_50", pretrained=False, num_classes=4, layers=(1, 1), channels=(16, 32), stem_chs=8).cuda()
average = ModelEmaV3(model, decay=.99)
optimizer = torch.optim.AdamW(model.parameters())
recorders = []
describe("train step", period=EVERY, also={"evaluation": STEPS // EVERY})
for step in range(STEPS):
    images = torch.rand(4, 3, 32, 32, device="cuda")
    loss = model(images).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average.update(model)
    if step % EVERY == EVERY - 1:
        recorder = evaluate(model, images)
        if LEAKY:
            recorders.append(recorder)  # LEAK
        else:
            recorder.close()
        del recorder
    del images, loss
    step_end()
