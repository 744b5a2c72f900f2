# SPDX-License-Identifier: Apache-2.0
"""simulated_library: a shared library that stands in for one of NVIDIA's on top of the runtime."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//bazel:shared.bzl", "cc_preload_library")

def simulated_library(name, soname, prefix, versioned = True, srcs = [], hdrs = [], libraries = []):
    """Declares <soname>, with a runtime of its own inside, and <name>, for linking it.

    Args:
      name: target name; <name>.cc and <name>.h are its sources.
      soname: file name of the library.
      prefix: of the functions that it exports.
      versioned: whether the exported symbols have the library's name as version.
      srcs: further sources.
      hdrs: further headers.
      libraries: names of the simulated libraries that this one links.
    """
    native.genrule(
        name = name + "_script",
        outs = [name + ".lds"],
        cmd = "echo '%s { global: %s*; local: *; };' > $@" % (soname if versioned else "", prefix),
    )
    cc_library(
        name = name + "_sources",
        srcs = [name + ".cc"] + srcs,
        hdrs = [name + ".h", "workspace.h"] + hdrs,
        linkstatic = True,
        tags = ["nosan"],
        deps = ["//tests/simcuda:cudart_13_static"] + [":" + library for library in libraries],
        alwayslink = True,
    )
    cc_preload_library(
        name = soname,
        exports = ":%s_script" % name,
        visibility = ["//visibility:public"],
        deps = [":%s_sources" % name],
    )
    cc_library(
        name = name,
        srcs = [":" + soname],
        hdrs = [name + ".h"],
        tags = ["nosan"],
        visibility = ["//visibility:public"],
        # Their headers are part of this one's.
        deps = [":" + library for library in libraries],
    )
