# SPDX-License-Identifier: Apache-2.0
"""The ways in which the cases are run, each a process or a family of processes of its own."""
import collections

Run = collections.namedtuple("Run", "script arguments environment roles exit_code reserved ordered launcher modules")


def run(script, *arguments, roles=("main",), exit_code=0, reserved="segment", ordered=True, launcher=(),
        modules=(), **environment):
    """A script of cases/, its arguments and environment variables.

    roles: of the processes that leave checkpoints. reserved: the kind of the driver's memory that the caching allocator
    takes; None where there is no caching allocator. ordered: whether allocations come in the same order every time.
    launcher: arguments of the interpreter before the script. modules: what it imports besides PyTorch.
    """
    return Run(script, arguments, environment, roles, exit_code, reserved, ordered, launcher, modules)


def torchrun(ranks):
    return "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=%d" % ranks


CONF = "PYTORCH_CUDA_ALLOC_CONF"
RUNS = {
    "training": run("training.py"),
    "input": run("input.py"),
    "graphs": run("graphs.py"),
    "devices": run("devices.py", SIMCUDA_DEVICES="2"),
    "huggingface": run("huggingface.py", modules=("transformers", "accelerate")),
    "native": run("allocator.py"),
    "max_split": run("allocator.py", **{CONF: "max_split_size_mb:32,roundup_power2_divisions:4"}),
    "expandable_segments": run("allocator.py", reserved="physical", **{CONF: "expandable_segments:True"}),
    "cuda_malloc_async": run("allocator.py", reserved=None, **{CONF: "backend:cudaMallocAsync"}),
    "no_caching": run("plain_allocator.py", reserved=None, PYTORCH_NO_CUDA_MEMORY_CACHING="1"),
    "pluggable": run("plain_allocator.py", reserved=None, PLUGGABLE="plain_allocator.so"),
    "out_of_memory": run("out_of_memory.py", exit_code=1, SIMCUDA_MEMORY="1G"),
    "threads": run("threads.py", ordered=False, modules=("greenlet",)),
    "processes": run("processes.py", "forked_before_cuda", "spawned", "forked_after_cuda",
                     roles=("main", "forked0", "forked1", "spawned")),
    "shared": run("processes.py", "shared_between_processes", roles=("main", "receiver")),
    "one_rank": run("distributed.py", roles=("rank0",), launcher=torchrun(1)),
    "two_ranks": run("distributed.py", roles=("rank0", "rank1"), launcher=torchrun(2), SIMCUDA_DEVICES="2"),
    "observed": run("observed.py"),
}
