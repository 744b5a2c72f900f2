# SPDX-License-Identifier: Apache-2.0
"""simulated_runtime: one major version of the simulated CUDA runtime."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//bazel:shared.bzl", "cc_preload_library")
load("//bazel:whole_folders.bzl", "folder_library")
load(":stubs.bzl", "cuda_stubs")

def soname(version):
    """The file name of the shared runtime of that major version."""
    return "libcudart.so.11.0" if version == 11 else "libcudart.so.%d" % version

def simulated_runtime(version, headers, driver_headers = None):
    """Declares libcudart.so.<version>, and cudart_<version>_static, the same for static linking.

    A program with the static one has no libcudart.so, and names no libcuda.so.1: it is loaded at the first call, as with
    NVIDIA's.

    Args:
      version: 11, 12 or 13.
      headers: cc_library of CUDA headers of that version.
      driver_headers: the same with the declarations of a driver that has everything the sources use, where that version's
        has not.
    """
    name = soname(version)
    stubs = "cudart_%d_stubs" % version
    cuda_stubs(
        name = stubs,
        driver_headers = driver_headers,
        headers = headers,
        library = "cudart",
        node = name,
    )
    for kind in ("shared", "static"):
        folder_library(
            name = "runtime_%d_%s" % (version, kind),
            srcs = native.glob(["runtime/*.cc"]) + [":" + stubs],
            hdrs = native.glob(["runtime/*.h"]),
            apart = [":" + stubs],
            # Old entry points are part of what is simulated.
            copts = ["-Wno-deprecated-declarations"],
            linkopts = ["-ldl"],
            linkstatic = True,
            deps = [":device", driver_headers or headers],
            alwayslink = True,
        )
    cc_library(
        name = "cudart_%d_static" % version,
        tags = ["nosan"],
        visibility = ["//visibility:public"],
        deps = [":runtime_%d_static" % version],
    )
    cc_preload_library(
        name = name,
        exports = ":%s_script" % stubs,
        # Where nothing else is said, the driver beside the runtime is the one to load.
        linkopts = ["-Wl,-rpath,'$$ORIGIN'"],
        visibility = ["//visibility:public"],
        deps = [":runtime_%d_shared" % version],
    )
