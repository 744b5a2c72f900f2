# SPDX-License-Identifier: Apache-2.0
"""An explanation service: integrated gradients of Captum for each request. The attributions are kept in a cache by request; the fixed
variant keeps the last 16 of them."""
import collections

import torch
from captum.attr import IntegratedGradients

from truth import LEAKY, STEPS, describe, step_end


class Explainer:
    def __init__(self):
        self.model = torch.nn.Sequential(torch.nn.Linear(700, 128), torch.nn.Softplus(), torch.nn.Linear(128, 5)).cuda().eval()
        self.method = IntegratedGradients(self.model)
        self.results = collections.OrderedDict()

    def explain(self, key, inputs):
        attributions, _ = self.method.attribute(inputs, target=key % 5, n_steps=8, return_convergence_delta=True)  # LEAK
        self.results[key] = attributions  # LEAK
        if not LEAKY and len(self.results) > 16:
            self.results.popitem(last=False)


describe("request")
explainer = Explainer()
for request in range(STEPS):
    explainer.explain(request, torch.rand(3, 700, device="cuda"))
    step_end()
