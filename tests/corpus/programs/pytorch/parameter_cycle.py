# SPDX-License-Identifier: Apache-2.0
"""A head is trained for each task, with create_graph: its parameters and their gradients refer to each other through the
graph, where the garbage collector does not see it."""
import torch
import torch.nn as nn

from ground_truth import LEAKY, STEPS, block_bytes, expect

BATCH, WIDTH, CLASSES = 16, 128, 10
backbone = nn.Linear(WIDTH, WIDTH).cuda()


def adapt():
    head = nn.Linear(WIDTH, CLASSES, device="cuda")  # LEAK parameters
    features = backbone(torch.rand(BATCH, WIDTH, device="cuda")).detach()  # LEAK features
    loss = head(features).pow(2).sum()  # LEAK output
    loss.backward(create_graph=True)  # LEAK root
    if not LEAKY:
        head.zero_grad(set_to_none=True)


for task in range(STEPS):
    adapt()
PARAMETERS = block_bytes(CLASSES, WIDTH) + block_bytes(CLASSES)
# Autograd's thread makes the gradients.
expect(parameters=PARAMETERS, features=block_bytes(BATCH, WIDTH), output=block_bytes(BATCH, CLASSES), root=block_bytes(),
       elsewhere=PARAMETERS)
