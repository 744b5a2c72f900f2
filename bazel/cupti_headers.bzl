# SPDX-License-Identifier: Apache-2.0
"""cupti_headers: headers of one release of CUPTI.

tools/setup unpacks CUPTI's wheel into a folder under .deps of the checkout. Where it is not, FOUND in defs.bzl is False
and what needs it is left out. The headers want cuda.h, which the release's cuda_headers have. In --config=aarch64 the library is that
for aarch64, where tools/setup --aarch64 unpacked one.
"""

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["include/*.h"], allow_empty = True),
    includes = ["include"],
)

config_setting(
    name = "cross_aarch64",
    define_values = {"cross": "aarch64"},
)

# NVIDIA's library, for tests.
filegroup(
    name = "library",
    srcs = select({
        ":cross_aarch64": glob(["lib_aarch64/libcupti.so.*"], allow_empty = True),
        "//conditions:default": glob(["lib/libcupti.so.*"], allow_empty = True),
    }),
)
"""

def _impl(ctx):
    # Not a label of a file in this tree: the folder is not there before tools/setup ran.
    home = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".deps").get_child(ctx.attr.folder)
    include = home.get_child("include")
    ctx.file("defs.bzl", "FOUND = %s\n" % include.get_child("cupti.h").exists)
    ctx.file("BUILD.bazel", _BUILD)
    if include.exists:
        ctx.symlink(include, "include")
        ctx.symlink(home.get_child("lib"), "lib")
    cross = home.dirname.get_child("cupti-aarch64").get_child(ctx.attr.folder[len("cupti-"):])
    if cross.exists:
        ctx.symlink(cross, "lib_aarch64")

cupti_headers = repository_rule(
    implementation = _impl,
    attrs = {"folder": attr.string(mandatory = True, doc = "folder under .deps")},
    configure = True,
    local = True,
)
