# SPDX-License-Identifier: Apache-2.0
"""Two devices in one process."""
import torch
import torch.nn as nn

from watch import case, checkpoint, run_cases


@case
def copies_between_devices():
    x = torch.rand(1 << 20, device="cuda:0")
    y = x.to("cuda:1")
    checkpoint("copied")
    del x
    checkpoint("moved")
    return y.device


@case
def model_across_devices():
    first, second = nn.Linear(256, 512).to("cuda:0"), nn.Linear(512, 256).to("cuda:1")
    optimizer = torch.optim.AdamW([*first.parameters(), *second.parameters()])
    for _ in range(3):
        y = second(first(torch.rand(32, 256, device="cuda:0")).to("cuda:1"))
        y.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return y.device


@case
def data_parallel():
    model = nn.DataParallel(nn.Linear(16, 16).to("cuda:0"))
    y = model(torch.rand(8, 16, device="cuda:0"))
    y.sum().backward()
    return y.shape


@case
def other_device_is_current():
    with torch.cuda.device(1):
        x = torch.rand(1000, device="cuda")
        y = torch.rand(1000, device="cuda:0")
    return x.device, y.device


run_cases()
