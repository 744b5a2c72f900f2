# SPDX-License-Identifier: Apache-2.0
"""simulated_library: a shared library that stands in for one of NVIDIA's on top of the runtime."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//bazel:shared.bzl", "cc_preload_library")
load(":merged_object.bzl", "merged_object")

RUNTIME = "//tests/simcuda:cudart_13_static"

def simulated_part(name, part, srcs, hdrs = [], deps = [RUNTIME]):
    """Declares <part>.o, from which tests/simcuda/wheel makes a library for a wheel that has its own soname and imports.

    Args:
      name: target name of the sources.
      part: name of the library up to .so, for example libcublas.
      srcs: sources.
      hdrs: headers.
      deps: what they are built on.
    """
    cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        linkstatic = True,
        tags = ["nosan"],
        deps = deps,
        alwayslink = True,
    )
    merged_object(
        name = part,
        library = ":" + name,
        out = part + ".o",
        tags = ["nosan"],
    )

def simulated_library(name, soname, prefix, versioned = True, srcs = [], hdrs = [], libraries = []):
    """Declares <soname>, with a runtime of its own inside, <name>, for linking it, and the part that it is made of.

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
    simulated_part(
        name = name + "_sources",
        part = soname.partition(".")[0],
        srcs = [name + ".cc"] + srcs,
        hdrs = [name + ".h", "workspace.h"] + hdrs,
        deps = [RUNTIME] + [":" + library for library in libraries],
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
