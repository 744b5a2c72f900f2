# SPDX-License-Identifier: Apache-2.0
"""Tests of the kind that PyTorch has of itself, which a walk through Python's objects could disturb: for same_outcomes.py."""
import gc
import sys
import threading
import unittest
import weakref

import torch

SIZE = 1 << 18  # elements of 4 bytes


def tensor(**options):
    return torch.empty(SIZE, device="cuda", **options)


class WalksDisturbNothing(unittest.TestCase):

    def test_memory_is_back(self):
        before = torch.cuda.memory_allocated()
        kept = [tensor() for _ in range(50)]
        self.assertEqual(torch.cuda.memory_allocated(), before + 50 * 4 * SIZE)
        del kept
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_references(self):
        kept = tensor()
        for _ in range(100):
            tensor()
            self.assertEqual(sys.getrefcount(kept), 2)
        gone = weakref.ref(kept)
        del kept
        self.assertIsNone(gone())

    def test_collector(self):
        gc.collect()
        gc.disable()
        try:
            cycle = [tensor()]
            cycle.append(cycle)
            gone = weakref.ref(cycle[0])
            del cycle
            for _ in range(100):
                tensor()
            self.assertIsNotNone(gone())
            gc.collect()
            self.assertIsNone(gone())
            self.assertEqual(gc.garbage, [])
        finally:
            gc.enable()

    def test_out_of_memory(self):
        for _ in range(3):
            with self.assertRaisesRegex(RuntimeError, "out of memory"):
                torch.empty(1 << 50, dtype=torch.int8, device="cuda")
        self.assertIsNone(sys.exc_info()[1])

    def test_hooks_and_graph(self):
        seen = []
        leaf = tensor(requires_grad=True)
        leaf.register_hook(lambda gradient: seen.append(gradient.shape))
        for _ in range(20):
            (leaf * leaf).sum().backward()
        self.assertEqual(seen, [leaf.shape] * 20)

    def test_threads(self):
        counts = []

        def work():
            counts.append(sum(tensor().numel() for _ in range(100)))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(counts, [100 * SIZE] * 4)

    def test_lazy_objects(self):
        touched = []

        class Lazy:

            def __getattr__(self, name):
                touched.append(name)
                raise AttributeError(name)

        kept = [Lazy() for _ in range(10)]
        for _ in range(100):
            tensor()
        self.assertEqual((len(kept), touched), (10, []))
