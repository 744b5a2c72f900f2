# SPDX-License-Identifier: Apache-2.0
"""Each way in which PyTorch takes memory from the driver, as its configuration says, in a process of its own."""

import os
import subprocess
import sys
import unittest

import torch

EXPANDABLE = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 1)
CONFIGURATIONS = [""] + (["expandable_segments:True"] if EXPANDABLE else [])

TRAIN = """
import time, torch
module = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.AdamW(module.parameters())
for _ in range(3):
    module(torch.rand(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
tensors = [torch.empty(3 << 20, device="cuda") for _ in range(8)]
del tensors[::2]
tensors = torch.empty(20 << 20, device="cuda")
free, total = torch.cuda.mem_get_info()
"""
# A process that ends while a thread of autograd still does may abort.
END = "\ntorch.cuda.synchronize(); time.sleep(.2)"
CAPTURE = """
import time, torch
graph = torch.cuda.CUDAGraph()
x = torch.rand(1 << 22, device="cuda")
with torch.cuda.graph(graph):
    y = x * 2
    z = y + 1
graph.replay()
"""


class AllocatorsTest(unittest.TestCase):
    def run_script(self, script, configuration="", **environment):
        environment = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=configuration, **environment)
        found = subprocess.run(
            [sys.executable, "-c", script + END], env=environment, capture_output=True, text=True, timeout=100
        )
        self.assertEqual(found.returncode, 0, found.stderr)
        return found.stdout

    def test_native(self):
        script = TRAIN + "print(torch.cuda.memory.get_allocator_backend(), total - free - torch.cuda.memory_reserved())"
        # A handle of cuBLAS for each of the two threads that multiply, with one of cuBLASLt inside: 8 and 2 MiB.
        self.assertEqual(self.run_script(script), "native %d\n" % (2 * (10 << 20)))

    @unittest.skipUnless(EXPANDABLE, "this PyTorch knows no such option")
    def test_expandable_segments(self):
        script = TRAIN + "\nsegments = torch.cuda.memory._snapshot()['segments']"
        script += "\nassert all(s.get('is_expandable', True) for s in segments)\nassert total - free >= torch.cuda.memory_allocated()"
        self.run_script(script, "expandable_segments:True")

    def test_pools_of_the_driver(self):
        self.run_script(TRAIN + "assert total - free >= torch.cuda.memory_allocated() > 0", "backend:cudaMallocAsync")

    def test_without_a_cache(self):
        script = TRAIN + "import gc; del module, optimizer, tensors; gc.collect(); after = torch.cuda.mem_get_info()[0]"
        self.run_script(script + "\nassert after > free", PYTORCH_NO_CUDA_MEMORY_CACHING="1")

    def test_graphs(self):
        for configuration in CONFIGURATIONS + ["backend:cudaMallocAsync"]:
            with self.subTest(configuration):
                self.run_script(CAPTURE, configuration)

    def test_several_devices(self):
        script = "import time, torch\nx = torch.rand(1 << 20, device='cuda:0')\ny = torch.empty(1 << 20, device='cuda:1')"
        script += "\ny.copy_(x)\nassert [torch.cuda.memory_allocated(i) for i in (0, 1)] == [4 << 20, 4 << 20]"
        for configuration in CONFIGURATIONS:
            with self.subTest(configuration):
                self.run_script(script, configuration, SIMCUDA_DEVICES="2")

    def test_newer_devices(self):
        script = "import time, torch\nm = torch.nn.Linear(64, 64).cuda().bfloat16()"
        script += "\nm(torch.rand(8, 64, device='cuda', dtype=torch.bfloat16)).sum().backward()"
        self.run_script(script + "\nassert torch.cuda.get_device_capability() == (9, 0)", SIMCUDA_COMPUTE_CAPABILITY="9.0")


if __name__ == "__main__":
    unittest.main()
