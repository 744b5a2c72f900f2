# SPDX-License-Identifier: Apache-2.0
"""The workloads' sources, built for CUDA and for the host, and the programs made of them."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//bazel:cuda.bzl", "cuda_objects")
load("//bazel:whole_folders.bzl", "file_of_all")

# What a tracer is to find in a stack stays there, with its line.
_COPTS = [
    "-g",
    "-O1",
    "-fno-inline",
    "-fno-optimize-sibling-calls",
]
_NVCC_COPTS = [
    "-g",
    "-O1",
    "-lineinfo",
    "-Xcompiler",
    "-fno-inline,-fno-optimize-sibling-calls,-Wall,-Wextra",
]

def _split(srcs):
    cuda = [s for s in srcs if s.endswith(".cu")]
    return cuda, [s for s in srcs if s not in cuda]

def device_library(name, srcs, hdrs, deps = []):
    """Without a CUDA runtime, which each program brings: shared or static."""
    cuda, plain = _split(srcs)
    deps = deps + ["@local_cuda//:cuda_headers"]
    cuda_objects(
        name = name + "_objects",
        # nvcc takes two to three seconds for each file, and nine for all as one.
        srcs = [file_of_all(name + "_kernels.cu", cuda)],
        hdrs = hdrs + cuda,
        nvcc_copts = _NVCC_COPTS,
        deps = deps,
    )
    cc_library(
        name = name,
        srcs = plain + [":" + name + "_objects"],
        hdrs = hdrs,
        copts = _COPTS,
        deps = deps,
    )

def host_library(name, srcs, hdrs, deps = []):
    """Without CUDA: the .cu files as C++."""
    cuda, plain = _split(srcs)
    cc_library(
        name = name,
        srcs = plain + [file_of_all(name + "_kernels.cc", cuda)],
        hdrs = hdrs,
        textual_hdrs = cuda,
        copts = ["-g"],
        defines = ["TRANSFORMER_HOST_BUILD"],
        deps = deps,
    )

def transformer_program(name, main, device, host):
    """NAME_shared and NAME_static, the program `main` with either CUDA runtime, and NAME_host."""
    variants = {
        "shared": [device, "@local_cuda//:cudart"],
        "static": [device, "@local_cuda//:cudart_static"],
        "host": [host],
    }
    for variant, deps in variants.items():
        cc_binary(
            name = name + "_" + variant,
            srcs = [main],
            copts = _COPTS,
            deps = deps,
        )
