# SPDX-License-Identifier: Apache-2.0
"""Prints, as PyTorch knows it, how many bytes of its blocks each category has when a sharded training ends: its parameters are
DTensors, which have no memory of their own."""
import json
import os

# The ranks compare what they have, in memory of the device.
os.environ["SIMCUDA_BACKED"] = "1"

import torch
import torch.nn as nn
from torch.distributed.fsdp import fully_shard

from variant import BATCH

torch.distributed.init_process_group("nccl", rank=0, world_size=1, store=torch.distributed.HashStore())
net = nn.Sequential(nn.Linear(64, 300), nn.GELU(), nn.Linear(300, 64, bias=False)).cuda()
fully_shard(net)
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(3):
    net(torch.rand(BATCH, 64, device="cuda")).sum().backward()
    optimizer.step()


def block_bytes(tensors):
    storages = [tensor.to_local().untyped_storage() for tensor in tensors]
    return sum({storage.data_ptr(): -(-storage.nbytes() // 512) * 512 for storage in storages}.values())


state = [value for of_parameter in optimizer.state.values() for name, value in of_parameter.items() if name != "step"]
parameters = list(net.parameters())
print(json.dumps({"categories": {"parameters": block_bytes(parameters), "gradients": block_bytes(p.grad for p in parameters),
                                 "optimizer_state": block_bytes(state)}}))
torch.distributed.destroy_process_group()
