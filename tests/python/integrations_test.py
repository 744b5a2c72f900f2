# SPDX-License-Identifier: Apache-2.0
"""Callbacks for trainers mark the trainer's own steps: transformers and Accelerate as they are, Lightning where it is
installed and a stand-in for its documented interface where it is not."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.getcwd()
PROGRAM = os.path.join(ROOT, "analyzer", "vramtrack")
PACKAGE = os.path.join(ROOT, "python")

TRANSFORMERS = """
import torch, transformers
from vramtrack.integrations import TransformersCallback

class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 24
    def __getitem__(self, i): return {"input_ids": torch.arange(16), "labels": torch.arange(16)}

model = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=1, n_head=2, n_embd=32, vocab_size=64, n_positions=16))
arguments = transformers.TrainingArguments("out", per_device_train_batch_size=2, gradient_accumulation_steps=2, max_steps=5,
                                           report_to=[], save_strategy="no")
transformers.Trainer(model, arguments, train_dataset=Numbers(), callbacks=[TransformersCallback()]).train()

# The Trainer counts tokens on the device, which does not compute here.
callback, state = TransformersCallback(), transformers.TrainerState(num_input_tokens_seen=100)
callback.on_train_begin(arguments, state, None)
for state.global_step, state.num_input_tokens_seen in ((6, 164), (7, 196)):
    callback.on_step_end(arguments, state, None)
"""
ACCELERATE = """
import accelerate, torch
from vramtrack.integrations import accelerate_steps

accelerator = accelerate.Accelerator(gradient_accumulation_steps=3)
model = torch.nn.Linear(8, 8)
loader = torch.utils.data.DataLoader(torch.zeros(16, 8), batch_size=2)
model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters()), loader)
for batch in accelerate_steps(accelerator, loader, tokens=len):
    with accelerator.accumulate(model):
        accelerator.backward(model(batch).sum())
        optimizer.step()
        optimizer.zero_grad()
"""
LIGHTNING = """
import torch
import lightning.pytorch as lightning
from vramtrack.integrations import LightningCallback

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
    def training_step(self, batch, number): return self.layer(batch).sum()
    def configure_optimizers(self): return torch.optim.SGD(self.parameters())

trainer = lightning.Trainer(max_epochs=2, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False,
                            callbacks=[LightningCallback(tokens=len)])
trainer.fit(Model(), torch.utils.data.DataLoader(torch.zeros(5, 8), batch_size=2))
"""
STAND_IN = """
import torch
from lightning.pytorch import Callback
from vramtrack.integrations import LightningCallback

callback = LightningCallback(tokens=len)
assert isinstance(callback, Callback)
torch.zeros(1, device="cuda")
for epoch in range(2):
    for number, batch in enumerate(torch.zeros(5, 8).split(2)):
        callback.on_train_batch_end("trainer", "module", "outputs", batch, number)
LightningCallback(tokens=lambda batch: 1 / 0).on_train_batch_end("trainer", "module", None, batch, 0, 0)
"""


class IntegrationsTest(unittest.TestCase):
    def marks(self, program, *folders):
        """The steps that a program marks, as `vramtrack dump` prints them."""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            environment = dict(os.environ, PYTHONPATH=os.pathsep.join([*folders, PACKAGE]), PYTHONDONTWRITEBYTECODE="1",
                               SIMCUDA_BACKED="0", OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", VRAMTRACK_LIBRARY=os.path.join(
                                   ROOT, "interpose", "libvramtrack.so"))
            ran = subprocess.run([PROGRAM, "run", "-q", "-o", trace, "--", sys.executable, "-c", program], cwd=folder,
                                 env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 encoding="utf-8", timeout=300)
            self.assertEqual(ran.returncode, 0, ran.stdout)
            dump = subprocess.check_output([PROGRAM, "dump", trace], encoding="utf-8")
        return [line.split(None, 9)[9] for line in dump.splitlines() if line.split()[2:3] == ["step"]]

    def test_transformers(self):
        # Two batches are one optimizer step.
        self.assertEqual(self.marks(TRANSFORMERS), ["step %d" % number for number in range(1, 6)] +
                         ["step 6 value 64", "step 7 value 32"])

    def test_accelerate(self):
        # Eight batches of two: the gradients are synchronized after three, after six, and at the end of the loader.
        self.assertEqual(self.marks(ACCELERATE), ["step 0 value 6", "step 1 value 6", "step 2 value 4"])

    def test_lightning(self):
        marks = ["step %d value %d" % (3 * epoch + number, size) for epoch in range(2) for number, size in enumerate((2, 2, 1))]
        if importlib.util.find_spec("lightning"):
            self.assertEqual(self.marks(LIGHTNING), marks)
            return
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "lightning", "pytorch"))
            for path, text in (("lightning/__init__.py", ""), ("lightning/pytorch/__init__.py", "class Callback: pass\n")):
                with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                    file.write(text)
            self.assertEqual(self.marks(STAND_IN, folder), marks + ["step 6"])


if __name__ == "__main__":
    unittest.main()
