# SPDX-License-Identifier: Apache-2.0
"""Bayesian optimization with BoTorch in rounds: a model for the data, a fixed number of improvements of the candidate, a new observation.
The acquisition values of each round are kept with their graph."""
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.models import SingleTaskGP

from truth import LEAKY, STEPS, describe, step_end

IMPROVEMENTS = 3

inputs, targets = torch.rand(20, 2, device="cuda"), torch.rand(20, 1, device="cuda")
history = []


def next_candidate(model):
    acquisition = UpperConfidenceBound(model, beta=.1)
    candidate = torch.rand(64, 1, 2, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([candidate], lr=.1)
    for _ in range(IMPROVEMENTS):
        values = acquisition(candidate)  # LEAK
        (-values.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()
    history.append(values if LEAKY else values.detach().cpu())  # LEAK
    return candidate.detach()[:1, 0]


describe("round", cycles=True, also={"improvement": STEPS * IMPROVEMENTS})
for step in range(STEPS):
    model = SingleTaskGP(inputs, targets, outcome_transform=None, input_transform=None).cuda().eval()
    candidate = next_candidate(model)
    targets = targets.roll(1, 0)
    del model, candidate
    step_end()
