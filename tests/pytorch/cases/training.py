# SPDX-License-Identifier: Apache-2.0
"""Ways to train on one device."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint as recompute

from models import BATCH, LENGTH, WIDTH, Transformer, loss_of, model_and_optimizer, step, tokens
from watch import case, checkpoint, run_cases, settle


@case
def eager():
    model, optimizer = model_and_optimizer()
    for i in range(4):
        step(model, optimizer)
        settle()
        checkpoint("eager step %d" % i)
    return sum(p.numel() for p in model.parameters())


@case
def autocast():
    model, optimizer = model_and_optimizer()
    for _ in range(3):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = loss_of(model, tokens())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return loss.dtype


@case
def scaled_dot_product_attention():
    shapes = []
    for backend, dtype in ((SDPBackend.FLASH_ATTENTION, torch.bfloat16), (SDPBackend.EFFICIENT_ATTENTION, torch.float32),
                           (SDPBackend.MATH, torch.float32)):
        q, k, v = (torch.rand(2, 4, 64, 64, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3))
        with sdpa_kernel(backend):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y.sum().backward()
        shapes.append((backend.name, tuple(q.grad.shape)))
    return shapes


@case
def checkpointing():
    for reentrant in (False, True):
        model, optimizer = model_and_optimizer()
        for _ in range(2):
            step(model, optimizer, around=lambda block, x: recompute(block, x, use_reentrant=reentrant))


@case
def gradient_accumulation():
    model, optimizer = model_and_optimizer()
    for i in range(6):
        loss_of(model, tokens()).backward()
        if i % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
    settle()
    checkpoint("gradients given back")
    loss_of(model, tokens()).backward()
    settle()
    checkpoint("gradients held")


@case
def evaluation_after_training():
    model, optimizer = model_and_optimizer()
    step(model, optimizer)
    model.eval()
    predictions = []
    with torch.no_grad():
        for _ in range(4):
            predictions.append(model(tokens()).argmax(-1))
    checkpoint("predictions held")
    with torch.inference_mode():
        return model(tokens()).shape, len(predictions)


@case
def generation_with_a_cache():
    model = Transformer().cuda().eval()
    caches = [[] for _ in model.blocks]
    with torch.no_grad():
        model(tokens(2, 8), caches)
        for i in range(8):
            model(tokens(2, 1), caches)
            checkpoint("token %d" % i)
    return caches[0][0].shape


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        return 2 * x * gradient


@case
def custom_functions():
    x = torch.rand(1000, 100, device="cuda", requires_grad=True)
    Square.apply(x).sum().backward()
    y = Square.apply(x).sum()
    gradient, = torch.autograd.grad(y, x, create_graph=True)
    gradient.sum().backward()
    z = (x * 2).relu().sum()
    z.backward(retain_graph=True)
    z.backward()
    return x.grad.shape


@case
def convolutions():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(16 * 15 * 15, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for _ in range(3):
        y = model(torch.rand(4, 3, 32, 32, device="cuda"))
        y.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return y.shape


@case
def recurrent_network():
    with torch.backends.cudnn.flags(enabled=False):
        model = nn.LSTM(16, 32).cuda()
        y, _ = model(torch.rand(5, 2, 16, device="cuda"))
        y.sum().backward()
    return y.shape


@case
def optimizers():
    used = []
    for kind, options in ((torch.optim.SGD, {"momentum": 0.9}), (torch.optim.AdamW, {"fused": True}),
                          (torch.optim.AdamW, {"foreach": False}), (torch.optim.Adagrad, {}), (torch.optim.RMSprop, {})):
        model = nn.Linear(WIDTH, WIDTH).cuda()
        optimizer = kind(model.parameters(), lr=0.1, **options)
        for _ in range(2):
            model(torch.rand(BATCH, WIDTH, device="cuda")).sum().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        used.append(kind.__name__)
    return used


@case
def side_stream():
    stream = torch.cuda.Stream()
    x = torch.empty(LENGTH << 10, device="cuda")
    with torch.cuda.stream(stream):
        y = x * 2
        x.record_stream(stream)
    del x
    checkpoint("given back, but in use")
    torch.cuda.current_stream().wait_stream(stream)
    return y.shape


@case
def empty_cache():
    x = torch.empty(30 << 20, device="cuda")
    del x
    torch.cuda.empty_cache()
    return torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()


run_cases()
