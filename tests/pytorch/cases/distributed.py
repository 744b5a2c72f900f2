# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training under torchrun: every rank is a process with a device of its own."""
import os

import torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel

from models import Transformer, loss_of, tokens
from watch import checkpoint, leave, settle

rank = int(os.environ["LOCAL_RANK"])
os.environ["WATCH_ROLE"] = "rank%d" % rank
torch.cuda.set_device(rank)
distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = DistributedDataParallel(Transformer(layers=1).cuda(), device_ids=[rank])
optimizer = torch.optim.AdamW(model.parameters())
for i in range(4):
    loss_of(model, tokens(device="cuda:%d" % rank)).backward()
    optimizer.step()
    optimizer.zero_grad()
    settle()
    checkpoint("step %d" % i)
distributed.destroy_process_group()
settle()
checkpoint("end")
leave()
