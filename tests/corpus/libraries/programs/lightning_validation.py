# SPDX-License-Identifier: Apache-2.0
"""A LightningModule collects the predictions of its validation batches and never clears the list. Validation runs each 10 steps."""
import lightning
import torch

from truth import LEAKY, STEPS, describe, step_end


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
        self.validation_outputs = []

    def training_step(self, batch, index):
        return torch.nn.functional.mse_loss(self.net(batch[0]), batch[0])

    def validation_step(self, batch, index):
        predictions = self.net(batch[0])  # LEAK
        self.validation_outputs.append(predictions)  # LEAK

    def on_validation_epoch_end(self):
        self.log("spread", torch.stack([outputs.std() for outputs in self.validation_outputs]).mean())
        if not LEAKY:
            self.validation_outputs.clear()

    def on_train_batch_end(self, *args):
        step_end()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


describe("train step", period=10, also={"validation": STEPS // 10})
training = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(STEPS * 16, 64)), 16)
validation = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(64, 64)), 16)
lightning.Trainer(accelerator="gpu", devices=1, max_steps=STEPS, val_check_interval=10, logger=False, num_sanity_val_steps=0,
                  enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(Classifier(), training, validation)
