# SPDX-License-Identifier: Apache-2.0
"""Processes that PyTorch starts, and memory that they share."""
import os

import torch
import torch.multiprocessing as multiprocessing

import watch
from models import model_and_optimizer, step


def train(name):
    model, optimizer = model_and_optimizer(layers=1)
    for _ in range(2):
        step(model, optimizer)
    watch.settle()
    watch.checkpoint(name, role=name)
    watch.leave()


def receive(queue, done):
    shared = queue.get()
    y = shared + 1
    watch.settle()
    watch.checkpoint("received", role="receiver")
    del shared, y
    watch.settle()
    watch.checkpoint("given back", role="receiver")
    done.set()


def run(context, target, *arguments):
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


def forked_before_cuda():
    """Before the parent's first CUDA call a forked child may use the device."""
    children = [run(multiprocessing.get_context("fork"), train, "forked%d" % i) for i in range(2)]
    for child in children:
        child.join()
    return [child.exitcode for child in children]


def spawned():
    child = run(multiprocessing.get_context("spawn"), train, "spawned")
    child.join()
    return child.exitcode


def shared_between_processes():
    context = multiprocessing.get_context("spawn")
    queue, done = context.Queue(), context.Event()
    child = run(context, receive, queue, done)
    x = torch.rand(1 << 20, device="cuda")
    queue.put(x)
    while child.is_alive() and not done.wait(1):
        pass
    child.join()
    del x
    torch.cuda.ipc_collect()
    return child.exitcode


def forked_after_cuda():
    """A child that must not use the device, and does not, inherits nothing and writes nothing."""
    x = torch.rand(1000, device="cuda")
    pid = os.fork()
    if pid == 0:
        os._exit(x.shape[0] % 7)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    for one in (forked_before_cuda, spawned, shared_between_processes, forked_after_cuda):
        watch.case(one)
    watch.run_cases()
