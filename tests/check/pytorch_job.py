# SPDX-License-Identifier: Apache-2.0
"""usage: pytorch_job.py STEPS [leaky]: trains a small network; under torchrun each rank on a device of its own."""
import os
import sys
import time

import torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel

WIDTH, BATCH = 256, 2048
history = []


def keep_for_the_plot(output):
    history.append(output * 2)  # LEAK


def train_step(model, optimizer, leaky):
    output = model(torch.ones(BATCH, WIDTH, device="cuda"))
    if leaky:
        keep_for_the_plot(output.detach())
    output.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def main():
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH))
    if ranks > 1:
        rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(rank)
        distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
        model = DistributedDataParallel(model.cuda(), device_ids=[rank])
    else:
        model.cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(int(sys.argv[1])):
        train_step(model, optimizer, "leaky" in sys.argv)
    if ranks > 1:
        distributed.destroy_process_group()
    # PyTorch's backward thread may still be letting go of Python objects.
    time.sleep(0.2)


if __name__ == "__main__":
    main()
