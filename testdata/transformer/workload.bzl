# SPDX-License-Identifier: Apache-2.0
"""The workloads' sources, built for CUDA and for the host, and the programs made of them."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//bazel:cuda.bzl", "cuda_objects")

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
        srcs = cuda,
        hdrs = hdrs,
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
    """Without CUDA: each .cu file through a C++ file that includes it."""
    cuda, plain = _split(srcs)
    wrappers = []
    for src in cuda:
        wrapper = "host/" + src.replace(".cu", ".cc")
        native.genrule(
            name = name + "_" + src.replace(".", "_"),
            outs = [wrapper],
            cmd = "echo '#include \"%s/%s\"' > $@" % (native.package_name(), src),
        )
        wrappers.append(wrapper)
    cc_library(
        name = name,
        srcs = plain + wrappers,
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
