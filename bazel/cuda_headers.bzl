# SPDX-License-Identifier: Apache-2.0
"""cuda_headers: headers and runtime library of one release of CUDA, beside the toolkit of cuda_configure.

tools/setup unpacks the runtime's wheel into a folder under .deps of the checkout. The wheel lacks include/crt, for which
that of the toolkit that cuda_configure found is good enough. Without either, FOUND in defs.bzl is False and every target
here is incompatible, so that what needs it is skipped. In --config=aarch64 the library is that for aarch64, where there is one.
"""

_LOAD = 'load("@rules_cc//cc:defs.bzl", "cc_library")\n\npackage(default_visibility = ["//visibility:public"])\n\n'

_ABSENT = _LOAD + """\
constraint_setting(name = "toolkit")
constraint_value(name = "installed", constraint_setting = ":toolkit")

[cc_library(
    name = name,
    target_compatible_with = [":installed"],
) for name in ("headers", "headers_with_newer_driver")]
"""

_PRESENT = _LOAD + """\
cc_library(
    name = "headers",
    hdrs = glob(["include/*.h", "include/*.hpp", "crt/crt/**"], allow_empty = True),
    includes = ["include", "crt"],
)

# The runtime of this release beside the driver of a newer one, whose declarations contain those of this one.
cc_library(
    name = "headers_with_newer_driver",
    hdrs = glob(["driver/*.h", "include/*.h", "include/*.hpp", "crt/crt/**"], allow_empty = True),
    includes = ["driver", "include", "crt"],
)

config_setting(
    name = "cross_aarch64",
    define_values = {{"cross": "aarch64"}},
)

# The real library, to compare with.
filegroup(
    name = "cudart",
    srcs = select({{
        ":cross_aarch64": ["{cross}/{library}"],
        "//conditions:default": ["lib/{library}"],
    }}),
)
"""

def _impl(ctx):
    # Not a label of a file in this tree: the folder is not there before tools/setup ran.
    checkout = ctx.path(Label("//:WORKSPACE")).dirname
    home = checkout.get_child(".deps").get_child(ctx.attr.folder)
    include = home.get_child("include")
    toolkit = ctx.path(Label("@local_cuda//:BUILD.bazel")).dirname.get_child("include")
    library = home.get_child("lib").get_child(ctx.attr.library)
    crt = toolkit.get_child("crt")
    newer = checkout.get_child(".deps").get_child(ctx.attr.newer_driver or ctx.attr.folder).get_child("include")
    found = (include.exists and library.exists and newer.exists and
             (crt.exists or ctx.path("/usr/include/crt").exists))
    ctx.file("defs.bzl", "FOUND = %s\n" % found)
    if not found:
        ctx.file("BUILD.bazel", _ABSENT)
        return
    ctx.symlink(include, "include")
    ctx.symlink(library, "lib/" + ctx.attr.library)
    if crt.exists:
        ctx.symlink(crt, "crt/crt")
    for header in ("cuda.h", "cudaTypedefs.h"):
        ctx.symlink(newer.get_child(header), "driver/" + header)
    cross = home.dirname.get_child("cudart-aarch64").get_child(ctx.attr.release).get_child(ctx.attr.library)
    if cross.exists:
        ctx.symlink(cross, "lib_aarch64/" + ctx.attr.library)
    ctx.file("BUILD.bazel", _PRESENT.format(cross = "lib_aarch64" if cross.exists else "lib", library = ctx.attr.library))

cuda_headers = repository_rule(
    implementation = _impl,
    attrs = {
        "folder": attr.string(mandatory = True, doc = "folder under .deps"),
        "newer_driver": attr.string(doc = "folder under .deps with the newer driver's headers"),
        "release": attr.string(mandatory = True, doc = "such as 12.9"),
        "library": attr.string(mandatory = True, doc = "file name of the runtime library in its lib folder"),
    },
    configure = True,
    local = True,
)
