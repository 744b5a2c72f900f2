# SPDX-License-Identifier: Apache-2.0
"""cuda12_headers: headers of CUDA 12, for the simulated libcudart.so.12.

tools/setup unpacks the runtime's wheel into .deps/cuda-12 of the checkout. The wheel lacks include/crt, for which that of
the toolkit that cuda_configure found is good enough. Without either, every target here is incompatible, so that what
needs it is skipped.
"""

_LOAD = 'load("@rules_cc//cc:defs.bzl", "cc_library")\n\npackage(default_visibility = ["//visibility:public"])\n\n'

_ABSENT = _LOAD + """\
constraint_setting(name = "toolkit")
constraint_value(name = "installed", constraint_setting = ":toolkit")

cc_library(
    name = "headers",
    target_compatible_with = [":installed"],
)
"""

_PRESENT = _LOAD + """\
cc_library(
    name = "headers",
    hdrs = glob(["include/*.h", "include/*.hpp", "crt/crt/**"], allow_empty = True),
    includes = ["include", "crt"],
)

# The real library, to compare with.
filegroup(
    name = "cudart",
    srcs = ["lib/libcudart.so.12"],
)
"""

def _impl(ctx):
    # Not a label of a file in this tree: the folder is not there before tools/setup ran.
    checkout = ctx.path(Label("//:WORKSPACE")).dirname
    home = checkout.get_child(".deps").get_child("cuda-12")
    include = home.get_child("include")
    toolkit = ctx.path(Label("@local_cuda//:BUILD.bazel")).dirname.get_child("include")
    library = home.get_child("lib").get_child("libcudart.so.12")
    crt = toolkit.get_child("crt")
    found = include.exists and library.exists and (crt.exists or ctx.path("/usr/include/crt").exists)
    ctx.file("defs.bzl", "CUDA_12_FOUND = %s\n" % found)
    if not found:
        ctx.file("BUILD.bazel", _ABSENT)
        return
    ctx.symlink(include, "include")
    ctx.symlink(library, "lib/libcudart.so.12")
    if crt.exists:
        ctx.symlink(crt, "crt/crt")
    ctx.file("BUILD.bazel", _PRESENT)

cuda12_headers = repository_rule(
    implementation = _impl,
    configure = True,
    local = True,
)
