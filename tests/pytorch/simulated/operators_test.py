# SPDX-License-Identifier: Apache-2.0
"""What PyTorch asks of CUDA's libraries beside matrix products: each is called, forward and backward where it has one,
and gives tensors of the right shape. Values say nothing: no kernel runs."""

import gc
import io
import unittest

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cuda"


def rand(*shape, **options):
    return torch.rand(*shape, device=DEVICE, **options)


class OperatorsTest(unittest.TestCase):
    def setUp(self):
        # What other tests left in cached blocks could be taken for a size.
        gc.collect()
        torch.cuda.empty_cache()

    def run_module(self, module, *inputs):
        output = module.to(DEVICE)(*inputs)
        (output[0] if isinstance(output, tuple) else output).sum().backward()
        return output

    def test_sizes_that_depend_on_values_are_zero(self):
        ones = torch.ones(1000, device=DEVICE)
        self.assertEqual(ones.nonzero().shape, (0, 1))
        self.assertEqual(ones[ones > 0].shape, (0,))

    def test_sorting(self):
        values = rand(1000)
        self.assertEqual(values.sort()[0].shape, (1000,))
        self.assertEqual(values.topk(5)[0].shape, (5,))
        self.assertEqual(values.cumsum(0).shape, (1000,))
        self.assertEqual(torch.randperm(100, device=DEVICE).shape, (100,))

    def test_values_that_are_copied_stay(self):
        self.assertEqual(torch.arange(10.0).cuda().tolist(), list(range(10)))
        self.assertEqual(torch.arange(10.0).cuda().clone().cpu().tolist(), list(range(10)))

    def test_convolutions(self):
        image = rand(2, 3, 32, 32)
        for enabled in (True, False):
            with torch.backends.cudnn.flags(enabled=enabled):
                self.assertEqual(self.run_module(nn.Conv2d(3, 8, 3), image).shape, (2, 8, 30, 30))
                self.assertEqual(self.run_module(nn.ConvTranspose2d(3, 8, 3), image).shape, (2, 8, 34, 34))

    def test_convolutions_work_in_memory_of_the_caching_allocator(self):
        image = rand(8, 16, 64, 64)
        module = nn.Conv2d(16, 16, 3, padding=1).to(DEVICE)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        with torch.no_grad():
            module(image)
        # The result, and what cuDNN works in: as much as the largest tensor.
        self.assertEqual(torch.cuda.max_memory_allocated() - before, 2 * image.numel() * 4)

    def test_batch_norm(self):
        for enabled in (True, False):
            with torch.backends.cudnn.flags(enabled=enabled):
                self.assertEqual(self.run_module(nn.BatchNorm2d(8), rand(2, 8, 32, 32)).shape, (2, 8, 32, 32))

    def test_recurrent_layers(self):
        steps = rand(5, 2, 16)
        for make, size in (
            (lambda: nn.LSTM(16, 32), 32),
            (lambda: nn.LSTM(16, 32, bias=False), 32),
            (lambda: nn.LSTM(16, 32, num_layers=2, bidirectional=True, dropout=0.1), 64),
            (lambda: nn.LSTM(16, 32, proj_size=8), 8),
            (lambda: nn.GRU(16, 32), 32),
            (lambda: nn.RNN(16, 32), 32),
        ):
            module = make().to(DEVICE)
            output = self.run_module(module, steps)[0]
            self.assertEqual(output.shape, (5, 2, size))
            # One buffer for all of them, in which each has its own place and none is left over.
            places = sorted((p.data_ptr(), p.numel()) for p in module.parameters())
            end = places[0][0]
            for address, elements in places:
                self.assertGreaterEqual(address, end)
                end = address + elements * 4
            self.assertLessEqual(end - places[0][0], 4 * sum(p.numel() for p in module.parameters()))

    def test_attention(self):
        for dtype in (torch.bfloat16, torch.float32):
            query = rand(2, 4, 64, 64, dtype=dtype, requires_grad=True)
            F.scaled_dot_product_attention(query, query, query, is_causal=True).sum().backward()
            self.assertEqual(query.grad.shape, query.shape)
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).to(DEVICE).eval()
        with torch.inference_mode():
            self.assertEqual(layer(rand(2, 8, 64)).shape, (2, 8, 64))

    def test_linear_algebra(self):
        matrix = torch.eye(8, device=DEVICE)
        self.assertEqual(torch.linalg.inv(matrix).shape, (8, 8))
        self.assertEqual(torch.linalg.svd(matrix)[1].shape, (8,))
        self.assertEqual(torch.linalg.cholesky(matrix).shape, (8, 8))
        self.assertEqual(torch.linalg.eigh(matrix)[0].shape, (8,))
        self.assertEqual(torch.linalg.qr(matrix)[0].shape, (8, 8))

    def test_fourier_transform(self):
        self.assertEqual(torch.fft.fft(rand(64)).shape, (64,))
        self.assertEqual(torch.fft.rfft2(rand(3, 16, 16)).shape, (3, 16, 9))

    def test_sparse(self):
        self.assertEqual((torch.eye(8).to_sparse_csr().to(DEVICE) @ rand(8, 8)).shape, (8, 8))
        embedding = nn.Embedding(100, 16, sparse=True).to(DEVICE)
        optimizer = torch.optim.SparseAdam(list(embedding.parameters()))
        embedding(torch.randint(0, 100, (4, 8), device=DEVICE)).sum().backward()
        optimizer.step()
        bag = nn.EmbeddingBag(100, 16)
        self.assertEqual(self.run_module(bag, torch.randint(0, 100, (4, 8), device=DEVICE)).shape, (4, 16))

    def test_fused_optimizer_and_scaler(self):
        module = nn.Linear(16, 16).to(DEVICE)
        optimizer = torch.optim.AdamW(module.parameters(), fused=True)
        scaler = torch.cuda.amp.GradScaler()
        with torch.autocast(DEVICE, torch.float16):
            loss = module(rand(4, 16)).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    def test_code_that_is_compiled_at_run_time(self):
        self.assertEqual(torch.special.bessel_j0(rand(4)).shape, (4,))

    def test_graphs(self):
        module = nn.Linear(256, 256).to(DEVICE)
        optimizer = torch.optim.AdamW(module.parameters(), capturable=True)
        inputs = rand(64, 256)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                module(inputs).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            module(inputs).sum().backward()
            optimizer.step()
        for _ in range(3):
            graph.replay()
        # It has segments of its own; PyTorch 2.0 does not tell.
        segments = torch.cuda.memory._snapshot()["segments"]
        pools = {segment["segment_pool_id"] for segment in segments if "segment_pool_id" in segment}
        self.assertNotEqual(len(pools), 1)

    def test_pinned_memory(self):
        pinned = torch.rand(1 << 20).pin_memory()
        self.assertTrue(pinned.is_pinned())
        on_device = pinned.to(DEVICE, non_blocking=True)
        torch.cuda.synchronize()
        self.assertTrue(torch.equal(on_device.cpu(), pinned))

    def test_saved_state(self):
        buffer = io.BytesIO()
        torch.save({"weight": torch.arange(4.0).cuda()}, buffer)
        buffer.seek(0)
        self.assertEqual(torch.load(buffer)["weight"].tolist(), [0, 1, 2, 3])

    def test_out_of_memory(self):
        with self.assertRaises(torch.cuda.OutOfMemoryError):
            torch.empty(1 << 40, device=DEVICE, dtype=torch.uint8)
        self.assertEqual(torch.cuda.memory_stats()["num_ooms"], 1)


if __name__ == "__main__":
    unittest.main()
