# SPDX-License-Identifier: Apache-2.0
"""Self-supervised training with Lightly: a student and its momentum teacher. A copy of the teacher is kept each 8 steps to average the
copies later."""
import copy

import torch
from lightly.loss import NegativeCosineSimilarity
from lightly.models.modules import BYOLPredictionHead, BYOLProjectionHead
from lightly.models.utils import deactivate_requires_grad, update_momentum

from truth import LEAKY, STEPS, describe, step_end

EVERY = 8

student = torch.nn.Sequential(torch.nn.Linear(48, 64), BYOLProjectionHead(64, 64, 32)).cuda()
predictor = BYOLPredictionHead(32, 32, 32).cuda()
teacher = copy.deepcopy(student)
deactivate_requires_grad(teacher)
criterion = NegativeCosineSimilarity()
optimizer = torch.optim.SGD([*student.parameters(), *predictor.parameters()], lr=.1, momentum=.9)
snapshots = []
describe("train step", period=EVERY, also={"snapshot": STEPS // EVERY})
for step in range(STEPS):
    update_momentum(student, teacher, .99)
    first, second = torch.rand(16, 48, device="cuda"), torch.rand(16, 48, device="cuda")
    loss = criterion(predictor(student(first)), teacher(second)) + criterion(predictor(student(second)), teacher(first))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % EVERY == EVERY - 1:
        snapshots.append(copy.deepcopy(teacher))  # LEAK
        if not LEAKY:
            snapshots = snapshots[-1:]
    del first, second, loss
    step_end()
