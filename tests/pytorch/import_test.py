# SPDX-License-Identifier: Apache-2.0
"""The wheel finds the simulated device, and nothing else that calls itself CUDA."""

import unittest

import torch


class ImportTest(unittest.TestCase):
    def test_device(self):
        self.assertTrue(torch.cuda.is_available())
        self.assertEqual(torch.cuda.get_device_name(0), "Simulated GPU")

    def test_allocation(self):
        tensor = torch.empty(1000, device="cuda")
        self.assertEqual(torch.cuda.memory_allocated(), 4096)
        self.assertTrue(tensor.is_cuda)


if __name__ == "__main__":
    unittest.main()
