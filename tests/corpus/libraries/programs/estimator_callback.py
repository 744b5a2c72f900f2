# SPDX-License-Identifier: Apache-2.0
"""A skorch estimator with a callback that keeps the predictions of every validation batch of every epoch."""
import numpy
import skorch
import torch
from skorch.helper import predefined_split

from truth import LEAKY, STEPS, describe, step_end

BATCHES = 4


class Regressor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 10))

    def forward(self, inputs):
        return self.net(inputs)  # LEAK


class KeepPredictions(skorch.callbacks.Callback):
    def __init__(self):
        self.kept = []

    def on_batch_end(self, net, batch=None, training=None, y_pred=None, **kwargs):
        if training:
            step_end()
        elif LEAKY:
            self.kept.append(y_pred)  # LEAK


describe("train step", period=BATCHES, also={"epoch": STEPS // BATCHES})
inputs, targets = numpy.zeros((BATCHES * 16 + 16, 20), numpy.float32), numpy.zeros((BATCHES * 16 + 16, 10), numpy.float32)
holdout = torch.utils.data.TensorDataset(torch.zeros(32, 20), torch.zeros(32, 10))
net = skorch.NeuralNetRegressor(Regressor, max_epochs=STEPS // BATCHES, batch_size=16, device="cuda", verbose=0,
                                train_split=predefined_split(holdout), callbacks=[KeepPredictions()],
                                callbacks__valid_loss=None, callbacks__print_log=None, callbacks__train_loss=None)
net.fit(inputs[:BATCHES * 16], targets[:BATCHES * 16])  # LEAK
