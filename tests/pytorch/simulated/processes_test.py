# SPDX-License-Identifier: Apache-2.0
"""Several processes: ranks that train together, and tensors of one process in another."""

import os
import socket
import unittest

import torch
import torch.distributed
import torch.multiprocessing
import torch.nn as nn

RANKS = 2


def train(rank, port, results):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=RANKS)
    layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    module = nn.parallel.DistributedDataParallel(layers, device_ids=[rank])
    optimizer = torch.optim.AdamW(module.parameters())
    for _ in range(3):
        targets = torch.zeros(8, dtype=torch.long, device="cuda")
        nn.functional.cross_entropy(module(torch.rand(8, 64, device="cuda")), targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    mine = torch.full((4,), float(rank)).cuda()
    everybodys = [torch.empty_like(mine) for _ in range(RANKS)]
    torch.distributed.all_gather(everybodys, mine)
    torch.distributed.barrier()
    torch.cuda.synchronize()
    results.put((rank, torch.cuda.current_device(), torch.cuda.memory_allocated(), [t.tolist() for t in everybodys]))
    torch.distributed.destroy_process_group()


def overwrite(tensors, results):
    tensor = tensors.get()
    results.put(tensor.tolist())
    tensor[:3].copy_(torch.tensor([7.0, 8.0, 9.0]).cuda())
    torch.cuda.synchronize()
    results.put(torch.cuda.memory_allocated())
    del tensor


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class ProcessesTest(unittest.TestCase):
    def setUp(self):
        self.context = torch.multiprocessing.get_context("spawn")

    def test_ranks_train_together(self):
        results = self.context.Queue()
        arguments = (free_port(), results)
        torch.multiprocessing.spawn(train, arguments, RANKS)
        found = sorted(results.get(timeout=60) for _ in range(RANKS))
        self.assertEqual([entry[:2] for entry in found], [(0, 0), (1, 1)])
        self.assertTrue(all(entry[2] > 0 for entry in found))
        # Each believes that the others sent what it did.
        self.assertEqual([entry[3] for entry in found], [[[0.0] * 4] * RANKS, [[1.0] * 4] * RANKS])

    def test_a_tensor_of_another_process(self):
        tensors, results = self.context.Queue(), self.context.Queue()
        child = self.context.Process(target=overwrite, args=(tensors, results))
        child.start()
        tensor = torch.arange(5.0).cuda()
        tensors.put(tensor)
        self.assertEqual(results.get(timeout=60), [0, 1, 2, 3, 4])
        self.assertEqual(results.get(timeout=60), 0)
        self.assertEqual(tensor.tolist(), [7, 8, 9, 3, 4])
        child.join()
        self.assertEqual(child.exitcode, 0)


if __name__ == "__main__":
    unittest.main()
