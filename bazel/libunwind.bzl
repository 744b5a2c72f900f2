# SPDX-License-Identifier: Apache-2.0
"""What code that includes libunwind's internal headers is compiled with: the same as libunwind itself."""

_ROOT = Label("@libunwind//:internals").workspace_root

LIBUNWIND_INTERNAL_COPTS = select({
    "@platforms//cpu:x86_64": [],
    "@platforms//cpu:aarch64": [
        "-isystem$(BINDIR)/%s/changed" % _ROOT,
        "-Wno-incompatible-pointer-types",  # in libunwind's own header
    ],
}) + [
    "-D_GNU_SOURCE",
    "-DHAVE_CONFIG_H",
    "-DNDEBUG",
    "-DUNW_LOCAL_ONLY",
    "-isystem%s/src" % _ROOT,
    "-isystem%s/include" % _ROOT,
    "-isystem$(BINDIR)/%s/include" % _ROOT,
] + select({
    "@platforms//cpu:x86_64": ["-isystem%s/include/tdep-x86_64" % _ROOT],
    "@platforms//cpu:aarch64": ["-isystem%s/include/tdep-aarch64" % _ROOT],
}) + ["-isystem%s/include/tdep" % _ROOT]
