# SPDX-License-Identifier: Apache-2.0
import pytest
import torch
from training import Trainer


@pytest.fixture
def trainer():
    return Trainer()


@pytest.fixture
def batch():
    return torch.ones(64, 256, device="cuda")


@pytest.mark.limit_vram_leaks("0 B/step", steps=40)
def test_leaky_step(trainer, batch):
    trainer.leaky_step(batch)


@pytest.mark.limit_vram_leaks("0 B/step", steps=40)
def test_step(trainer, batch):
    trainer.step(batch)


@pytest.mark.limit_vram("16 MiB")
def test_fits(trainer, batch):
    trainer.step(batch)


@pytest.mark.limit_vram("1 MiB", device=0)
def test_does_not_fit(trainer, batch):
    trainer.step(batch)
